// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <utility>

#include "backend/cuda/column_tiles.cuh"
#include "backend/cuda/vectors.cuh"
#include "ops/activation/epilogue_cuda.cuh"
#include "ops/conv2d/geometry_cuda.h"
#include "ops/conv2d/own_plan_cuda.h"

// Convolutions of few products an output, without matrices: few channels a group, or one
// (kDepthwise: groups == C == C_out). A thread has kVector neighbouring output channels; they see
// the same input (few channels) or a channel each (depthwise).

namespace linnet::cuda {

/// Returns the input's channels that output channels o ... read.
template <int kVector, bool kDepthwise>
__device__ inline FloatVector<kVector> read_input(const float* from) {
  if constexpr (kDepthwise) {
    return load_vector<kVector>(from);
  } else {
    FloatVector<kVector> value;
#pragma unroll
    for (int v = 0; v < kVector; ++v) value[v] = *from;
    return value;
  }
}

/// Weights (taps, tile) of `count` filters from w (C_out, taps); zeros beyond.
__device__ inline void turn_weights(const float* w, int taps, int count, int tile, float* turned) {
  for (int i = static_cast<int>(threadIdx.x); i < tile * taps; i += static_cast<int>(blockDim.x)) {
    const int o = i / taps;
    turned[(i - o * taps) * tile + o] = o < count ? w[i] : 0.0F;
  }
}

/// What a thread computes: some channels of pixels from `pixel` on, a multiple of `stride` apart.
struct DirectPart {
  const float* weights;  ///< of the channels, in shared memory
  int channel;           ///< the first one
  std::int64_t pixel;
  std::int64_t stride;

