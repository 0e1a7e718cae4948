# SPDX-License-Identifier: Apache-2.0
import tempfile
import unittest
from pathlib import Path

import check_wording

PAGE = "| instead of | write |\n| --- | --- |\n| `pictures?` | image |\n| `(?<!standard )deviations?` | std |\n"


class CheckWording(unittest.TestCase):
    def test_reads_the_table_and_names_the_place(self):
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, "docs").mkdir()
            Path(folder, "docs/style.md").write_text(PAGE)
            Path(folder, "a.h").write_text("// fine\nint Pictures;  // a standard deviation\n")
            self.assertEqual(check_wording.check(folder, ["a.h"]), ["a.h:2: 'Pictures'; write image"])

    def test_whole_words_alone(self):
        words = check_wording.terms(PAGE)
        self.assertEqual(check_wording.check_text("pictured, fit_pictures, deviations", words),
                         [(1, "deviations", "std")])

    def test_an_exception_is_marked(self):
        words = check_wording.terms(PAGE)
        self.assertEqual(check_wording.check_text("a picture  # wording: ok", words), [])

    def test_the_page_has_a_table(self):
        root = Path(__file__).resolve().parent.parent
        self.assertGreater(len(check_wording.terms((root / check_wording.PAGE).read_text())), 8)

    def test_the_tree_has_none(self):
        self.assertEqual(check_wording.check(Path(__file__).resolve().parent.parent), [])


if __name__ == "__main__":
    unittest.main()
