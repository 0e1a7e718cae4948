#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Shows what CMake files may not have: sources found by a pattern, and lines over 120 columns.

A list of sources is written out, one a line where it is long: a file that nobody names is not built,
and a review sees what a change builds.
"""
import re
import sys
from pathlib import Path

COLUMNS = 120
FOLDERS = ("apps", "benchmarks", "cmake", "examples", "src", "tests", "tools")
# Rivals that users bring are found where their own build left them.
FOREIGN = ("benchmarks/peers/",)


def check_text(text):
    """(line, sentence) of everything that is wrong."""
    found = []
    for number, line in enumerate(text.splitlines(), 1):
        # An operator, a fusion or a task comes and goes with its folder: no list names its files.
        if re.search(r"\bfile\s*\(\s*GLOB", line, re.IGNORECASE) and not re.search(r"/src/(fusions|ops|tasks)/", line):
            found.append((number, "file(GLOB) finds sources; name them"))
        if len(line) > COLUMNS:
            found.append((number, f"{len(line)} columns; at most {COLUMNS}"))
    return found


def check(root):
    """The sentences about everything that is wrong below `root`."""
    root = Path(root)
    paths = [root / "CMakeLists.txt"] + [
        path for folder in FOLDERS for path in sorted((root / folder).rglob("*"))
        if path.name == "CMakeLists.txt" or path.suffix == ".cmake"]
    names = [(path, path.relative_to(root).as_posix()) for path in paths if path.is_file()]
    return [f"{name}:{line}: {sentence}" for path, name in names if not name.startswith(FOREIGN)
            for line, sentence in check_text(path.read_text())]


def main():
    problems = check(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).resolve().parent.parent)
    print("\n".join(problems + [f"CMake files: {len(problems)} wrong."]) if problems
          else "CMake files: sources are named, lines fit.")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
