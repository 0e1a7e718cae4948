# SPDX-License-Identifier: Apache-2.0
import tempfile
import unittest
from pathlib import Path

import check_filesystem

START = "namespace fs = std::filesystem;\nstd::error_code error;\n"


class CheckFilesystem(unittest.TestCase):
    def found(self, code):
        return [what for _, what in check_filesystem.check_text(START + code)]

    def test_names_file_and_line(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "src/a/b.cpp")
            path.parent.mkdir(parents=True)
            path.write_text("\nif (std::filesystem::exists(path)) f();\n")
            self.assertEqual(check_filesystem.check(folder),
                             ["src/a/b.cpp:2: exists() throws std::filesystem's own error; give it "
                              "a std::error_code last and say what failed"])

    def test_calls_without_an_error_code(self):
        for code in ("fs::exists(path)", "std::filesystem::rename(a, b);",
                     "fs::file_size(f(path, error))", "fs::remove(path / name(error, 1))",
                     "fs::temp_directory_path()",
                     "fs::directory_iterator entry(folder);", "fs::directory_entry entry{folder};",
                     "fs::create_directories(\n    folder,\n    other);",
                     "fs::is_empty(path, none)",
                     "entry.is_regular_file()", "entry->file_size()", "entry.increment(other)"):
            self.assertEqual(len(self.found(code)), 1, code)

    def test_loops_and_steps_of_iterators(self):
        self.assertIn("a loop over directory_iterator",
                      self.found("for (auto& e : fs::recursive_directory_iterator(p, error)) f();"))
        for step in ("++it", "it++"):
            self.assertEqual(self.found("fs::directory_iterator it(p, error);\n" + step), ["++it"])

    def test_names_without_their_namespace(self):
        self.assertEqual(len(self.found("using namespace std::filesystem;")), 1)
        self.assertEqual(len(self.found("using std::filesystem::exists;")), 1)

    def test_accepts_error_codes_and_what_cannot_throw(self):
        self.assertEqual(self.found(
            "fs::exists(path, error); fs::rename(a, f(b, c), error);\n"
            "fs::directory_iterator entry(folder, error);\n"
            "for (; entry != fs::directory_iterator(); entry.increment(error)) g(entry->path());\n"
            "entry->is_regular_file(error);\n"
            "void f(std::error_code& given) { fs::remove(path, given); }\n"
            "fs::path p = fs::path(x) / y; p.lexically_normal(); other::exists(p); exists(p);\n"
            '// fs::exists(path)\n/* fs::exists(path) */ say("fs::exists(path)"); char c = \'"\';'),
            [])

    def test_the_tree_has_none(self):
        self.assertEqual(check_filesystem.check(Path(__file__).resolve().parent.parent), [])


if __name__ == "__main__":
    unittest.main()
