#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Shows calls of wait_for_previous() that are not the first statement of a kernel.

A kernel that Queue::early() launches may begin before the kernel before it has ended, so it may
read and write nothing before it has waited. That such a launch names a kernel that waits is what
the simulated device checks (sim::require_waited).
"""
import re
import sys
from pathlib import Path

WAIT = "wait_for_previous();"
# The signature of a kernel up to its brace: the last __global__ before, with no other body between.
KERNEL = re.compile(r"__global__[^{};]*\{\s*\Z")


def check_text(text):
    """Lines of calls that do not begin a kernel."""
    text = re.sub(r"//[^\n]*", "", text)
    return [text.count("\n", 0, match.start()) + 1
            for match in re.finditer(re.escape(WAIT), text)
            if not KERNEL.search(text[:match.start()])]


def check(root):
    """The sentences about everything that is wrong below `root`."""
    root = Path(root)
    return [f"{path.relative_to(root).as_posix()}:{line}: {WAIT} is not a kernel's first statement"
            for path in sorted((root / "src").rglob("*.cu*")) for line in
            check_text(path.read_text())]


def main():
    problems = check(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).resolve().parent.parent)
    print("\n".join(problems + [f"Early kernels: {len(problems)} wrong."]) if problems
          else "Early kernels: all wait first.")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
