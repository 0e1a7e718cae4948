// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/tables.h>
#include <nanobind/nanobind.h>

namespace nb = nanobind;

namespace linnet::python {

/// A table as calls take it: a Table, a path, or a frame of pandas, polars or pyarrow.
Table table_of(nb::handle value);

}  // namespace linnet::python
