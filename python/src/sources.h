// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/dataset.h>
#include <linnet/record_source.h>
#include <nanobind/nanobind.h>

#include <memory>
#include <string>

#include "shapes.h"
#include "tensors.h"

// Records that functions of Python make. Several threads of the library call them, one at a time.
namespace linnet::python {

struct Source {
  std::shared_ptr<const RecordSource> source;
};

Dataset map_column(const Dataset& data, const std::string& column, const nb::callable& function,
                   const ShapeArg& record, const DTypeLike& dtype, std::uint64_t seed);
void bind_sources(nb::module_& m);

}  // namespace linnet::python
