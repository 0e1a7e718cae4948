# SPDX-License-Identifier: Apache-2.0
import tempfile
import unittest
from pathlib import Path

import check_manual

WORDS = "word " * 91


class CheckManual(unittest.TestCase):
    def problems(self, files):
        with tempfile.TemporaryDirectory() as folder:
            for name, text in files.items():
                path = Path(folder, name)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)
            return check_manual.check(folder)

    def page(self, text):
        return self.problems({"docs/a.md": text})

    def test_bounds_paragraphs_and_entries_of_lists(self):
        self.assertEqual(self.page("# A\n\n" + WORDS), ["docs/a.md:3: a paragraph of 91 words; at most 90"])
        self.assertEqual(self.page("- one\n- " + WORDS), ["docs/a.md:2: a paragraph of 91 words; at most 90"])
        half = "word " * 50 + "\n"
        self.assertEqual(len(self.page(half + half)), 1)
        for text in (half + "\n" + half, f"- {half}- {half}", f"1. {half}2. {half}", f"## {half}{half}",
                     f"{half}| a |\n| - |\n{half}", f"{half}```\ncode\n```\n{half}"):
            self.assertEqual(self.page(text), [], text)

    def test_bounds_cells(self):
        row = "| a | " + "word " * 26 + "|\n"
        self.assertEqual(self.page("| a | b |\n| - | - |\n" + row), ["docs/a.md:3: a cell of 26 words; at most 25"])
        self.assertEqual(self.page("| a | b |\n| - | - |\n" + row.replace("word ", "", 1)), [])

    def test_a_link_is_its_text_and_code_one_word(self):
        self.assertEqual(self.page("word " * 88 + "[two words](results/2026-11-26-a.md)\n"), [])
        self.assertEqual(self.page("word " * 89 + "`train --from 2026-11-26 data.csv`\n"), [])
        self.assertEqual(len(self.page("word " * 89 + "[two words](a.md)\n")), 1)
        self.assertEqual(self.page("word [two\nwords](results/2026-11-26-a.md)\n"), [])

    def test_refuses_dates(self):
        for date in ("2026-11-26", "26 November", "25. November 2026", "November 2026", "November 26", "11-26"):
            self.assertEqual(self.page(f"It took 3 s on {date}.\n"),
                             [f"docs/a.md:1: the date '{date}'; dated measurements stand in docs/notes/"])
            self.assertEqual(len(self.page(f"| a ({date}) |\n")), 1, date)

    def test_knows_what_is_no_date(self):
        for text in ("May 3.5 s be enough?", "32-128-128-1", "sizes 16-32", "version 12.2.0", "ISO-8859-01-02", "x-11-26-y"):
            self.assertEqual(self.page(text + "\n"), [], text)

    def test_bounds_the_readme(self):
        text = ("word " * 60 + "\n\n") * 10
        self.assertEqual(self.problems({"README.md": text, "docs/a.md": text * 2}), [])
        self.assertEqual(self.problems({"README.md": text + "word\n"}), ["README.md:1: 601 words; at most 600"])
        self.assertEqual(self.problems({"README.md": text + "| word |\n\n```\nword\n```\n"}), [])

    def test_the_notebook_and_other_folders_are_free(self):
        for name in ("docs/notes/a.md", "docs/decisions/a.md", "src/README.md", "CHANGELOG.md"):
            self.assertEqual(self.problems({name: "On 2026-11-26: " + WORDS}), [])


if __name__ == "__main__":
    unittest.main()
