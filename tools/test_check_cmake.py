# SPDX-License-Identifier: Apache-2.0
import tempfile
import unittest
from pathlib import Path

import check_cmake


class CheckCMake(unittest.TestCase):
    def test_patterns_and_long_lines(self):
        text = "file(GLOB sources *.cpp)\n" + "x" * 121 + "\nfile( glob_recurse a *.h)\n"
        self.assertEqual(check_cmake.check_text(text),
                         [(1, "file(GLOB) finds sources; name them"), (2, "121 columns; at most 120"),
                          (3, "file(GLOB) finds sources; name them")])
        for folder in ("fusions", "ops", "tasks"):
            self.assertEqual(check_cmake.check_text("file(GLOB files ${SOURCE}/src/%s/*/*.c*)" % folder), [])
        self.assertEqual(check_cmake.check_text("file(READ a b)\n" + "x" * 120), [])

    def test_names_the_file(self):
        with tempfile.TemporaryDirectory() as folder:
            for name in ("src/a/CMakeLists.txt", "benchmarks/peers/a/CMakeLists.txt"):
                path = Path(folder, name)
                path.parent.mkdir(parents=True)
                path.write_text("\nfile(GLOB a b)\n")
            self.assertEqual(check_cmake.check(folder),
                             ["src/a/CMakeLists.txt:2: file(GLOB) finds sources; name them"])

    def test_the_tree_has_none(self):
        self.assertEqual(check_cmake.check(Path(__file__).resolve().parent.parent), [])


if __name__ == "__main__":
    unittest.main()
