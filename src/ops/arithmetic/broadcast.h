// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "graph/value.h"

namespace linnet {

/// Describes how the second operand is repeated along the first: a is (outer, own, repeat, inner),
/// b is (own, inner).
struct Broadcast {
  std::int64_t outer = 1;
  std::int64_t own = 1;
  std::int64_t repeat = 1;
  std::int64_t inner = 1;
};

/// Returns whether b has an axis that lies under a's axis `axis`, of the same dimension.
inline bool has_axis(const Shape& a, const Shape& b, std::size_t axis) {
  const std::size_t missing = a.rank() - b.rank();
  return axis >= missing && b.dims()[axis - missing] == a.dims()[axis];
}

/// Empty unless b's axes, beginning with the last, are a's or of dimension 1, with no more than one
/// run of repeated axes between its own.
inline std::optional<Broadcast> broadcast(const Shape& a, const Shape& b) {
  if (b.rank() > a.rank()) return std::nullopt;
  const std::size_t missing = a.rank() - b.rank();
  std::array<std::int64_t, 4> dims{1, 1, 1, 1};  // inner, repeat, own, outer
  std::size_t run = 0;
  for (std::size_t i = a.rank(); i-- > 0;) {
    const std::int64_t dim = a.dims()[i];
    const bool own = has_axis(a, b, i);
    if (!own && i >= missing && b.dims()[i - missing] != 1) return std::nullopt;
    if (dim == 1) continue;
    if (own == (run % 2 == 1)) ++run;
    if (run == dims.size()) return std::nullopt;
    dims[run] *= dim;
  }
  const auto [inner, repeat, own, outer] = dims;
  if (run > 1) return Broadcast{outer, own, repeat, inner};
  if (inner == 1) return Broadcast{1, 1, repeat, 1};  // one number for all
  return Broadcast{repeat, 1, 1, inner};
}

}  // namespace linnet
