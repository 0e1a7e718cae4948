# SPDX-License-Identifier: Apache-2.0
"""sketch.py: a program of one file beside `linnet bench`, in turn."""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
SKETCH = """#include <cstdio>
int main(int, char** words) { std::printf("batch %s on %s: 1 ms -> 200 samples/s, loss 0\\n", words[1], words[2]); }
"""
LINNET = """#!/bin/sh
[ "$1" = --version ] && { echo linnet 1.2.3; exit; }
echo '{"samples_per_second": 100.0}'
"""


@unittest.skipUnless(shutil.which("c++"), "there is no c++")
class Sketch(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="linnet-sketch-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.source, self.linnet = self.folder / "one.cpp", self.folder / "fake-linnet"
        self.source.write_text(SKETCH)
        self.linnet.write_text(LINNET)
        self.linnet.chmod(0o755)

    def run_it(self, *words):
        return subprocess.run([sys.executable, "-B", ROOT / "benchmarks/sketch.py", self.source, "--linnet",
                               self.linnet, "--out", self.folder / "out", "--repetitions", "2", *words],
                              capture_output=True, text=True, env={**os.environ, "CXX": "c++"})

    def test_both_run_in_turn_and_the_ratio_is_linnets_over_the_sketchs(self):
        done = self.run_it("--batches", "128,1024", "--threads", "2")
        self.assertEqual(done.returncode, 0, done.stderr)
        path = pathlib.Path(done.stdout.strip())
        result = json.loads(path.with_suffix(".json").read_text())
        self.assertEqual([(row["batch"], row["threads"], row["ratio"]["each"]) for row in result["rows"]],
                         [(128, 2, [0.5, 0.5]), (1024, 2, [0.5, 0.5])])
        self.assertIn("batch 1024 on 2", result["rows"][1]["runs"]["sketch"][0]["words"][0])
        self.assertIn("| 128 | 2 | 100 (100 to 100) | 200 (200 to 200) | 0.50 (2 pairs) |", path.read_text())
        self.assertNotIn(str(self.folder), path.with_suffix(".json").read_text())

    def test_what_does_not_work_is_named(self):
        self.source.write_text("int main() { return 3; }\n")
        self.assertIn("exit status 3", self.run_it().stderr)
        self.source.write_text("int main() { wrong }\n")
        self.assertRegex(self.run_it().stderr, r"c\+\+ cannot compile .*one.cpp: .*error")
        self.source.unlink()
        self.assertIn("there is no", self.run_it().stderr)


if __name__ == "__main__":
    unittest.main()
