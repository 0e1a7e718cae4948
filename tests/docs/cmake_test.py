#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every block ```cmake of the manual configures: cmake_test.py PREFIX COMPILER.

PREFIX has Linnet installed. A block without project() is put into one that has the program which it names. Blocks that
change a file of this repository have its name above them; other tests follow those pages."""
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
BLOCK = re.compile(r"(?:^\*\*`([^`]+)`\*\*[^\n]*\n\n)?^```cmake\n(.*?)^```$", re.MULTILINE | re.DOTALL)
prefix = compiler = None


def blocks():
    """Returns each block with the pages that show it."""
    found = {}
    for page in (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))):
        for file, block in BLOCK.findall(page.read_text()):
            if not file:
                found.setdefault(block, []).append(page.relative_to(ROOT).as_posix())
    return found


def problem(block):
    """What CMake says against a block, or None."""
    lists = block
    if "project(" not in block:
        program = re.search(r"target_link_libraries\((\w+)", block)[1]
        lists = f"cmake_minimum_required(VERSION 3.22)\nproject(own CXX)\nadd_executable({program} {program}.cpp)\n{block}"
    with tempfile.TemporaryDirectory() as scratch:
        for name in re.findall(r"\w+\.cpp", lists):
            (Path(scratch) / name).write_text("int main() {}\n")
        (Path(scratch) / "CMakeLists.txt").write_text(lists)
        ran = subprocess.run(["cmake", "-S", scratch, "-B", f"{scratch}/build", f"-DCMAKE_PREFIX_PATH={prefix}",
                              f"-DCMAKE_CXX_COMPILER={compiler}"], text=True, stdout=subprocess.PIPE,
                             stderr=subprocess.STDOUT, check=False)
        return None if ran.returncode == 0 else ran.stdout


class CMake(unittest.TestCase):
    def test_every_block_configures(self):
        self.assertGreaterEqual(len(blocks()), 2)
        for block, pages in blocks().items():
            with self.subTest(pages=pages):
                self.assertIsNone(problem(block))

    def test_a_wrong_name_is_found(self):
        block = next(block for block in blocks() if "project(" not in block)
        self.assertIn("linnet::linet", problem(block.replace("linnet::linnet", "linnet::linet")) or "")


if __name__ == "__main__":
    *_, prefix, compiler = sys.argv
    del sys.argv[1:]
    unittest.main()
