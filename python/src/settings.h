// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nanobind/nanobind.h>

#include <string>

#include "describe/setting.h"

namespace nb = nanobind;

// What layers, optimizers and schedules are described by (src/describe/) as objects of Python.
namespace linnet::python {

/// Returns a value of Python as a setting. Throws TypeError naming `what` for a type that no
/// setting has.
Setting setting_of(nb::handle value, const std::string& what, int depth = 0);
nb::object object_of(const Setting& setting);

/// Returns the keyword arguments as a table; None stands for the default.
SettingTable table_of(const nb::dict& arguments, const std::string& what, int depth = 0);

}  // namespace linnet::python
