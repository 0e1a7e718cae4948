# SPDX-License-Identifier: Apache-2.0
import tempfile
import unittest
from pathlib import Path

import check_gates


class CheckGates(unittest.TestCase):
    def found(self, code, name="apps/linnet/a.cpp"):
        return len(check_gates.check_text(code, name))

    def test_names_file_and_line(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "src/a/b.cpp")
            path.parent.mkdir(parents=True)
            path.write_text("\nauto a = Json::parse(text);\n")
            self.assertEqual(check_gates.check(folder),
                             ["src/a/b.cpp:2: 'Json::parse(' parses JSON; call parse_json() or "
                              "json_or_null() of base/json.h"])

    def test_calls_that_one_file_may_make(self):
        for code in ("nlohmann::json::parse(text, nullptr, false)", "Json::parse (text)",
                     "nlohmann::ordered_json::sax_parse(text, &checker)", "json::accept(text)",
                     "toml::parse(text)", "toml::parse_file(path)", 'fmt::print(stderr, "a")',
                     'std::cout << name;', 'std::fprintf(stderr, "%s", name);', "puts(name);",
                     "std::fwrite(a, 1, n, stdout);"):
            self.assertEqual(self.found(code), 1, code)

    def test_other_calls(self):
        for code in ("parse_json<Json>(text, 3, what)", "arguments.parse(text)", "app.parse(a, b)",
                     "// Json::parse(text)", 'say("toml::parse(text)")', "snprintf(a, n, b);",
                     "std::vsnprintf(a, n, b, c);", "print_out(text);", "line.puts(text);"):
            self.assertEqual(self.found(code), 0, code)
        self.assertEqual(self.found("Json::parse(text)", "src/base/json.h"), 0)

    def test_headers_of_the_system(self):
        for code in ("#include <unistd.h>", "# include <sys/stat.h>", "#include <windows.h>"):
            self.assertEqual(self.found(code), 1, code)
        for code in ("#include <csignal>", '#include "base/file_calls.h"', "// #include <unistd.h>"):
            self.assertEqual(self.found(code), 0, code)
        self.assertEqual(self.found("#include <unistd.h>", "src/base/process.cpp"), 0)

    def test_the_tree_has_none(self):
        self.assertEqual(check_gates.check(Path(__file__).resolve().parent.parent), [])


if __name__ == "__main__":
    unittest.main()
