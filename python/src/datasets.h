// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/dataset.h>
#include <nanobind/nanobind.h>

#include <string_view>

#include "options.h"

namespace linnet::python {

/// What calls take as data: a Dataset or Batch, (inputs, targets), or inputs alone; inputs and
/// targets are an array or a mapping of names to arrays. No array that the library can hold is
/// copied.
class DataLike : public nb::object {
  NB_OBJECT_DEFAULT(DataLike, nb::object, "Data", is_data)
  static bool is_data(PyObject* object) { return object != Py_None; }
};

Dataset dataset_of(nb::handle data);

template <>
struct Convert<Dataset> {
  static std::string type() { return std::string(DataLike::Name.text) + " | None"; }
  static Dataset from(nb::handle value, const Place& /*place*/) {
    return value.is_none() ? Dataset() : dataset_of(value);
  }
  static nb::object to(const Dataset& value) {
    return value.size() == 0 ? nb::object(nb::none()) : nb::cast(value);
  }
};

}  // namespace linnet::python
