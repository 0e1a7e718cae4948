// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "fusions/small_cnn/small_cnn_cuda.cuh"

// The first launch for images of one channel and filters of 3x3, whose number is known here. A
// thread keeps its pooled pixels in registers, four filters of each, from the convolution to the
// gradient, and adds up the gradient of its four filters: a sample takes two barriers. The dense
// layer's weights come into the L1 cache while the first record is found and read. The next
// sample's image is on its way while this one's is computed.

namespace linnet::cuda {

template <int kFilters>
struct CnnTiles {
  static constexpr int kTaps = 9;
  static constexpr int kQuads = kFilters / 4;
  static constexpr int kItems = kFilters / 8;  ///< pooled pixels of a thread
  static constexpr int kPixels = 2;            ///< image's floats of a thread, with the padding
  static constexpr int kImage = kPixels * kCnnBlock;
  static constexpr int kSums = 4 * (kTaps + 1);  ///< a thread's part of the gradient
  static_assert(kPixels <= 2 && kItems <= 2, "their places stand in 16 bits of a register");
  static_assert(kCnnBlock % kQuads == 0 && kWarp % kQuads == 0);
  static constexpr int kExchange = kCnnWarps * kQuads * kSums;

  /// Rows begin at 8 bytes.
  static constexpr int pitch(const SmallCnnShape& s) { return (s.pitch + 1) / 2 * 2; }
  static constexpr bool fit(const SmallCnnShape& s) {
    return s.n < (1 << 30) && s.kh == 3 && s.row_taps == 3 && s.c == 1 && s.co == kFilters &&
           s.features() <= 4 * kItems * kCnnBlock && (2 * s.pooled_h + 2) * pitch(s) <= kImage;
  }
};

/// Sums over the lanes of a warp whose numbers differ in the bits from kLeast to kLane alone. Each
/// lane ends with some of them: values[i] is sum number first + i, for i < count.
template <int kLeast, int kLane, int kCount, int kSize>
__device__ inline void scatter_sums(float (&values)[kSize], int& first, int& count) {
  if constexpr (kLane >= kLeast) {
    constexpr int kHalf = (kCount + 1) / 2;
    const bool upper = (static_cast<int>(threadIdx.x) & kLane) != 0;
#pragma unroll
    for (int i = 0; i < kHalf; ++i) {
      const float low = values[i];
      const float high = kHalf + i < kCount ? values[(kHalf + i) % kSize] : 0.0F;
      values[i] = (upper ? high : low) + __shfl_xor_sync(kFullWarp, upper ? low : high, kLane);
    }
    first += upper ? kHalf : 0;
    count = upper ? count - kHalf : (count < kHalf ? count : kHalf);
    scatter_sums<kLeast, kLane / 2, kHalf>(values, first, count);
  }
}

/// Begins to load what is at `from` into the L1 cache. Without a wait, without a register: the copy
/// in shared memory is not read.
__device__ inline void bring_near([[maybe_unused]] const float* from,
                                  [[maybe_unused]] float* unread) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(
                   static_cast<unsigned>(__cvta_generic_to_shared(unread))),
               "l"(from));
#endif
}

/// Waits for what this thread has begun to bring near; before it ends.
__device__ inline void wait_for_near() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  asm volatile("cp.async.wait_all;" ::: "memory");
#endif
}

/// Returns the number in a way that says nothing about it: addresses that follow from it are worked
/// out where they are needed, and stand in no registers between.
__device__ inline int opaque(int number) {
#ifndef LINNET_CUDA_SIM
  asm volatile("" : "+r"(number));
#endif
  return number;
}

/// The pixels of a padded image that one thread loads.
template <int kFilters>
struct CnnPixels {
  using Tiles = CnnTiles<kFilters>;
  static constexpr int kPadding = 0xFFFF;
  unsigned places = 0;  ///< in the record, 16 bits each; or kPadding
  float values[Tiles::kPixels];

  __device__ int from(int p) const { return static_cast<int>(places >> (16 * p) & 0xFFFFU); }

