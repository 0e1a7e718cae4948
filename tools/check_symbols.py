#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Shows every symbol of liblinnet.so that include/linnet does not declare: check_symbols.py LIBRARY.

A program that used one would break with the next version, and no page would have said so.
"""
import re
import subprocess
import sys
from pathlib import Path

DECLARED = re.compile(r"\b(?:class|struct|enum class)\s+(\w+)[^;{]*\{|\b(\w+)\s*\(|\b(k[A-Z]\w*)\b")


def declared(include):
    """The names that the public headers define or declare: types with a body, functions, constants."""
    names = set()
    for path in sorted(Path(include).rglob("*.h")):
        code = re.sub(r"//[^\n]*", "", path.read_text())
        names.update(name for groups in DECLARED.findall(code) for name in groups if name)
    return names


def owner(symbol):
    """The first name below namespace linnet that a demangled symbol belongs to."""
    symbol = re.sub(r"^(?:vtable|typeinfo|typeinfo name|VTT|guard variable) for ", "", symbol)
    symbol = re.sub(r"\[abi:\w+\]", "", symbol)
    found = re.search(r"linnet::(?:zoo::|datasets::)?(operator\b|~?\w+)", re.sub(r"\(.*", "", symbol) or symbol)
    return found.group(1) if found else symbol


def check(library, include):
    """The sentences about everything that is wrong."""
    command = ["nm", "-DC", "--defined-only", str(library)]
    listed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    names = declared(include) | {"operator"}
    symbols = [line.split(None, 2)[2] for line in listed.splitlines() if "linnet::" in line]
    if not symbols:
        return [f"{library}: it shows nothing"]
    return [f"{Path(library).name} shows '{symbol}', which include/linnet does not declare"
            for symbol in sorted(set(symbols)) if owner(symbol.split("@@")[0]) not in names]


def main():
    root = Path(__file__).resolve().parent.parent
    problems = check(sys.argv[1], root / "include/linnet")
    print("\n".join(problems + [f"Symbols: {len(problems)} wrong."]) if problems
          else "Symbols: the public API alone.")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
