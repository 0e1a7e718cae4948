#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Shows every operator that more than 3 files outside of its folder, src/ops/<name>/, name, or whose function or
rules stand outside of it.

An operator with all roads, a function in C++ and Python and rules of ONNX, stands in its folder: NAME_function.cpp
and NAME_onnx.cpp beside its kernels. What is left is its function's declaration in include/linnet/functions.h, from
which Python's follows, and its lines in docs/own-layers.md and docs/interop.md. Operators that others use are left
out: those whose header a layer, a pass, a step graph or another operator includes.
"""
import re
import sys
from pathlib import Path

MOST = 3
FOLDERS = ("include", "src", "python", "apps", "docs")
SUFFIXES = (".h", ".cpp", ".cu", ".cuh", ".py", ".md", ".txt")
ROADS = ("src/nn/expression/", "src/onnx/")  # where functions and rules of several operators stand
OPERATOR = re.compile(r"^class (\w+Op) final", re.MULTILINE)
FUNCTION = re.compile(r"^(?:Expression|std::vector<Expression>) (\w+)\(", re.MULTILINE)
NAME = re.compile(r'string_view kName = "(\w+)"')
INCLUDE = re.compile(r'^#include "ops/(\w+)/', re.MULTILINE)
IMPORT = re.compile(r'imports\["(\w+)"\]')


def texts(root):
    """{place: text} of the files in which an operator may be named; tests are left out, and the code in C that
    src/c_export/ has for operators of all kinds."""
    paths = (p for folder in FOLDERS for p in sorted((root / folder).rglob("*")) if p.suffix in SUFFIXES)
    return {p.relative_to(root).as_posix(): p.read_text(errors="replace") for p in paths
            if p.is_file() and not p.stem.endswith("_test") and p.parent.name != "c_export"}


def pattern_of(own, name):
    """What names an operator: its classes, its functions declared, bound or listed, and its rules."""
    body = own.get(f"src/ops/{name}/{name}_function.cpp", "").split("}  // namespace\n")[-1]
    text = "".join(own.values())
    functions, imports, classes, names = ("|".join(sorted(set(found))) or "-" for found in (
        FUNCTION.findall(body), IMPORT.findall(text), OPERATOR.findall(text), NAME.findall(text)))
    return re.compile(rf'\b(?:{classes})\b|^\S*Expression>? (?:{functions})\(|m\.def\(\s*"(?:{functions})"'
                      rf'|\["(?:{names}|{imports})"\]|^\| (?:{imports}) \||^\|.*`(?:{functions})\(', re.MULTILINE)


def named_by(files):
    """{operator that nobody else uses: [files outside of its folder that name it]}."""
    found = {}
    included = {p: set(INCLUDE.findall(text)) for p, text in files.items()}
    for name in sorted({p.split("/")[2] for p in files if re.match(r"src/ops/\w+/\w+\.h$", p)}):
        own = {p: text for p, text in files.items() if p.startswith(f"src/ops/{name}/")}
        users = [p for p, names in included.items() if name in names and p not in own]
        roads = [p for p in (*own, *users) if p.startswith(ROADS) or p.endswith(("_function.cpp", "_onnx.cpp"))]
        if roads and all(p.startswith(ROADS) for p in users):
            pattern = pattern_of(own, name)
            found[name] = [p for p, text in files.items() if p not in own and pattern.search(text)]
    return found


def sentences(named):
    """What is wrong with each of named_by()."""
    found = [f"{place}: has the function or the rules of '{name}', which nobody else uses; "
             f"src/ops/{name}/{name}_{'onnx' if 'onnx' in place else 'function'}.cpp may have them"
             for name, places in named.items() for place in places if place.startswith(ROADS)]
    return found + [f"src/ops/{name}/: {len(places)} files outside of it name the operator, at most {MOST} may: "
            f"{', '.join(places)}" for name, places in named.items() if len(places) > MOST]


def check(root):
    """The sentences about everything that is wrong below `root`."""
    return sentences(named_by(texts(Path(root))))


def main():
    root = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).resolve().parent.parent)
    counts = named_by(texts(root))
    problems = sentences(counts)
    print("\n".join(problems + [f"Operators: {len(problems)} wrong."]) if problems else
          f"Operators: {len(counts)} stand in their folders; at most "
          f"{max(map(len, counts.values()), default=0)} other files name one.")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
