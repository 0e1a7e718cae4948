#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the docstrings of public headers as a C++ table: docstrings.py FOLDER OUT.cpp

Python's docstrings are those of the C++ API, which stand in include/linnet alone. The table's names
are "Model.predict", "FitOptions.epochs", "relu", "zoo.resnet18"; of overloads the first one counts."""
import re
import sys
import textwrap
from pathlib import Path

SCOPE = re.compile(r"^(?:inline )?(?:namespace|struct|class|enum class)\s+([\w:]+)?")
FUNCTION = re.compile(r"(operator[^\s(]+|~?\w+)\s*\(")
FIELD = re.compile(r"(\w+)\s*(?:=.*|\{.*)?[;,]?\s*(?:///<.*)?$")


def in_python(text):
    """Says in Python's words what the header says in those of C++."""
    text = re.sub(r"@code.*?@endcode", "", text, flags=re.DOTALL)
    text = re.sub(r"@\w+ ?", "", text)
    text = re.sub(r"\bThrows\b", "Raises", text)
    text = re.sub(r"\bthrows\b", "raises", text)
    text = re.sub(r"\bthrow\b", "raise", text)
    text = re.sub(r"\b(\w+)::(?=[A-Za-z])", lambda m: "" if m[1] == "std" else m[1] + ".", text)
    text = text.replace("std::", "")
    for cpp, python in (("true", "True"), ("false", "False")):
        text = re.sub(rf"(?<=[ =`]){cpp}(?=[:`])", python, text)
    return re.sub(r"\s+", " ", text).strip()


def join(lines):
    return in_python("\n".join(lines))


class Reader:
    def __init__(self):
        self.docs = {}
        self.scopes = []  # (name, depth of its braces)
        self.depth = 0

    def name(self, last):
        names = [name for name, _ in self.scopes if name and name != "linnet"]
        return ".".join([part for name in names for part in name.split("::") if part != "linnet"] + [last])

    def add(self, last, text):
        if text:
            self.docs.setdefault(self.name(last), text)

    def read(self, text):
        before, declaration, hidden, last_field = [], "", False, None
        for raw in text.splitlines():
            line = raw.strip()
            if "@cond" in line:
                hidden = True
            if "@endcond" in line:
                hidden = False
                before = []
                continue
            if hidden or line.startswith("#") or line.startswith("LINNET_API"):
                if not line.startswith("//"):
                    self.braces(line)
                continue
            if line.startswith("///<"):  # goes on with the line above
                if last_field:
                    name = self.name(last_field)
                    self.docs[name] = (self.docs.get(name, "") + " " + in_python(line[4:])).strip()
                continue
            if line.startswith("///"):
                before.append(line[3:].strip())
                continue
            if line.startswith("//") or not line:
                if not line and not declaration:
                    before = []
                continue
            line = re.sub(r"\s+//(?!/<).*", "", line)  # "}  // namespace linnet"
            declaration += (" " if declaration else "") + line
            if not self.complete(declaration):
                continue
            last_field = self.declare(declaration, before)
            declaration, before = "", []

    @staticmethod
    def complete(text):
        code = text.split("///<")[0].rstrip()
        if SCOPE.match(code) or code.startswith(("public:", "private:")):
            return code.endswith(("{", ";", ":", "}"))
        if code.count("(") != code.count(")"):
            return False
        return code.endswith((";", "{", "}", ",")) or "///<" in text

    def declare(self, text, before):
        code, _, after = text.partition("///<")
        code = code.strip()
        doc = join(before) or in_python(after)
        found = SCOPE.match(code)
        field = None
        alias = re.match(r"using (\w+) =", code)
        if alias:
            self.add(alias[1], doc)
        elif found and code.endswith("{"):
            if doc and found[1]:
                self.add(found[1].split("::")[-1], doc)
            self.scopes.append((found[1], self.depth))
        elif found and code.endswith(("{}", "{};")):
            self.add(found[1], doc)
        elif found and code.endswith("};") and code.startswith("enum"):
            self.add(found[1], doc)
        else:
            plain = re.sub(r"<[^<>]*(<[^<>]*>[^<>]*)*>", "", code)  # templates' arguments
            function = FUNCTION.search(plain.split("=")[0] if "operator" not in plain else plain)
            if function and "requires" not in plain:
                self.add(function[1], doc)
            else:
                stated = FIELD.search(plain.rstrip())
                if stated and not code.startswith(("using", "friend", "}", "public", "private")):
                    words = re.split(r"[=;,{(]", plain)[0].split()
                    field = words[-1] if words else None
                    if field:
                        self.add(field, doc)
        self.braces(code)
        return field

    def braces(self, code):
        for c in re.sub(r'"[^"]*"|\'[^\']*\'', "", code):
            if c == "{":
                self.depth += 1
            elif c == "}":
                self.depth -= 1
                while self.scopes and self.scopes[-1][1] >= self.depth:
                    self.scopes.pop()


def table(docs):
    rows = "".join(f'    {{"{name}",\n     R"__doc({text})__doc"}},\n' for name, text in sorted(docs.items()))
    return textwrap.dedent("""\
        // Written by python/tools/docstrings.py.
        #include "docstrings.h"

        namespace linnet::python {

        std::span<const Docstring> docstrings() {
          static constexpr Docstring kAll[]{
        """) + rows + "  };\n  return kAll;\n}\n\n}  // namespace linnet::python\n"


def main(folder, out):
    reader = Reader()
    headers = sorted(Path(folder).glob("*.h"))
    for header in headers:
        reader.scopes, reader.depth = [], 0
        reader.read(header.read_text())
    Path(out).write_text(table(reader.docs))
    Path(out + ".d").write_text(f"{out}: {' '.join(map(str, headers))}\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
