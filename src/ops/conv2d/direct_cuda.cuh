// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "ops/conv2d/geometry_cuda.cuh"

// Convolutions of few products an output, without matrices: few channels a group, or one
// (kDepthwise: groups == C == C_out). A thread has kVector neighbouring output channels; they see
// the same input (few channels) or a channel each (depthwise).

namespace linnet::cuda {

/// Taps that a thread of the weight gradient sums in registers.
inline constexpr int kTapsOfThread = 9;

/// Returns the input's channels that output channels o ... read.
template <int kVector, bool kDepthwise>
__device__ inline FloatVector<kVector> read_input(const float* from) {
  if constexpr (kDepthwise) {
    return load_vector<kVector>(from, true);
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
                 s.co - first < tile ? s.co - first : tile, tile, turned);
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

/// y = f(x * w + b). grid.y: tiles of `tile` output channels, a power of two; shared memory:
/// taps * tile floats.
template <int kVector, bool kDepthwise>
__global__ void conv_direct(ConvGeometry s, const float* x, const float* w, float* y,
                            BiasAndActivation tail, int tile) {
  const DirectPart part(s, w, tile, kVector);
  const int o = part.channel;
  if (o >= s.co) return;
  x += kDepthwise ? o : s.by_cog.quotient(o) * s.cg;
  const int depth = kDepthwise ? 1 : s.cg;
  for (std::int64_t pixel = part.pixel; pixel < s.out_total; pixel += part.stride) {
    const PixelGrid::Pixel at = s.out.at(pixel);
    const float* image = x + at.sample * s.in.height * s.in.width * s.c;
    const int top = at.row * s.stride_h - s.pad_top;
    const int left = at.column * s.stride_w - s.pad_left;
    FloatVector<kVector> sum{};
    for (int k = 0; k < s.kh; ++k) {
      const int row = top + k * s.dilation_h;
      if (row < 0 || row >= s.in.height) continue;
      for (int l = 0; l < s.kw; ++l) {
        const int column = left + l * s.dilation_w;
        if (column < 0 || column >= s.in.width) continue;
        const float* from = image + static_cast<std::int64_t>(row * s.in.width + column) * s.c;
        const float* weight = part.weights + (k * s.kw + l) * depth * tile;
        for (int c = 0; c < depth; ++c) {
          const auto value = read_input<kVector, kDepthwise>(from + c);
          const auto factor = load_vector<kVector>(weight + c * tile, true);
#pragma unroll
          for (int v = 0; v < kVector; ++v) sum[v] += value[v] * factor[v];
        }
      }
    }
#pragma unroll
    for (int v = 0; v < kVector; ++v) sum[v] = tail(sum[v], pixel, o + v);
    store_vector<kVector>(y + pixel * s.co + o, sum, true);
  }
}

/// dx of a depthwise convolution: every input pixel gathers from the windows that it is in.
template <int kVector>
__global__ void depthwise_grad_input(ConvGeometry s, const float* dz, const float* w, float* dx,
                                     int tile) {
  const DirectPart part(s, w, tile, kVector);
  const int c = part.channel;
  if (c >= s.c) return;
  for (std::int64_t pixel = part.pixel; pixel < s.in_total; pixel += part.stride) {
    const PixelGrid::Pixel at = s.in.at(pixel);
    const float* image = dz + at.sample * s.out.height * s.out.width * s.c + c;
    FloatVector<kVector> sum{};
    for (int k = 0; k < s.kh; ++k) {
      const int down = at.row + s.pad_top - k * s.dilation_h;
      if (down < 0) break;
      const int row = s.by_stride_h.quotient(down);
      if (row * s.stride_h != down || row >= s.out.height) continue;
      for (int l = 0; l < s.kw; ++l) {
        const int right = at.column + s.pad_left - l * s.dilation_w;
        if (right < 0) break;
        const int column = s.by_stride_w.quotient(right);
        if (column * s.stride_w != right || column >= s.out.width) continue;
        const auto value = load_vector<kVector>(
            image + static_cast<std::int64_t>(row * s.out.width + column) * s.c, true);
        const auto factor = load_vector<kVector>(part.weights + (k * s.kw + l) * tile, true);
#pragma unroll
        for (int v = 0; v < kVector; ++v) sum[v] += value[v] * factor[v];
      }
    }
    store_vector<kVector>(dx + pixel * s.c + c, sum, true);
  }
}

/// dw over the block's part of the pixels, at dw + blockIdx.x * C_out taps. `lanes` threads, a
/// power of two up to 32, have neighbouring channels (grid.y: tiles of them); grid.z: taps, in
/// kTapsOfThread. A block has kBlock threads.
template <int kVector, bool kDepthwise>
__global__ void conv_direct_grad_weight(ConvGeometry s, const float* x, const float* dz, float* dw,
                                        int lanes, std::int64_t part) {
  __shared__ float warps[kBlock / kWarp][kTapsOfThread * kVector][kWarp / kVector];
  const int thread = static_cast<int>(threadIdx.x);
  const int lane = thread % lanes;
  const int slots = static_cast<int>(kBlock) / lanes;
  const int o = (static_cast<int>(blockIdx.y) * lanes + lane) * kVector;
  const int first_tap = static_cast<int>(blockIdx.z) * kTapsOfThread;
  const bool used = o < s.co;
  float sums[kTapsOfThread][kVector] = {};
  if (used) {
    int rows[kTapsOfThread];
    int columns[kTapsOfThread];
    std::int64_t offsets[kTapsOfThread];
#pragma unroll
    for (int t = 0; t < kTapsOfThread; ++t) {
      const int tap =
          first_tap + t < s.taps ? first_tap + t : s.taps - 1;  // the last sums are lost
      const int pixel = s.by_cg.quotient(tap);
      const int k = s.by_kw.quotient(pixel);
      rows[t] = k * s.dilation_h;
      columns[t] = (pixel - k * s.kw) * s.dilation_w;
      offsets[t] =
          (static_cast<std::int64_t>(rows[t]) * s.in.width + columns[t]) * s.c + tap - pixel * s.cg;
    }
    const std::int64_t begin = static_cast<std::int64_t>(blockIdx.x) * part;
    const std::int64_t end = begin + part < s.out_total ? begin + part : s.out_total;
    const int channel = kDepthwise ? o : s.by_cog.quotient(o) * s.cg;
    for (std::int64_t pixel = begin + thread / lanes; pixel < end; pixel += slots) {
      const PixelGrid::Pixel at = s.out.at(pixel);
      const int top = at.row * s.stride_h - s.pad_top;
      const int left = at.column * s.stride_w - s.pad_left;
      const float* window =
          x + ((at.sample * s.in.height + top) * s.in.width + left) * s.c + channel;
      const auto gradient = load_vector<kVector>(dz + pixel * s.co + o, true);
#pragma unroll
      for (int t = 0; t < kTapsOfThread; ++t) {
        if (!s.inside(top + rows[t], left + columns[t])) continue;
        const auto value = read_input<kVector, kDepthwise>(window + offsets[t]);
#pragma unroll
        for (int v = 0; v < kVector; ++v) sums[t][v] += value[v] * gradient[v];
      }
    }
  }
  const int lane_of_warp = thread % static_cast<int>(kWarp);
#pragma unroll
  for (int t = 0; t < kTapsOfThread; ++t) {
#pragma unroll
    for (int v = 0; v < kVector; ++v) {
      float sum = sums[t][v];
      for (int apart = lanes; apart < static_cast<int>(kWarp); apart *= 2) {
        sum += __shfl_xor_sync(kFullWarp, sum, apart);
      }
      if (lane_of_warp < lanes) warps[thread / kWarp][t * kVector + v][lane] = sum;
    }
  }
  __syncthreads();
  dw += static_cast<std::int64_t>(blockIdx.x) * s.co * s.taps;
  for (int i = thread; i < lanes * kVector * kTapsOfThread; i += static_cast<int>(kBlock)) {
    const int t = i % kTapsOfThread;
    const int v = i / kTapsOfThread % kVector;
    const int of = i / kTapsOfThread / kVector;
    const std::int64_t filter = (static_cast<std::int64_t>(blockIdx.y) * lanes + of) * kVector + v;
    if (filter >= s.co || first_tap + t >= s.taps) continue;
    float sum = 0;
    for (unsigned warp = 0; warp < kBlock / kWarp; ++warp) sum += warps[warp][t * kVector + v][of];
    dw[filter * s.taps + first_tap + t] = sum;
  }
}

}  // namespace linnet::cuda
