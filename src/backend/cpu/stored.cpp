// SPDX-License-Identifier: Apache-2.0
#include "backend/cpu/stored.h"

#include "backend/cpu/bf16.h"

namespace linnet::cpu {

const float* Stored::read(const void* from, std::int64_t first, std::int64_t count,
                          float* block) const {
  if (!bf16_) return static_cast<const float*>(from) + first;
  widen_bf16(static_cast<const std::uint16_t*>(from) + first, count, block);
  return block;
}

float* Stored::target(void* to, std::int64_t first, float* block) const {
  return bf16_ ? block : static_cast<float*>(to) + first;
}

void Stored::write(const float* block, std::int64_t count, void* to, std::int64_t first) const {
  if (bf16_) round_to_bf16(block, count, static_cast<std::uint16_t*>(to) + first);
}

bool stores_bf16(const NodeView& node) {
  const auto is_bf16 = [](const ValueType& type) { return type.dtype == DType::bf16; };
  return std::ranges::any_of(node.inputs, is_bf16) || std::ranges::any_of(node.outputs, is_bf16);
}

bool stores_only(const NodeView& node, std::initializer_list<std::size_t> inputs,
                 std::initializer_list<std::size_t> outputs) {
  const auto fits = [](std::span<const ValueType> types,
                       std::initializer_list<std::size_t> stored) {
    for (std::size_t i = 0; i < types.size(); ++i) {
      if (types[i].dtype == DType::bf16 && std::ranges::find(stored, i) == stored.end()) {
        return false;
      }
    }
    return true;
  };
  return fits(node.inputs, inputs) && fits(node.outputs, outputs);
}

std::optional<Stored> stored_alike(const NodeView& node, std::initializer_list<std::size_t> inputs,
                                   std::initializer_list<std::size_t> outputs) {
  const DType dtype = node.inputs[*inputs.begin()].dtype;
  const auto alike = [&](std::span<const ValueType> types,
                         std::initializer_list<std::size_t> stored) {
    return std::ranges::all_of(stored, [&](std::size_t i) {
      return i >= types.size() || types[i].dtype == dtype;
    });
  };
  if (!alike(node.inputs, inputs) || !alike(node.outputs, outputs)) return std::nullopt;
  if (!stores_only(node, inputs, outputs)) return std::nullopt;
  return Stored(node.inputs[*inputs.begin()]);
}

bool is_of_one_type(const NodeView& node) {
  const DType dtype = node.outputs.front().dtype;
  const auto same = [&](const ValueType& type) { return type.dtype == dtype; };
  return std::ranges::all_of(node.inputs, same) && std::ranges::all_of(node.outputs, same);
}

}  // namespace linnet::cpu
