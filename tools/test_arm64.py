# SPDX-License-Identifier: Apache-2.0
"""The scripts by which ./dev makes and checks packages for ARM64 (packaging/arm64), without a compiler for it."""
import json
import subprocess
import sys
import tempfile
import unittest
import unittest.mock
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "packaging/arm64"))
import package  # noqa: E402
import run_tests  # noqa: E402
import sysroot  # noqa: E402

# Prints what a GoogleTest program prints for the cases of its filter.
PROGRAM = r"""#!/usr/bin/env python3
import os, sys, time
if sys.argv[1:] == ["--gtest_list_tests"]:
    print("Running main() from gtest_main.cc\nA.\n  Passes\n  Fails\n  DISABLED_Never\nEach/B.\n  Skips/0  # GetParam() = 3\n"
          "  Ends/1\n  Sleeps/2\n  Passes/3")
    sys.exit(0)
open(sys.argv[0] + ".calls", "a").write("x")
for case in sys.argv[-1].partition("=")[2].split(":"):
    print(f"[ RUN      ] {case}", flush=True)
    name = case.split(".")[1]
    if name == "Ends/1": os._exit(11)
    if name == "Sleeps/2": time.sleep(60)
    word = {"F": "  FAILED  ", "S": "  SKIPPED ", "P": "       OK "}[name[0]]
    print("why" if name[0] != "P" else "", f"[{word}] {case} (7 ms)", sep="\n", flush=True)
"""


class Sysroot(unittest.TestCase):
    def test_takes_libraries_that_are_required(self):
        text = "# a comment\ncmake  # 3.25\nlibpng-dev   # 1.6\nlibopenmpi-dev  # optional: 4.1\nlibfmt-dev # 9.1\n"
        self.assertEqual(sysroot.wanted(text), ["libfmt-dev", "libpng-dev", *sysroot.RUN_TIME])

    def test_links_stay_inside(self):
        with tempfile.TemporaryDirectory() as name:
            root = Path(name)
            (root / "usr/lib/here").mkdir(parents=True)
            (root / "usr/lib/there.so.1").write_text("library")
            (root / "usr/lib/here/there.so").symlink_to("/usr/lib/there.so.1")
            sysroot.make_links_relative(root)
            self.assertEqual((root / "usr/lib/here/there.so").readlink(), Path("../there.so.1"))
            self.assertEqual((root / "usr/lib/here/there.so").read_text(), "library")


class Dependencies(unittest.TestCase):
    LINES = ("libpng16 16 libpng16-16 (>= 1.6.2)", "libc 6 libc6 (>= 2.36)", "libm 6 libc6 (>= 2.36)")

    def test_are_those_of_the_libraries(self):
        self.assertEqual(package.dependencies(["libpng16.so.16", "libm.so.6", "libc.so.6"], self.LINES),
                         ["libc6 (>= 2.36)", "libpng16-16 (>= 1.6.2)"])

    def test_name_what_no_package_has(self):
        with self.assertRaisesRegex(SystemExit, r"no package of the sysroot has libother\.so\.1"):
            package.dependencies(["libother.so.1"], self.LINES)
        with self.assertRaisesRegex(SystemExit, "expected a library such as libpng16.so.16; got other"):
            package.dependencies(["other"], self.LINES)


class Shards(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory(prefix="linnet-arm64-")
        self.addCleanup(temporary.cleanup)
        self.folder = Path(temporary.name)
        (self.folder / "bin").mkdir()
        self.program = self.folder / "bin/some_test"
        self.program.write_text(PROGRAM)
        self.program.chmod(0o755)
        plain = unittest.mock.patch.object(run_tests, "emulated", lambda program, *words: [str(program), *words])
        plain.start()
        self.addCleanup(plain.stop)

    def run_tests(self, *words):
        with unittest.mock.patch.object(sys, "argv", ["run_tests.py", str(self.folder), *words]), \
             unittest.mock.patch("builtins.print") as printed:
            status = run_tests.main()
        return status, "\n".join(str(call.args[0]) for call in printed.call_args_list)

    def calls(self):
        return len((self.folder / "bin/some_test.calls").read_text())

    def test_go_on_after_each_end(self):
        status, said = self.run_tests("--seconds", "10", "--cases", "4")
        self.assertEqual(status, 1)
        self.assertIn("some_test: 2 passed, 1 skipped, 1 failed, 1 crashed, 1 too slow", said)
        self.assertIn("failed: A.Fails\n    why", said)
        results = json.loads((self.folder / "results/some_test.json").read_text())
        self.assertEqual({case: result[0] for case, result in results.items()}, {
            "A.Passes": "passed", "A.Fails": "failed", "Each/B.Skips/0": "skipped", "Each/B.Ends/1": "crashed",
            "Each/B.Sleeps/2": "too slow", "Each/B.Passes/3": "passed"})
        self.assertEqual(self.calls(), 3)
        self.run_tests()
        self.assertEqual(self.calls(), 3)  # all of it is known
        _, said = self.run_tests("--table")
        self.assertIn("| some_test | 6 | 2 | 1 | 1 | 1 | 1 |", said)


if __name__ == "__main__":
    unittest.main()
