# SPDX-License-Identifier: Apache-2.0
import tempfile
import unittest
from pathlib import Path

import check_paths

# Put together here, so that this file itself holds no such path.
HOME, WORK, OPT = (f"/{name}" for name in ("home", "work", "opt"))


class CheckPaths(unittest.TestCase):
    def problems(self, text):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "a.txt")
            path.write_text(text.replace("ROOT", folder))
            return check_paths.check(Path(folder), [path])

    def test_names_file_line_and_path(self):
        self.assertEqual(self.problems(f"one\nlinnet --data {HOME}/me/mnist --json\n"),
                         [f"a.txt:2: the path '{HOME}/me/mnist' is one of a single machine"])

    def test_finds_them_in_quotes_brackets_and_assignments(self):
        for text in (f'"{WORK}/data"', f"({OPT}/torch/bin/python)", f"PATH={OPT}/x/bin",
                     f"`{HOME}/x`", f"--project={HOME}/x", f"a:{WORK}/b",
                     f"<pre>{HOME}/x</pre>"):
            self.assertEqual(len(self.problems(text)), 1, text)

    def test_finds_the_repository_itself(self):
        self.assertEqual(len(self.problems("cd ROOT/build")), 1)

    def test_accepts_what_is_on_any_machine(self):
        self.assertEqual(self.problems(
            "/usr/lib/x /proc/meminfo /tmp/x ~/flux $HOME/work/x ${TREE}/work/x https://example.org"
            f"{HOME}/x $chrootROOT/x src/opt/a ../work/b $DATA/mnist a /work b\n"), [])

    def test_the_tree_has_none(self):
        self.assertEqual(check_paths.check(Path(__file__).resolve().parent.parent), [])


if __name__ == "__main__":
    unittest.main()
