// SPDX-License-Identifier: Apache-2.0
#pragma once

// How the elements of a reduction, and of its gradient, fall to threads (fold_cuda.cuh,
// spread_cuda.cuh).
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "backend/cuda/launch.h"
#include "ops/reduce/layout.h"

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

/// Describes how a reduction's outputs and their elements fall to threads. All of it follows from
/// the shape. Where the fastest axis is reduced (in_rows), a pack is of elements of one output,
/// else it is of neighbouring outputs.
struct FoldLayout {
  GroupAxes kept;     ///< of outputs (of packs of them unless in_rows)
  GroupAxes reduced;  ///< of an output's elements (of packs of them if in_rows), met in this order
  std::int64_t outputs = 0;   ///< packs, unless in_rows
  std::int64_t elements = 0;  ///< of each; packs if in_rows
  bool in_rows = false;
  int width = 1;       ///< floats of a pack
  int members = 1;     ///< threads of a block that share an output; a power of two
  unsigned parts = 1;  ///< equal ranges of elements, one block's each

  std::int64_t slots() const { return kBlock / members; }  ///< outputs of a block at a time
  std::int64_t single_outputs() const { return in_rows ? outputs : outputs * width; }
};

/// Null for more groups than kernels take. There are parts, of which a second launch makes one,
/// only where `splits`.
std::optional<FoldLayout> fold_layout(const std::vector<ReduceGroup>& groups, bool splits = false);

/// Finds the output that each pack of an array belongs to which was reduced.
struct SpreadLayout {
  GroupAxes outputs;  ///< of packs; the stride of a reduced axis is 0
  std::int64_t items = 0;
  int width = 1;           ///< floats of a pack
  int output_of_next = 0;  ///< from one float of a pack to the next: 0 where its axis is reduced
};

/// Null where packs of `width` floats don't fit.
std::optional<SpreadLayout> spread_layout(const std::vector<ReduceGroup>& groups, int width);

}  // namespace linnet::cuda
