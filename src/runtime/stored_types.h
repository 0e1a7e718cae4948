// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <initializer_list>
#include <optional>

#include "runtime/node_view.h"

// How the operands of a node lie in memory where a pass has stored some in 16 bits (store_bf16,
// store_f16).
namespace linnet {

/// Returns whether values are stored in 16 bits of one of the two kinds.
constexpr bool is_half(DType dtype) { return dtype == DType::bf16 || dtype == DType::f16; }

/// Returns whether any of a node's operands and results is stored as this.
inline bool stores(const NodeView& node, DType dtype) {
  const auto is = [dtype](const ValueType& type) { return type.dtype == dtype; };
  return std::ranges::any_of(node.inputs, is) || std::ranges::any_of(node.outputs, is);
}
inline bool stores_bf16(const NodeView& node) { return stores(node, DType::bf16); }
inline bool stores_half(const NodeView& node) {
  return stores_bf16(node) || stores(node, DType::f16);
}

/// Returns whether none but these are: weights, statistics and losses are f32.
inline bool stores_only(const NodeView& node, std::initializer_list<std::size_t> inputs,
                        std::initializer_list<std::size_t> outputs) {
  const auto fits = [](std::span<const ValueType> types,
                       std::initializer_list<std::size_t> stored) {
    for (std::size_t i = 0; i < types.size(); ++i) {
      const bool listed = std::ranges::find(stored, i) != stored.end();
      if (is_half(types[i].dtype) && !listed) return false;
    }
    return true;
  };
  return fits(node.inputs, inputs) && fits(node.outputs, outputs);
}

/// Returns the type of these, of which some may be missing, where all have the same one and the
/// others are not in 16 bits.
inline std::optional<DType> stored_type(const NodeView& node,
                                        std::initializer_list<std::size_t> inputs,
                                        std::initializer_list<std::size_t> outputs) {
  const DType dtype = node.inputs[*inputs.begin()].dtype;
  const auto alike = [&](std::span<const ValueType> types,
                         std::initializer_list<std::size_t> stored) {
    return std::ranges::all_of(stored, [&](std::size_t i) {
      return i >= types.size() || types[i].dtype == dtype;
    });
  };
  const bool stored = alike(node.inputs, inputs) && alike(node.outputs, outputs) &&
                      stores_only(node, inputs, outputs);
  return stored ? std::optional(dtype) : std::nullopt;
}

/// Returns whether all of them are of one type.
inline bool is_of_one_type(const NodeView& node) {
  const DType dtype = node.outputs.front().dtype;
  const auto same = [&](const ValueType& type) { return type.dtype == dtype; };
  return std::ranges::all_of(node.inputs, same) && std::ranges::all_of(node.outputs, same);
}

}  // namespace linnet