  __device__ explicit CnnPixels(const SmallCnnShape& s) {
    const int pitch = Tiles::pitch(s);
#pragma unroll
    for (int p = 0; p < Tiles::kPixels; ++p) {
      const int i = static_cast<int>(threadIdx.x) + p * kCnnBlock;
      const int k = i / pitch;
      const int row = k - s.pad_top;
      const int at = i - k * pitch - s.pad_left;
      const bool inside = row >= 0 && row < s.h && at >= 0 && at < s.w;
      places |= static_cast<unsigned>(inside ? row * s.w + at : kPadding) << (16 * p);
      values[p] = 0;
    }
  }
  __device__ void load(const SmallCnnShape& s, const void* samples, std::uint64_t record) {
    const std::uint64_t first = record * static_cast<std::uint64_t>(s.h * s.w);
    const auto* bytes = static_cast<const std::uint8_t*>(samples) + first;
    const auto* floats = static_cast<const float*>(samples) + first;
#pragma unroll
    for (int p = 0; p < Tiles::kPixels; ++p) {
      if (from(p) == kPadding) continue;
      values[p] = s.bytes ? static_cast<float>(bytes[from(p)]) : floats[from(p)];
    }
  }
  __device__ void store(const SmallCnnShape& s, float* image) const {
#pragma unroll
    for (int p = 0; p < Tiles::kPixels; ++p) {
      image[static_cast<int>(threadIdx.x) + p * kCnnBlock] =
          from(p) != kPadding ? values[p] * s.scale + s.shift : 0.0F;
    }
  }
};

/// What a pooled pixel's sums are made of.
struct CnnWindow {
  float pixels[4][4];

  __device__ CnnWindow(const float* image, int pitch) {
#pragma unroll
    for (int row = 0; row < 4; ++row) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const auto pair = load_vector<2>(image + row * pitch + 2 * half);
        pixels[row][2 * half] = pair[0];
        pixels[row][2 * half + 1] = pair[1];
      }
    }
  }
  /// Returns what tap t of the sum at `position` is multiplied by.
  __device__ float at(int position, int t) const {
    return pixels[position / 2 + t / 3][position % 2 + t % 3];
  }
};

/// Four filters of a pooled pixel: the largest activated sums, and four bits for each filter that
/// say at which position it is, or kNone where the activation's slope is 0.
struct CnnPooled {
  static constexpr unsigned kNone = 4;
  FloatVector<4> best;
  unsigned winners = 0;

  /// weights: (taps, filters), then the bias; from the four filters on.
  __device__ CnnPooled(const CnnWindow& window, const float* weights, int filters, bool relu) {
    constexpr int kTaps = 9;
    const auto bias = load_vector<4>(weights + kTaps * filters);
    float sums[4][4];  // positions, filters
#pragma unroll
    for (int p = 0; p < 4; ++p) {
#pragma unroll
      for (int f = 0; f < 4; ++f) sums[p][f] = bias[f];
    }
#pragma unroll
    for (int t = 0; t < kTaps; ++t) {
      const auto weight = load_vector<4>(weights + t * filters);
#pragma unroll
      for (int p = 0; p < 4; ++p) {
#pragma unroll
        for (int f = 0; f < 4; ++f) sums[p][f] += window.at(p, t) * weight[f];
      }
    }
#pragma unroll
    for (int f = 0; f < 4; ++f) {
      float top = sums[0][f];
      unsigned winner = 0;
#pragma unroll
      for (unsigned p = 1; p < 4; ++p) compete(sums[p][f], p, top, winner);
      const bool passes = !relu || top > 0;
      best[f] = passes || top != top ? top : 0.0F;
      winners |= (passes ? winner : kNone) << (4 * f);
    }
  }
};

