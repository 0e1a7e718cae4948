// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>

#include "runtime/stored_types.h"

namespace linnet::cpu {

/// Widens bfloat16s to floats.
void widen_bf16(const std::uint16_t* from, std::int64_t count, float* to);

/// How an activation lies in memory: as floats, which kernels read and write there, or as
/// bfloat16s, which they widen and round block by block in scratch memory that stays in a cache.
class Stored {
 public:
  Stored() = default;
  explicit Stored(const ValueType& type) : bf16_(type.dtype == DType::bf16) {}

  bool bf16() const { return bf16_; }
  /// Returns `count` elements from `first` on: as they lie there, or widened into `block`.
  const float* read(const void* from, std::int64_t first, std::int64_t count, float* block) const;
  /// Returns where elements from `first` on are to be written: there, or `block`, which write()
  /// then rounds.
  float* target(void* to, std::int64_t first, float* block) const;
  void write(const float* block, std::int64_t count, void* to, std::int64_t first) const;

 private:
  bool bf16_ = false;
};

/// Floats of a block: operands and result of it fit into the L1 cache.
inline constexpr std::int64_t kStoredBlock = 2048;

/// Returns how many rows of so many columns a block has, at least 1.
constexpr std::int64_t stored_rows(std::int64_t columns) {
  return std::max<std::int64_t>(kStoredBlock / std::max<std::int64_t>(columns, 1), 1);
}

/// Returns how these, of which some may be missing, are stored, where they are all stored alike and
/// the others are not bfloat16s.
inline std::optional<Stored> stored_alike(const NodeView& node,
                                          std::initializer_list<std::size_t> inputs,
                                          std::initializer_list<std::size_t> outputs) {
  if (!stored_type(node, inputs, outputs)) return std::nullopt;
  return Stored(node.inputs[*inputs.begin()]);
}

}  // namespace linnet::cpu
