# SPDX-License-Identifier: Apache-2.0
import tempfile
import unittest
from pathlib import Path

import check_links


class CheckLinks(unittest.TestCase):
    def problems(self, files):
        with tempfile.TemporaryDirectory() as folder:
            for name, text in files.items():
                path = Path(folder, name)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)
            return check_links.check(folder)

    def test_accepts_files_folders_headings_and_other_sites(self):
        self.assertEqual(self.problems({
            "README.md": "[a](docs/a.md) [b](docs) [c](docs/a.md#two-words) ![d](<docs/my pic.png>)\n"
                         "[e](https://example.org/x.md) [f](mailto:a@b.c) [g](#top) [h](docs/a.md 'T')\n"
                         "# Top\n[label]: docs/a.md\n",
            "docs/a.md": "## Two words\n[up](../README.md#top)\n",
            "docs/my pic.png": ""}), [])

    def test_names_file_line_and_link(self):
        self.assertEqual(self.problems({"docs/a.md": "\n[x](gone.md#y)\n"}),
                         ["docs/a.md:2: no file for the link 'gone.md#y'"])

    def test_finds_labels_images_and_html(self):
        for text in ("[x]: gone.md", "![x](gone.png)", '<img width="3" src="gone.png">',
                     "[![x](gone.png)](https://example.org)"):
            self.assertEqual(len(self.problems({"a.md": text})), 1, text)

    def test_headings_must_exist(self):
        self.assertEqual(self.problems({"a.md": "# One\n[x](#two)\n"}),
                         ["a.md:2: no heading for the link '#two'"])

    def test_anchors_as_github_makes_them(self):
        self.assertEqual(check_links.anchors("# The `linnet` command!\n## A\n## A\n### B_c - d\n"
                                             '<a id="own"></a>\n```\n# not one\n```\n'),
                         {"the-linnet-command", "a", "a-1", "b_c---d", "own"})

    def test_code_is_not_looked_at(self):
        self.assertEqual(self.problems({"a.md": "`[x](gone.md)`\n```cpp\nf[i](gone);\n```\n"}), [])

    def test_paths_in_code_must_exist(self):
        files = {"src/plan/plan.h": "", "docs/a.md": "`plan/plan.h` `src/plan/` `other/gone.h` `a/<op>/b`\n"
                                                     "`build/release/bin` `plan/gone.h` `docs/gone.md`\n"}
        self.assertEqual(self.problems(files), ["docs/a.md:2: no file or folder 'plan/gone.h'",
                                                "docs/a.md:2: no file or folder 'docs/gone.md'"])

    def test_links_stay_in_the_repository(self):
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, "outside.md").write_text("")
            Path(folder, "repo").mkdir()
            Path(folder, "repo/a.md").write_text("[x](../outside.md)")
            self.assertEqual(len(check_links.check(Path(folder, "repo"))), 1)


if __name__ == "__main__":
    unittest.main()
