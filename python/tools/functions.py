#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the bindings of the functions on expressions: functions.py include/linnet/functions.h OUT.cpp

Python's functions are those of the header, with its names, defaults and docstrings; options that are a struct there
are arguments here."""
import re
import sys
from pathlib import Path

# C++'s parameter: the type that Python's argument has, and the value that is made of it.
TYPES = {
    "const Expression&": ("const Traced&", "{}.get()"),
    "const std::vector<Expression>&": ("const std::vector<Traced>&", "expressions_of({})"),
    "Axes": ("const AxesArg&", "axes_of({})"),
    "const Axes&": ("const Dims&", "{}"),
    "const std::vector<std::int64_t>&": ("const Dims&", "{}"),
    "Shape": ("const ShapeArg&", "shape_of({})"),
    "const Shape&": ("const ShapeArg&", "shape_of({})"),
    "Size2d": ("const SizeArg&", "size_of({})"),
    "Padding2d": ("const PaddingArg&", "padding_of({})"),
    **{plain: (plain, "{}") for plain in ("bool", "double", "std::int64_t", "std::string_view")},
}
DEFAULTS = {("Axes", "{}"): "nb::none()", ("Padding2d", "{}"): '"valid"'}
PARAMETER = re.compile(r"^(?P<type>.+?)\s*\b(?P<name>\w+)(?: = (?P<default>.+))?$", re.DOTALL)


def parameter(text):
    """(type, name, default or None) of `std::int64_t axis = -1`."""
    return PARAMETER.match(" ".join(text.split())).group("type", "name", "default")


def functions(header):
    """Yields (result, name, [(type, name, default)]) of every function, and {struct: its fields}."""
    code = re.sub(r"//[^\n]*", "", header)
    code = code[code.index("using Axes"):]  # after class Expression
    structs = {name: [parameter(field) for field in body.split(";") if field.strip()]
               for name, body in re.findall(r"^struct (\w+) \{(.*?)^\};", code, re.MULTILINE | re.DOTALL)}
    found = re.findall(r"^(Expression|std::vector<Expression>) (\w+)\(([^;]*)\);", code, re.MULTILINE)
    return [(result, name, [parameter(one) for one in parameters.split(",")])
            for result, name, parameters in found if name != "operator"], structs


def argument(kind, name, default):
    """(parameter of the lambda, value for C++, nb::arg) of one parameter."""
    taken, value = TYPES[kind]
    if default == "kToEnd":
        return f"std::optional<{kind}> {name}", f"{name}.value_or(kToEnd)", f'nb::arg("{name}") = nb::none()'
    stated = "" if default is None else f" = {DEFAULTS.get((kind, default), default)}"
    return f"{taken} {name}", value.format(name), f'nb::arg("{name}"){stated}'


def binding(name, parameters, structs, documented):
    taken, values, arguments = [], [], []
    for kind, parameter_name, default in parameters:
        options = structs.get(kind.removeprefix("const ").removesuffix("&"))
        each = [argument(*one) for one in options or [(kind, parameter_name, default)]]
        made = ", ".join(value for _, value, _ in each)
        taken += [one for one, _, _ in each]
        values.append(f"{{{made}}}" if options else made)
        arguments += [one for _, _, one in each]
    first = next(f"first_of({n})" if "vector" in kind else n for kind, n, _ in parameters if "Expression" in kind)
    doc = f', doc("{name}")' if documented else ""
    return (f'  m.def("{name}",\n        []({", ".join(taken)}) {{\n'
            f'          return {first}.with({name}({", ".join(values)}));\n        }},\n'
            f'        {", ".join(arguments)}{doc});\n')


def bindings(header):
    """The text of the C++ file."""
    found, structs = functions(header)
    seen, text = set(), ""
    for _, name, parameters in found:
        text += binding(name, parameters, structs, name not in seen)
        seen.add(name)
    return f"""// Written by python/tools/functions.py.
#include <linnet/functions.h>
#include <nanobind/stl/string_view.h>

#include "bind.h"
#include "docstrings.h"
#include "expressions.h"
#include "shapes.h"

namespace linnet::python {{

void bind_functions(nb::module_& m) {{
{text}}}

}}  // namespace linnet::python
"""


def main(header, out):
    Path(out).write_text(bindings(Path(header).read_text()))


if __name__ == "__main__":
    main(*sys.argv[1:])
