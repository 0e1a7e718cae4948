# SPDX-License-Identifier: Apache-2.0
"""Follows a page that adds something, in a copy of the tree: writes the files that the page shows, adds its line of
CMake if it has one, runs its commands, makes its change and sees the tests fail. The numbers of files and lines must be those of the
table in CONTRIBUTING.md."""
import os
import re
import shutil
import subprocess
import sys
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
BLOCK = re.compile(r"(?:^\*\*`([^`]+)`\*\*[^\n]*\n\n)?^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def promised(thing):
    """Returns the new files, and the lines in other files, that CONTRIBUTING.md names for a new `thing`."""
    row = re.search(rf"^\| [^|]*\b{thing}\b[^|]* \| (\d+)[^|]* \| (\d+)[^|]* \|",
                    (ROOT / "CONTRIBUTING.md").read_text(), re.MULTILINE)
    return int(row[1]), int(row[2])


class FollowedPage(unittest.TestCase):
    """One page; derive from it and name what follows."""
    page = thing = after = passes = fails = ""
    scratch = Path()

    def copy_tree(self):
        """Copies what the page needs of the repository; an old build folder stays, for its object files."""
        scratch = self.scratch
        for name in ("src", "include", "cmake", "tests", "benchmarks"):
            shutil.rmtree(scratch / name, ignore_errors=True)
        for name in ("src", "include", "cmake"):
            shutil.copytree(ROOT / name, scratch / name)  # keeps the times of the files
        for name in ("CMakeLists.txt", "CMakePresets.json", "LICENSE"):
            shutil.copy2(ROOT / name, scratch / name)
        for name in ("tests", "benchmarks"):
            (scratch / name).mkdir()
            (scratch / name / "CMakeLists.txt").write_text("# Only the page's own tests are built.\n")
        shutil.copytree(ROOT / "benchmarks/networks", scratch / "benchmarks/networks")
        shutil.copy2(ROOT / "benchmarks/workloads.json", scratch / "benchmarks/workloads.json")
        shutil.copytree(ROOT / "tests/cuda_sim", scratch / "tests/cuda_sim")  # kernels run on it
        for path in ROOT.glob("tests/*"):
            if path.suffix in (".h", ".cpp"):
                shutil.copy2(path, scratch / "tests" / path.name)

    def run_commands(self, commands):
        environment = dict(os.environ)
        environment.setdefault("CMAKE_BUILD_PARALLEL_LEVEL", "1")  # ctest runs other tests beside this
        return subprocess.run(["bash", "-e", "-c", commands], cwd=self.scratch, env=environment, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)

    def follow(self):
        blocks = BLOCK.findall((ROOT / self.page).read_text())
        self.copy_tree()
        files = [(path, text) for path, language, text in blocks if language == "cpp"]
        for path, text in files:
            self.assertFalse((ROOT / path).exists(), f"{path} is in the tree already")
            (self.scratch / path).parent.mkdir(parents=True, exist_ok=True)
            (self.scratch / path).write_text(text)
        lists = [(path, text) for path, language, text in blocks if language == "cmake"]
        lines = sum(line.count("\n") for _, line in lists)
        self.assertEqual(promised(self.thing), (len(files), lines), "as CONTRIBUTING.md counts")
        for path, line in lists:
            text = (self.scratch / path).read_text()
            self.assertIn(self.after, text)
            (self.scratch / path).write_text(text.replace(self.after, self.after + line))

        (commands,) = [text for _, language, text in blocks if language == "sh"]
        result = self.run_commands(commands)
        self.assertEqual(result.returncode, 0, result.stdout)
        self.assertRegex(result.stdout, self.passes, result.stdout)

        ((path, change),) = [(path, text) for path, language, text in blocks if language == "diff"]
        before, after = (line[1:] for line in change.splitlines())
        text = (self.scratch / path).read_text()
        self.assertEqual(text.count(before), 1, f"the page changes a line that {path} does not have")
        (self.scratch / path).write_text(text.replace(before, after))
        result = self.run_commands(commands)
        self.assertNotEqual(result.returncode, 0, "the page says that this change makes a test fail")
        self.assertIn(self.fails, result.stdout)


def main(test):
    """Runs `test` in the folder that the command line names."""
    if len(sys.argv) > 1:
        test.scratch = Path(sys.argv.pop(1))
    test.scratch.mkdir(parents=True, exist_ok=True)
    unittest.main()
