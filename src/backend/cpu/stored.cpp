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

}  // namespace linnet::cpu