/// Adds a pooled pixel's gradient by its four filters, of which g is the largest sums' gradient:
/// sums[4 * t + f], the bias's after the taps.
template <int kSums>
__device__ inline void add_window(const CnnWindow& window, unsigned winners,
                                  const FloatVector<4>& g, float (&sums)[kSums]) {
  constexpr int kTaps = kSums / 4 - 1;
#pragma unroll
  for (int f = 0; f < 4; ++f) {
    const unsigned winner = winners >> (4 * f) & 7U;
    sums[4 * kTaps + f] += winner == CnnPooled::kNone ? 0.0F : g[f];
#pragma unroll
    for (int p = 0; p < 4; ++p) {
      const float won = winner == static_cast<unsigned>(p) ? g[f] : 0.0F;
#pragma unroll
      for (int t = 0; t < kTaps; ++t) sums[4 * t + f] += won * window.at(p, t);
    }
  }
}

/// Adds the threads' parts of the filters' gradients, and leaves the block's as
/// store_filter_sums() does. exchange: shared memory that nobody reads any more.
template <int kFilters>
__device__ inline void store_tile_sums(float (&sums)[CnnTiles<kFilters>::kSums], float* exchange,
                                       float* part) {
  using Tiles = CnnTiles<kFilters>;
  constexpr int kQuads = Tiles::kQuads;
  constexpr int kAll = kQuads * Tiles::kSums;
  const int thread = static_cast<int>(threadIdx.x);
  int first = 0;
  int count = Tiles::kSums;
  scatter_sums<kQuads, static_cast<int>(kWarp) / 2, Tiles::kSums>(sums, first, count);
  constexpr int kOfLane = Tiles::kSums * kQuads / static_cast<int>(kWarp);
  static_assert(kOfLane * static_cast<int>(kWarp) == Tiles::kSums * kQuads);
  float* mine =
      exchange + thread / static_cast<int>(kWarp) * kAll + thread % kQuads + first * kQuads;
#pragma unroll
  for (int i = 0; i < kOfLane; ++i) mine[i * kQuads] = sums[i];
  __syncthreads();
  if (thread >= kAll) return;
  float sum = 0;
#pragma unroll
  for (int w = 0; w < kCnnWarps; ++w) sum += exchange[w * kAll + thread];
  const int t = thread / kQuads / 4;
  const int o = thread % kQuads * 4 + thread / kQuads % 4;
  part[t < Tiles::kTaps ? o * Tiles::kTaps + t : Tiles::kTaps * kFilters + o] = sum;
}

