# SPDX-License-Identifier: Apache-2.0
"""The table of ./dev check fusions, and what it says of tests that went."""
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "benchmarks"))
import fusions  # noqa: E402


def row(name, commit="12345678", failed="-"):
    return dict(zip(fusions.COLUMNS, (f"`{name}`", "-", commit, "9", "120", "1", "3", "4", failed)))


class Fusions(unittest.TestCase):
    def test_rows_survive_an_interruption(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "removed.md")
            self.assertEqual(fusions.read_rows(path), {})
            rows = {"nothing": row("nothing"), "pair": row("pair", failed="`A.B`, `C.D/0`"), "old": row("old", "0")}
            fusions.write_rows(path, rows)
            self.assertEqual(fusions.read_rows(path), rows)
            self.assertEqual(fusions.fusions_left(rows, "12345678", ["old", "pair", "triple"]), ["old", "triple"])
            rows["pair"][fusions.RAN] = "2 of 9"  # of --programs
            self.assertEqual(fusions.fusions_left(rows, "12345678", ["pair"]), ["pair"])

    def test_tests_of_other_folders_may_not_go(self):
        before = {"op_test A.B": "/tree/src/fusions/pair/pair_test.cpp", "op_test C.D": "/tree/src/ops/c/c_test.cpp",
                  "op_test E.F": "/tree/src/ops/e/e_test.cpp"}
        own, missing = fusions.compare(before, {"op_test E.F": before["op_test E.F"]}, ["pair"])
        self.assertEqual((own, missing), ({"op_test A.B"}, {"op_test C.D"}))

    @unittest.skipUnless((ROOT / ".git").exists(), "not a repository")
    def test_the_tree_is_brought_back(self):
        with tempfile.TemporaryDirectory() as folder:
            tree = fusions.Tree(Path(folder), [])
            tree.take(subprocess.run(["git", "-C", ROOT, "rev-parse", "HEAD"], check=True, capture_output=True,
                                     text=True).stdout.strip())
            fusion = next(path for path in (tree.path / "src/fusions").iterdir() if path.is_dir())
            files = sorted(fusion.iterdir())
            tree.remove([fusion.name])
            self.assertFalse(fusion.exists())
            tree.take("")  # as a run that goes on does
            self.assertEqual(sorted(fusion.iterdir()), files)

    def test_a_fusion_goes_with_those_that_include_it(self):
        rooms = {"pair": ([], [], set()), "triple": ([], [], {"pair"}), "other": ([], [], set())}
        self.assertEqual(fusions.removed_with(rooms, "pair"), ["pair", "triple"])
        self.assertEqual(fusions.removed_with(rooms, "triple"), ["triple"])


if __name__ == "__main__":
    unittest.main()
