# SPDX-License-Identifier: Apache-2.0
"""What the manual's site is made of: pages, links that lead there, and generated references."""
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent / "manual_site"))
import build  # noqa: E402
import man_page  # noqa: E402
import reference  # noqa: E402

FILES = {"CHANGELOG.md": "# Changes\n", "CONTRIBUTING.md": "[style](docs/style.md#code)\n",
         "docs/style.md": "## Code\n[a](guide/a.md) ![b](images/b.svg)\n", "docs/images/b.svg": "<svg/>",
         "docs/guide/a.md": "[up](../style.md) [code](../../src/a.cpp) [folder](../../src) [site](https://x.org/a.md)\n"
                            "`[no](link.md)` [notes](../notes)\n```\n[no](link.md)\n```\n",
         "docs/notes/README.md": "# Notes\n", "src/a.cpp": "int a;\n```\n", "src/.hidden": ""}


class Site(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory(prefix="linnet-site-")
        self.addCleanup(temporary.cleanup)
        self.root = Path(temporary.name)
        for name, text in FILES.items():
            (self.root / name).parent.mkdir(parents=True, exist_ok=True)
            (self.root / name).write_text(text)
        self.pages = self.root / "build/pages"
        build.stage(self.root, self.pages)

    def page(self, name):
        return (self.pages / name).read_text()

    def test_has_the_manual_and_what_it_links_to(self):
        names = sorted(path.relative_to(self.pages).as_posix() for path in self.pages.rglob("*") if path.is_file())
        self.assertEqual(names, ["guide/a.md", "images/b.svg", "notes/README.md", "source/CHANGELOG.md",
                                 "source/CONTRIBUTING.md", "source/src/a.cpp.md", "source/src/index.md", "style.md"])

    def test_links_lead_to_where_the_site_has_a_file(self):
        self.assertEqual(self.page("guide/a.md"),
                         "[up](../style.md) [code](../source/src/a.cpp.md) [folder](../source/src/index.md) "
                         "[site](https://x.org/a.md)\n"
                         "`[no](link.md)` [notes](../notes/README.md)\n```\n[no](link.md)\n```\n")
        self.assertEqual(self.page("source/CONTRIBUTING.md"), "[style](../style.md#code)\n")

    def test_shows_files_and_folders(self):
        self.assertEqual(self.page("source/src/a.cpp.md"), "# `src/a.cpp`\n\n````cpp\nint a;\n```\n````\n")
        self.assertEqual(self.page("source/src/index.md"), "# `src`\n\n- `a.cpp`\n")

    def test_a_search_shows_the_manual_first(self):
        build.search_last(self.pages)
        self.assertIn("boost: 0.2", self.page("notes/README.md"))
        self.assertIn("boost: 0.2", self.page("source/src/a.cpp.md"))
        self.assertNotIn("boost", self.page("style.md"))


class Reference(unittest.TestCase):
    def test_every_command_has_a_section(self):
        with tempfile.TemporaryDirectory() as folder:
            command = Path(folder, "linnet")
            command.write_text("#!/bin/sh\n[ $# -gt 1 ] && echo \"Help of $1\" && exit\n"
                               "printf 'First:\\n  linnet a.csv   says\\n\\nUse:\\n  train   Trains it\\n  max-batch  Prints\\n'\n")
            command.chmod(0o755)
            page = reference.command_page(command)
        self.assertIn("## linnet train\n\n```text\nHelp of train\n```\n", page)
        self.assertIn("## linnet max-batch\n", page)
        self.assertEqual(page.count("\n## "), 2)

    def test_a_name_in_the_man_page_may_leave_no_room(self):
        for line, expected in (("  --lr NUMBER               Learning rate", ("--lr NUMBER", "Learning rate")),
                               ("  --streamed, --no-streamed Image files", ("--streamed, --no-streamed", "Image files")),
                               ("  --tune-a-kernel, --no-run N", ("--tune-a-kernel, --no-run N", "")),
                               ("  --separator {, ; | tab blank}", ("--separator {, ; | tab blank}", "")),
                               ("  train   Trains it", ("train", "Trains it"))):
            self.assertEqual(man_page.entry(line), expected)

    def test_text_of_the_man_page_is_no_macro(self):
        self.assertEqual(man_page.escaped("-x 'a'\n\n.gz `b`"), "\\-x \\(aqa\\(aq\n\n\\&.gz \\fBb\\fR")

    def test_the_python_api_comes_from_stubs(self):
        with tempfile.TemporaryDirectory() as folder:
            for stub in reference.STUBS:
                Path(folder, stub).parent.mkdir(exist_ok=True)
                Path(folder, stub).write_text("")
            Path(folder, "__init__.py").write_text(
                'class Model(Base):\n    """Holds a * b."""\n    def save(self, file: str | None = None) -> None:\n'
                '        """Writes it.\n\n        Longer."""\n    def _hidden(self): ...\n'
                '    @property\n    def size(self) -> int:\n        """Returns the size."""\n'
                "def _private(): ...\n")
            page = reference.python_page(Path(folder))
        self.assertIn("## Model\n\n```python\nclass Model(Base)\n```\n\nHolds a \\* b.\n", page)
        self.assertIn("| `save(self, file: str \\| None=None) -> None` | Writes it. |\n| `size: int` | Returns the size. |", page)
        self.assertNotIn("hidden", page)
        self.assertNotIn("private", page)


if __name__ == "__main__":
    unittest.main()