template <int kFilters, int kClasses>
__global__ void __launch_bounds__(kCnnBlock)
    small_cnn_tiles(SmallCnnShape s, SmallCnnOperands in, SmallCnnResults out) {
  using Tiles = CnnTiles<kFilters>;
  constexpr int kLanes = static_cast<int>(kWarp);
  constexpr int kItems = Tiles::kItems;
  alignas(16) __shared__ float weights[(Tiles::kTaps + 1) * kFilters];
  alignas(16) __shared__ float
      images[2 * Tiles::kImage > Tiles::kExchange ? 2 * Tiles::kImage : Tiles::kExchange];
  alignas(16) __shared__ float slopes[slope_pitch(kClasses)];
  __shared__ float sums[kCnnWarps * kClasses];
  __shared__ float biases[kWarp];
  __shared__ std::uint64_t records[kWarp];
  __shared__ std::int32_t labels[kWarp];
  const int thread = static_cast<int>(threadIdx.x);
  const int features = s.features();
  const int samples =
      static_cast<int>((static_cast<unsigned>(s.n) - blockIdx.x - 1) / gridDim.x) + 1;
  // The first warp is busy with the records.
  if (thread >= kLanes) {
    __shared__ float unread[kCnnBlock];
    constexpr int kSector = 8;  // floats that come together
    for (int i = kSector * (thread - kLanes); i < kClasses * features;
         i += kSector * (kCnnBlock - kLanes)) {
      bring_near(in.weight + i, unread + thread);
    }
  }
  for (int i = thread; i < (Tiles::kTaps + 1) * kFilters; i += kCnnBlock) {
    const int t = i / kFilters;
    const int o = i % kFilters;
    weights[i] = t < Tiles::kTaps ? in.conv_weight[o * Tiles::kTaps + t] : in.conv_bias[o];
  }
  if (thread < kClasses) biases[thread] = in.bias[thread];
  const int pitch = Tiles::pitch(s);
  const int quad = thread % Tiles::kQuads;
  const float* filters = weights + 4 * quad;
  const int items = features / 4;
  int offsets = 0;  // of the windows in the image, 16 bits each, to save registers
#pragma unroll
  for (int q = 0; q < kItems; ++q) {
    const int pixel = (thread + q * kCnnBlock) / Tiles::kQuads;
    const int i = pixel / s.pooled_w;
    const int offset = 2 * i * pitch + 2 * (pixel - i * s.pooled_w);
    offsets |= offset << (16 * q);
  }
  CnnPixels<kFilters> pixels(s);
  float gradient[Tiles::kSums] = {};
  for (int chunk = 0; chunk < samples; chunk += kLanes) {
    const int count = samples - chunk < kLanes ? samples - chunk : kLanes;
    const std::int64_t first = blockIdx.x + static_cast<std::int64_t>(chunk) * gridDim.x;
    __syncthreads();  // the last chunk's images have been read
    if (thread < count) {
      records[thread] =
          RecordIndex(*in.step, s.shuffle)(first + static_cast<std::int64_t>(thread) * gridDim.x);
    }
    __syncthreads();
    pixels.load(s, in.samples, records[0]);
    if (thread < count) labels[thread] = in.targets[records[thread]];
    pixels.store(s, images);
    __syncthreads();
    for (int k = 0; k < count; ++k) {
      const std::int64_t sample = first + static_cast<std::int64_t>(k) * gridDim.x;
      const float* image = images + k % 2 * Tiles::kImage;
      const bool more = k + 1 < count;
      if (more) pixels.load(s, in.samples, records[k + 1]);
      float logits[kClasses] = {};
      unsigned winners[kItems] = {};
#pragma unroll
      for (int q = 0; q < kItems; ++q) {
        const int item = opaque(thread) + q * kCnnBlock;
        if (item >= items) continue;
        const CnnPooled pooled(CnnWindow(image + (opaque(offsets) >> (16 * q) & 0xFFFF), pitch),
                               filters, kFilters, s.relu);
        winners[q] = pooled.winners;
        if (s.gradients) store_vector(out.pooled + sample * features + 4 * item, pooled.best);
        const float* dense = in.weight + 4 * item;
        const int row = opaque(features);
#pragma unroll
        for (int u = 0; u < kClasses; ++u) {
          const auto weight = load_vector<4>(dense + u * row);
#pragma unroll
          for (int f = 0; f < 4; ++f) logits[u] += pooled.best[f] * weight[f];
        }
      }
      int u = 0;
      int mine = kClasses;
      scatter_sums<1, kLanes / 2, kClasses>(logits, u, mine);
      if (mine > 0) sums[thread / kLanes * kClasses + u] = logits[0];
      __syncthreads();
      if (more) pixels.store(s, images + (k + 1) % 2 * Tiles::kImage);
      if (thread < kLanes) {
        sample_loss<kClasses>(s, out, sample, labels[k], biases[thread], sums, slopes);
      }
      __syncthreads();
      if (!s.gradients) continue;
#pragma unroll
      for (int q = 0; q < kItems; ++q) {
        const int item = opaque(thread) + q * kCnnBlock;
        if (item >= items) continue;
        FloatVector<4> g{};
        const float* dense = in.weight + 4 * item;
        const int row = opaque(features);
#pragma unroll
        for (int c = 0; c < kClasses; ++c) {
          const auto weight = load_vector<4>(dense + c * row);
#pragma unroll
          for (int f = 0; f < 4; ++f) g[f] += slopes[c] * weight[f];
        }
        add_window(CnnWindow(image + (opaque(offsets) >> (16 * q) & 0xFFFF), pitch), winners[q], g,
                   gradient);
      }
    }
  }
  wait_for_near();
  if (!s.gradients) return;
  __syncthreads();  // the last image has been read
  store_tile_sums<kFilters>(gradient, images,
                            out.parts + static_cast<std::int64_t>(blockIdx.x) * (Tiles::kTaps + 1) *
                                            kFilters);
}

}  // namespace linnet::cuda
