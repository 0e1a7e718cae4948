#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Shows every symbol of liblinnet.so that include/linnet does not declare: check_symbols.py LIBRARY.

A program that used one would break with the next version, and no page would have said so. It also compares the
functions of the C interface with linnet/c_api.h: each has the symbol version LINNET_C_1, or a later one.
"""
import re
import subprocess
import sys
from pathlib import Path

DECLARED = re.compile(r"\b(?:class|struct|enum class)\s+(\w+)[^;{]*\{|\b(\w+)\s*\(|\b(k[A-Z]\w*)\b")
C_FUNCTION = re.compile(r"^LINNET_C_API [^(]*?(\w+)\(", re.MULTILINE)


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


def c_faults(name, shown, header):
    """The sentences on functions of C: `shown` are the library's symbols, with their versions."""
    wanted = set(C_FUNCTION.findall(header))
    found = {}
    for symbol in shown:
        function, _, version = symbol.partition("@@")
        if re.fullmatch(r"linnet_\w+", function):
            found[function] = version
    for function in sorted(wanted - found.keys()):
        yield f"{name} lacks '{function}' of linnet/c_api.h; name it in cmake/linnet_symbols.map.in"
    for function in sorted(found.keys() - wanted):
        yield f"{name} shows '{function}', which linnet/c_api.h does not declare"
    for function, version in sorted(found.items()):
        if not re.fullmatch(r"LINNET_C_\d+", version):
            yield f"{name} shows '{function}' with the version '{version}'; expected LINNET_C_1 or a later one"


def check(library, include):
    """The sentences about everything that is wrong."""
    command = ["nm", "-DC", "--defined-only", str(library)]
    listed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    names = declared(include) | {"operator"}
    shown = [line.split(None, 2)[2] for line in listed.splitlines() if len(line.split(None, 2)) == 3]
    symbols = [symbol for symbol in shown if "linnet::" in symbol]
    if not symbols:
        return [f"{library}: it shows nothing"]
    name = Path(library).name
    return [f"{name} shows '{symbol}', which include/linnet does not declare"
            for symbol in sorted(set(symbols)) if owner(symbol.split("@@")[0]) not in names] + \
        list(c_faults(name, shown, Path(include, "c_api.h").read_text(encoding="utf-8")))


def main():
    root = Path(__file__).resolve().parent.parent
    problems = check(sys.argv[1], root / "include/linnet")
    print("\n".join(problems + [f"Symbols: {len(problems)} wrong."]) if problems
          else "Symbols: the public API alone.")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
