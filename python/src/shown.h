// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>
#include <nanobind/nanobind.h>

#include "docstrings.h"

namespace nb = nanobind;

namespace linnet::python {

/// Lets a function of linnet/_notebook.py say how an object looks: `name` is "_repr_html_" or
/// "__repr__".
template <class C>
void shown(C& c, const char* name, const char* function) {
  c.def(
      name,
      [function](const nb::object& self) {
        return nb::module_::import_("linnet._notebook").attr(function)(self);
      },
      nb::sig(keep(fmt::format("def {}(self) -> str", name))));
}

}  // namespace linnet::python
