// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/layers/settings.h>
#include <linnet/types.h>
#include <nanobind/nanobind.h>
#include <nanobind/stl/array.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/check.h"

namespace nb = nanobind;

// How Python writes shapes, sizes and paddings.
namespace linnet::python {

using Dims = std::vector<std::int64_t>;
using ShapeArg = std::variant<std::int64_t, Dims>;
using AxesArg = std::optional<std::variant<std::int64_t, Dims>>;
using SizeArg = std::variant<std::int64_t, std::array<std::int64_t, 2>>;
using PaddingArg = std::variant<std::int64_t, std::string, std::array<std::int64_t, 4>>;

inline Shape shape_of(const ShapeArg& shape) {
  if (const auto* dim = std::get_if<std::int64_t>(&shape)) return {*dim};
  return Shape(std::get<Dims>(shape));
}

inline Dims axes_of(const AxesArg& axes) {
  if (!axes) return {};
  if (const auto* axis = std::get_if<std::int64_t>(&*axes)) return {*axis};
  return std::get<Dims>(*axes);
}

inline Size2d size_of(const SizeArg& size) {
  if (const auto* both = std::get_if<std::int64_t>(&size)) return *both;
  const auto& [height, width] = std::get<1>(size);
  return {height, width};
}

inline Padding2d padding_of(const PaddingArg& padding) {
  if (const auto* all = std::get_if<std::int64_t>(&padding)) return Padding2d::all(*all);
  if (const auto* name = std::get_if<std::string>(&padding)) {
    require(*name == "same" || *name == "valid",
            "expected padding to be 'same', 'valid', an int or 4 of them; got '{}'", *name);
    return *name == "same" ? Padding2d::same() : Padding2d::valid();
  }
  const auto& sides = std::get<2>(padding);
  return {Padding2d::Mode::fixed, sides[0], sides[1], sides[2], sides[3]};
}

inline nb::tuple tuple_of(const Shape& shape) {
  nb::list dims;
  for (const std::int64_t dim : shape.dims()) dims.append(dim);
  return nb::tuple(dims);
}

}  // namespace linnet::python
