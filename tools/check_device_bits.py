#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Shows functions of <bit> in files that nvcc compiles, which it may compile wrongly for a device.

nvcc 13.0 compiles libstdc++'s std::bit_width() to 0, without a warning: a first run on a GPU found
the data unshuffled. std::bit_cast() is fine; base/bits.h and CUDA's intrinsics have the others.
"""
import re
import sys
from pathlib import Path

FUNCTION = re.compile(r"std::(bit_width|bit_ceil|bit_floor|has_single_bit|popcount|"
                      r"count[lr]_(?:zero|one)|rot[lr])\b")
INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"', re.M)


def compiled(root):
    """CUDA files below `root`/src and the project's headers that they include, in order."""
    places = [root / "src", root / "include"]
    found = {}
    waiting = sorted((root / "src").rglob("*.cu*"))
    while waiting:
        path = waiting.pop()
        if path in found or "sim" in path.parts:
            continue
        found[path] = re.sub(r"//[^\n]*", "", path.read_text())
        for name in INCLUDE.findall(found[path]):
            waiting += [place / name for place in places if (place / name).exists()]
    return dict(sorted(found.items()))


def check(root):
    """The sentences about everything that is wrong below `root`."""
    root = Path(root)
    return [f"{path.relative_to(root).as_posix()}:{text.count(chr(10), 0, match.start()) + 1}: "
            f"{match[0]}() in a file that nvcc compiles; base/bits.h has one that is right there"
            for path, text in compiled(root).items() for match in FUNCTION.finditer(text)]


def main():
    problems = check(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).resolve().parent.parent)
    print("\n".join(problems + [f"Bits on devices: {len(problems)} wrong."]) if problems
          else "Bits on devices: all by functions that nvcc compiles rightly.")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