  /// Every thread of the block calls it; filters w are as many as channels.
  __device__ DirectPart(const ConvGeometry& s, const float* w, int tile, int vector) {
    auto* turned = shared_memory<float>();
    const int first = static_cast<int>(blockIdx.y) * tile;
    turn_weights(w + static_cast<std::int64_t>(first) * s.taps, s.taps,
                 s.out.channels - first < tile ? s.out.channels - first : tile, tile, turned);
    __syncthreads();
    const int lanes = tile / vector;
    const int lane = static_cast<int>(threadIdx.x) % lanes;
    const int slots = static_cast<int>(blockDim.x) / lanes;
    weights = turned + lane * vector;
    channel = first + lane * vector;
    pixel = static_cast<std::int64_t>(blockIdx.x) * slots + static_cast<int>(threadIdx.x) / lanes;
    stride = static_cast<std::int64_t>(gridDim.x) * slots;
  }
};

/// y = f(x * w + b) or, kBackward, dx of a depthwise convolution's dz, x: every pixel gathers from
/// the windows that it is in. grid.y: tiles of `tile` output channels, a power of two; shared
/// memory: taps * tile floats.
template <int kVector, bool kDepthwise, bool kBackward>
__global__ void conv_direct(ConvGeometry s, const float* x, const float* w, float* y,
                            BiasAndActivation tail, int tile) {
  static_assert(kDepthwise || !kBackward);
  const ConvImages& source = s.source<kBackward>();
  const ConvImages& target = s.target<kBackward>();
  const DirectPart part(s, w, tile, kVector);
  const int o = part.channel;
  if (o >= target.channels) return;
  x += kDepthwise ? o : target.by_group.quotient(o) * source.of_group;
  const int depth = kDepthwise ? 1 : source.of_group;
  for (std::int64_t pixel = part.pixel; pixel < target.total; pixel += part.stride) {
    const ConvImages::Pixel at = target.at(pixel);
    const float* image = x + source.image(at.sample);
    const int top = s.rows.begin<kBackward>(at.row);
    const int left = s.columns.begin<kBackward>(at.column);
    FloatVector<kVector> sum{};
    for (int k = 0; k < s.kh; ++k) {
      const int row = s.rows.read<kBackward>(top, k * s.rows.dilation);
      if (row < 0) continue;
      for (int l = 0; l < s.kw; ++l) {
        const int column = s.columns.read<kBackward>(left, l * s.columns.dilation);
        if (column < 0) continue;
        const float* from = image + source.place(row, column);
        const float* weight = part.weights + (k * s.kw + l) * depth * tile;
        for (int c = 0; c < depth; ++c) {
          const auto value = read_input<kVector, kDepthwise>(from + c);
          const auto factor = load_vector<kVector>(weight + c * tile);
#pragma unroll
          for (int v = 0; v < kVector; ++v) sum[v] += value[v] * factor[v];
        }
      }
    }
    if constexpr (!kBackward) {
#pragma unroll
      for (int v = 0; v < kVector; ++v) sum[v] = tail(sum[v], pixel, o + v);
    }
    store_vector<kVector>(y + pixel * target.channels + o, sum);
  }
}

/// dw over the block's part of the pixels, at dw + blockIdx.x * C_out taps. `lanes` threads, a
/// power of two up to 32, have neighbouring channels (grid.y: tiles of them); grid.z: taps, in
/// kTapsOfThread. A block has kBlock threads.
template <int kVector, bool kDepthwise>
__global__ void conv_direct_grad_weight(ConvGeometry s, const float* x, const float* dz, float* dw,
                                        int lanes, std::int64_t part) {
  const int thread = static_cast<int>(threadIdx.x);
  const int lane = thread % lanes;
  const int slots = static_cast<int>(kBlock) / lanes;
  const int o = (static_cast<int>(blockIdx.y) * lanes + lane) * kVector;
  const int first_tap = static_cast<int>(blockIdx.z) * kTapsOfThread;
  const bool used = o < s.out.channels;
  FloatVector<kVector> sums[kTapsOfThread] = {};
  if (used) {
    int rows[kTapsOfThread];
    int columns[kTapsOfThread];
    std::int64_t offsets[kTapsOfThread];
#pragma unroll
    for (int t = 0; t < kTapsOfThread; ++t) {
      const int tap =
          first_tap + t < s.taps ? first_tap + t : s.taps - 1;  // the last sums are lost
      const int pixel = s.in.by_group.quotient(tap);
      const int k = s.by_kw.quotient(pixel);
      rows[t] = k * s.rows.dilation;
      columns[t] = (pixel - k * s.kw) * s.columns.dilation;
      offsets[t] = (static_cast<std::int64_t>(rows[t]) * s.in.width + columns[t]) * s.in.channels +
                   tap - pixel * s.in.of_group;
    }
    const std::int64_t begin = static_cast<std::int64_t>(blockIdx.x) * part;
    const std::int64_t end = begin + part < s.out.total ? begin + part : s.out.total;
    const int channel = kDepthwise ? o : s.out.by_group.quotient(o) * s.in.of_group;
    for (std::int64_t pixel = begin + thread / lanes; pixel < end; pixel += slots) {
      const ConvImages::Pixel at = s.out.at(pixel);
      const int top = s.rows.begin<false>(at.row);
      const int left = s.columns.begin<false>(at.column);
      const float* window =
          x + ((at.sample * s.in.height + top) * s.in.width + left) * s.in.channels + channel;
      const auto gradient = load_vector<kVector>(dz + pixel * s.out.channels + o);
#pragma unroll
      for (int t = 0; t < kTapsOfThread; ++t) {
        if (!s.in.holds(top + rows[t], left + columns[t])) continue;
        const auto value = read_input<kVector, kDepthwise>(window + offsets[t]);
#pragma unroll
        for (int v = 0; v < kVector; ++v) sums[t][v] += value[v] * gradient[v];
      }
    }
  }
  const auto add_up = [&]<std::size_t... kTap>(std::index_sequence<kTap...>) {
    add_over_rows<kVector>(static_cast<unsigned>(lanes), sums[kTap]...);
  };
  add_up(std::make_index_sequence<kTapsOfThread>());
  if (!used || thread >= lanes) return;
  dw += (static_cast<std::int64_t>(blockIdx.x) * s.out.channels + o) * s.taps + first_tap;
#pragma unroll
  for (int t = 0; t < kTapsOfThread; ++t) {
    if (first_tap + t >= s.taps) break;
    for (int v = 0; v < kVector; ++v) dw[v * s.taps + t] = sums[t][v];
  }
}

}  // namespace linnet::cuda
