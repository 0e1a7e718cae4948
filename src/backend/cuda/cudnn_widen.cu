// SPDX-License-Identifier: Apache-2.0
#include "backend/cuda/bf16.cuh"
#include "backend/cuda/cudnn_widen.h"

namespace linnet::cuda {
namespace {

/// Returns the two halves of a word.
__device__ float2 widened(std::uint32_t pair) {
  return make_float2(from_bf16(static_cast<std::uint16_t>(pair & 0xFFFFU)),
                     from_bf16(static_cast<std::uint16_t>(pair >> 16)));
}

__global__ void widen_kernel(const std::uint16_t* from, float* to, std::int64_t elements) {
  const std::int64_t fours = elements / 4;
  for (std::int64_t i = first_item(); i < fours; i += grid_stride()) {
    const uint2 words = reinterpret_cast<const uint2*>(from)[i];
    const float2 low = widened(words.x);
    const float2 high = widened(words.y);
    reinterpret_cast<float4*>(to)[i] = make_float4(low.x, low.y, high.x, high.y);
  }
  const std::int64_t rest = 4 * fours + first_item();
  if (rest < elements) to[rest] = from_bf16(from[rest]);
}

}  // namespace

void enqueue_widening(const Queue& stream, const void* from, float* to, std::int64_t elements) {
  if (elements == 0) return;
  launch(stream, "widen_bf16", for_items((elements + 3) / 4), widen_kernel,
         static_cast<const std::uint16_t*>(from), to, elements);
}

}  // namespace linnet::cuda
