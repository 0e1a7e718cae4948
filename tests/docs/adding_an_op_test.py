#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Follows docs/adding-an-op.md in a copy of the tree: adding_an_op_test.py SCRATCH_FOLDER.

Writes the files that the page shows, adds its line of CMake, runs its commands, makes its change and
sees the tests fail.
"""
import os
import re
import shutil
import subprocess
import sys
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
BLOCK = re.compile(r"(?:^\*\*`([^`]+)`\*\*[^\n]*\n\n)?^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LISTS = "src/ops/CMakeLists.txt"
scratch = Path("adding_an_op")


def copy_tree():
    """What the page needs of the repository; an old build folder stays, for its object files."""
    scratch.mkdir(parents=True, exist_ok=True)
    for name in ("src", "include", "cmake", "tests"):
        shutil.rmtree(scratch / name, ignore_errors=True)
    for name in ("src", "include", "cmake"):
        shutil.copytree(ROOT / name, scratch / name)  # keeps the times of the files
    for name in ("CMakeLists.txt", "CMakePresets.json", "LICENSE"):
        shutil.copy2(ROOT / name, scratch / name)
    (scratch / "tests").mkdir()
    for path in ROOT.glob("tests/op_*"):
        shutil.copy2(path, scratch / "tests" / path.name)
    (scratch / "tests/CMakeLists.txt").write_text("# The operator's own tests are all that is built.\n")


def run(commands):
    environment = {**os.environ, "CCACHE_BASEDIR": str(scratch.resolve())}
    environment.setdefault("CMAKE_BUILD_PARALLEL_LEVEL", "1")  # ctest runs other tests beside this
    return subprocess.run(["bash", "-e", "-c", commands], cwd=scratch, env=environment, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)


class AddingAnOp(unittest.TestCase):
    def test_the_page_works_as_written(self):
        blocks = BLOCK.findall((ROOT / "docs/adding-an-op.md").read_text())
        copy_tree()
        files = [(path, text) for path, language, text in blocks if language == "cpp"]
        self.assertEqual(len(files), 5)
        for path, text in files:
            target = scratch / path
            self.assertFalse((ROOT / path).exists(), f"{path} is in the tree already")
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text)
        (line,) = [text for path, language, text in blocks if language == "cmake" and path == LISTS]
        self.assertEqual(line.count("\n"), 1, "the page promises one line of CMake")
        lists = (scratch / LISTS).read_text()
        self.assertIn("include(LinnetOps)\n", lists)
        (scratch / LISTS).write_text(lists.replace("include(LinnetOps)\n",
                                                   "include(LinnetOps)\n" + line))

        (commands,) = [text for _, language, text in blocks if language == "sh"]
        result = run(commands)
        self.assertEqual(result.returncode, 0, result.stdout)
        self.assertRegex(result.stdout, r"\[  PASSED  \] 2 tests", result.stdout)

        ((path, change),) = [(path, text) for path, language, text in blocks if language == "diff"]
        before, after = (line[1:] for line in change.splitlines())
        text = (scratch / path).read_text()
        self.assertEqual(text.count(before), 1, f"the page changes a line that {path} does not have")
        (scratch / path).write_text(text.replace(before, after))
        result = run(commands)
        self.assertNotEqual(result.returncode, 0, "the page says that this change makes a test fail")
        self.assertIn("[  FAILED  ] LeakyRelu.AgreesWithTheReference", result.stdout)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        scratch = Path(sys.argv.pop(1))
    unittest.main()
