// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

namespace linnet::cuda {

inline constexpr std::size_t kMaxGroups = 16;

/// Groups of axes as a kernel's parameter, the fastest first.
struct GroupAxes {
  std::int64_t dim[kMaxGroups] = {};
  std::int64_t stride[kMaxGroups] = {};
  int count = 0;

  void add(std::int64_t axis_dim, std::int64_t axis_stride) {
    dim[count] = axis_dim;
    stride[count++] = axis_stride;
  }
  constexpr std::int64_t product() const {
    std::int64_t total = 1;
    for (int k = 0; k < count; ++k) total *= dim[k];
    return total;
  }
  /// Returns where index i stands; divides in the type of i.
  template <class Int>
  constexpr std::int64_t place(Int i) const {
    std::int64_t at = 0;
    for (int k = 0; k < count; ++k) {
      const Int next = k == count - 1 ? 0 : i / static_cast<Int>(dim[k]);
      at += (i - next * static_cast<Int>(dim[k])) * stride[k];
      i = next;
    }
    return at;
  }
};

}  // namespace linnet::cuda
