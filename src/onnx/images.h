// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/functions.h>

#include <array>
#include <cstdint>
#include <vector>

#include "onnx/node_import.h"

namespace linnet::onnx {

using Pair = std::array<std::int64_t, 2>;

/// Says which of a node's axes are the rows and the columns of images; -1: none, which is one row.
struct Axes2 {
  std::size_t count = 2;
  std::array<int, 2> of{0, 1};
};
inline constexpr Axes2 kSequence{1, {-1, 0}};

/// Images, sequences as images of one row, or volumes: (rows, H, W, C) or (rows, D, H, W, C).
struct Images {
  Trace t;
  Axes2 axes;
  std::vector<int> order;
  Expression e;
  Pair size{};  ///< of an image, or of a plane
  std::int64_t channels = 0;

  bool sequence() const { return axes.count == 1; }
  bool volumes() const { return axes.count == 3; }
  /// Returns the result, whose rows and columns may have other numbers.
  Trace back(const Expression& y) const {
    const Shape s = y.shape();
    return from_rows(t, sequence() ? reshape(y, {s[1], s[2]}) : y, order, 0);
  }
};

/// Returns a node's first operand. Throws DataError unless a window moves along one to `most` axes
/// of it.
Images images_of(NodeImport& n, std::size_t most = 2);

}  // namespace linnet::onnx
