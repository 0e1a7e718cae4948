#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs an example and compares what it prints with the comment at its end: example_output_test.py
PROGRAM SOURCE. Numbers with a point may differ a little, since processors round differently."""
import re
import subprocess
import sys
import tempfile
from pathlib import Path

RELATIVE = 0.03
ABSOLUTE = 0.01
SKIPPED = 77
NUMBER = re.compile(r"-?\d+\.\d+(?:e[+-]?\d+)?")


def promised(source):
    """The lines after "// Prints:" at the end of the file."""
    _, found, block = source.read_text().partition("\n// Prints:\n")
    if not found:
        sys.exit(f"{source.name} does not end with what it prints: '// Prints:' and a comment")
    return [line.removeprefix("//").removeprefix("   ").rstrip() for line in block.splitlines()]


def agrees(printed, line):
    """Whether a printed line is the promised one, but for the rounding of numbers."""
    if NUMBER.sub("#", printed) != NUMBER.sub("#", line):
        return False
    pairs = zip(NUMBER.findall(printed), NUMBER.findall(line))
    return all(abs(float(a) - float(b)) <= ABSOLUTE + RELATIVE * abs(float(b)) for a, b in pairs)


def main():
    program, source = Path(sys.argv[1]).resolve(), Path(sys.argv[2])
    lines = promised(source)
    with tempfile.TemporaryDirectory() as folder:
        run = subprocess.run([program], cwd=folder, text=True, check=False, capture_output=True)
    if "cannot find Fashion-MNIST" in run.stderr:
        print(run.stderr)
        return SKIPPED
    printed = [line.rstrip() for line in run.stdout.splitlines()]
    print(run.stdout, run.stderr, sep="")
    if run.returncode != 0 or len(printed) != len(lines):
        print(f"{source.name}: exit {run.returncode}, {len(printed)} lines; promised are {len(lines)}")
        return 1
    wrong = [(a, b) for a, b in zip(printed, lines) if not agrees(a, b)]
    for a, b in wrong:
        print(f"{source.name} promises: {b}\n{' ' * len(source.name)}   printed: {a}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
