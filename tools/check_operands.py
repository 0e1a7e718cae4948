#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Shows every operand of an operator that is picked by a number: `args.in(3)`, `node.inputs[0]`.

An operator's class names the places of its operands and results once, in `enum In` and `enum Out`;
its CPU, CUDA and library files write `args.in(In::gamma)`. Helpers that serve several operators
write kFirst and kSecond (graph/op.h) or front() and back().
"""
import re
import sys
from pathlib import Path

FOLDERS = ("src/graph", "src/ops", "src/plan", "src/fusions", "src/backend")
CALLS = r"\b(?:in|out|in_out|fixed)(?:<[^<>;]*>)?\(\s*\d+\s*\)"
ELEMENTS = (r"\b(?:inputs|outputs|output_gradients|needed|output_read|input_fixed|packed_operands)"
            r"(?:\[\s*\d+\s*\]|\s*=\s*\{\s*\d[^}]*\}|\.push_back\(\s*\d+\s*\))")
NUMBERED = re.compile(rf"{CALLS}|{ELEMENTS}")
COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)


def check_text(text):
    """(line, expression) of every operand that is picked by a number."""
    text = COMMENT.sub(lambda match: re.sub(r"[^\n]", " ", match.group()), text)
    return [(text.count("\n", 0, match.start()) + 1, match.group())
            for match in NUMBERED.finditer(text)]


def check(root):
    """The sentences about everything that is wrong below `root`."""
    root = Path(root)
    paths = [path for folder in FOLDERS for path in sorted((root / folder).rglob("*"))
             if path.suffix in (".cpp", ".h", ".cu", ".cuh")]
    return [f"{path.relative_to(root).as_posix()}:{line}: {what} picks an operand by its number; "
            "use its name in the operator's In or Out"
            for path in paths for line, what in check_text(path.read_text())]


def main():
    problems = check(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).resolve().parent.parent)
    print("\n".join(problems + [f"Operands: {len(problems)} wrong."]) if problems
          else "Operands: every one goes by its name.")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
