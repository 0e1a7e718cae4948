#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes what follows from the extension module: generate.py FOLDER, where _linnet lies.

layers.py, optimizers.py and schedules.py hold a class for each description of the library (src/describe/),
_linnet/*.pyi the types of all else."""
import importlib
import keyword
import re
import sys
import textwrap
from pathlib import Path

HEAD = '''# SPDX-License-Identifier: Apache-2.0
"""{doc} Written by python/tools/generate.py from the library's descriptions."""
from __future__ import annotations

from typing import Any, Literal, Mapping, Sequence, Union

from ._linnet import {base} as _Base
from ._spelling import spelled as _spelled
{more}
'''
INTEGERS = {"an integer": "int",
            "a number": "float",
            "a string": "str",
            "true or false": "bool",
            "a string or an array of strings": "Union[str, Sequence[str]]",
            "an array of integers": "Union[int, Sequence[int]]",
            "a number or an array of numbers": "Union[float, Sequence[float]]",
            "an integer or [height, width]": "Union[int, Sequence[int]]",
            "an integer or [depth, height, width]": "Union[int, Sequence[int]]",
            '"same", "valid", an integer or [top, bottom, left, right]': "Union[int, str, Sequence[int]]",
            '"same", "valid", an integer or [front, back, top, bottom, left, right]': "Union[int, str, Sequence[int]]",
            "a number or the name of an initializer": "Union[float, str, Mapping[str, float]]",
            "a layer": "_Base",
            "an array of layers": "Sequence[_Base]",
            "an array of arrays of layers": "Sequence[Sequence[_Base]]"}


# What python/src/errors.cpp sets, which nanobind's stubs do not show.
ERROR_FIELDS = {"OutOfMemory": "\n    wanted: int\n    free: int\n", "RankError": "\n    rank: int\n"}


# The names of signatures, and where they come from; python/linnet/typing.py says what they are.
ALIASES = {"Array ArrayLike DTypeLike Data PathLike": "linnet.typing",
           "Callback FleetCallback": "linnet.callbacks",
           "Dataset Layer Network Splits": "linnet._linnet",
           "Callable Iterator Mapping Sequence": "collections.abc",
           "Any Literal SupportsIndex": "typing",
           "builtins": ""}


def type_of(text):
    if text in INTEGERS:
        return INTEGERS[text]
    if text.startswith("a layer ("):
        return "_Base"
    names = re.findall(r'"([^"]*)"', text)
    if names:
        return f"Literal[{', '.join(map(repr, names))}]"
    raise SystemExit(f"generate.py knows no Python type for a field that is {text}")


def value_of(field):
    """The default as a signature shows it; what is made of layers is left to the library: None."""
    value = field["default"]
    if "layer" in field["type"]:
        return "()" if isinstance(value, list) else "None"
    return repr(tuple(value) if isinstance(value, list) else value)


def python_text(text):
    text = re.sub(r"\bThrows\b", "Raises", text)
    text = re.sub(r"\bthrows\b", "raises", text)
    return re.sub(r"\b(\w+)::(?=[A-Za-z])", lambda m: "" if m[1] == "std" else m[1] + ".", text)


def docstring(page, indent):
    lines = textwrap.wrap(python_text(page["doc"]), 96)
    if "shapes" in page:
        lines += ["", f"Shapes: {page['shapes']}"]
    if page["fields"]:
        lines += ["", "Arguments:"]
        for field in page["fields"]:
            text = python_text(f"{field['key']}: {field['doc']}")
            if field["type"].startswith('"same", "valid"'):
                text += '; also "same", "valid" or ' + re.sub(r".*\[(.*)\]", r"(\1)", field["type"])
            if "initializer" in field["type"]:
                text += "; a number, or the name of an initializer, e.g. 'he_normal'"
            lines += textwrap.wrap(text, 94, initial_indent="  ", subsequent_indent="      ")
    text = "\n".join(lines).replace("\\", "\\\\").replace('"""', '\\"\\"\\"')
    return textwrap.indent(f'"""{text}\n"""', indent, lambda line: bool(line.strip()))


def class_of(page):
    fields = sorted(page["fields"], key=lambda field: not field["required"])
    parameters, types = [], []
    for field in fields:
        kind = type_of(field["type"])
        default = value_of(field)
        if default == "None" and not field["required"]:
            kind = f"Union[{kind}, None]"
        parameters.append(f"{field['key']}: {kind}" + ("" if field["required"] else f" = {default}"))
        types.append(f"    {field['key']}: {type_of(field['type'])}")
    assert not any(keyword.iskeyword(field["key"]) for field in fields)
    named = ", ".join(f'"{field["key"]}": {field["key"]}' for field in fields)
    out = f"\n\nclass {page['name']}(_Base):\n{docstring(page, '    ')}\n\n"
    if types:
        out += "\n".join(types) + "\n\n"
    out += f"    @_spelled\n    def __init__({', '.join(['self', *parameters])}) -> None:\n"
    out += f'        super().__init__("{page["kind"]}", {{{named}}})\n'
    taken = ", ".join(f"self.{field['key']}" for field in fields)
    out += "\n    def __reduce__(self) -> tuple[Any, ...]:\n"
    out += f"        return type(self), ({taken}{',' if len(fields) == 1 else ''})\n"
    return out


def write(path, doc, base, pages, more=""):
    names = sorted(page["name"] for page in pages)
    text = HEAD.format(doc=doc, base=base, more=more)
    text += "\n__all__ = [" + ", ".join(f'"{name}"' for name in names) + "]\n"
    text += "".join(class_of(page) for page in pages)
    path.write_text(text)


def typed(text):
    """Mends what mypy --strict refuses in nanobind's stubs."""
    def line(one):
        if not re.match(r"\s*(def|import|[\w.]+\s*[:=])", one):
            return one
        one = re.sub(r"\bdict\b(?!\[)", "dict[str, Any]", one)
        one = re.sub(r"os\.PathLike(?!\[)", "os.PathLike[str]", one)
        one = one.replace("types.CapsuleType", "object")  # new in Python 3.13
        if "__getitem__" in one:
            one = re.sub(r"\bslice\b", "builtins.slice", one)  # the module has a function slice()
        return one
    text = "\n".join(map(line, text.splitlines())) + "\n"
    # Tensor has a method numpy().
    text = text.replace("numpy.typing.", "_numpy.").replace("import numpy.typing\n", "import numpy.typing as _numpy\n")
    for names, module in ALIASES.items():
        used = [name for name in names.split() if re.search(rf"(?<![.\w]){name}\b(?!\()", text)
                and not re.search(rf"^(from .* )?import .*\b{name}\b|^class {name}\b", text, re.M)]
        if used:
            line = f"from {module} import {', '.join(used)}" if module else f"import {', '.join(used)}"
            text = text.replace("\n\n", f"\n\n{line}\n", 1)
    return text


def stub(module, path):
    from nanobind.stubgen import StubGen
    made = StubGen(module=module, recursive=False)
    made.put(module)
    text = made.get()
    if hasattr(module, "__version__"):
        text += "\n__version__: str\n"
    for name, fields in ERROR_FIELDS.items():
        text = re.sub(rf'(class {name}\(.*\n    """[^"]*"""\n)', rf"\1{fields}", text)
    path.parent.mkdir(exist_ok=True)
    text = typed(text)
    # Types should know what an expression has; this one raises for all else.
    text = re.sub(r"\n    def __getattr__\(self, name: str\) -> .*NoReturn: \.\.\.\n", "", text)
    path.write_text(text)


def main(folder):
    folder = Path(folder)
    sys.path.insert(0, str(folder.parent))
    sys.modules.pop("linnet", None)
    module = importlib.import_module("linnet._linnet")
    write(folder / "layers.py", "The layers.", "Layer", module._layers())
    write(folder / "optimizers.py", "The optimizers.", "Optimizer", module._optimizers())
    write(folder / "schedules.py", "The learning-rate schedules.", "Schedule", module._schedules())
    for error in vars(module).values():
        if isinstance(error, type) and issubclass(error, Exception):
            error.__module__ = module.__name__  # it is called linnet.Error elsewhere
    stub(module, folder / "_linnet" / "__init__.pyi")
    for name in ("datasets", "zoo"):
        stub(getattr(module, name), folder / "_linnet" / f"{name}.pyi")


if __name__ == "__main__":
    main(*sys.argv[1:])
