// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "backend/cuda/device.cuh"
#include "backend/cuda/vectors.cuh"
#include "fusions/conv2d_pool/bands_cuda.h"
#include "ops/pool2d/winner.h"

// A convolution of few channels at stride 1 with 2x2 maximum pooling. Blocks take bands (some
// pooled rows of one sample) one after another; a band's part of the image stands in shared memory
// with its padding around it, so that no loop asks where the border is.

namespace linnet::cuda {

/// Rows of a kernel that are worth unrolling together: more would leave the registers.
constexpr int unrolled_rows(int rows, int row) { return rows * row <= 27 ? rows : 1; }

/// Holds what of the pooled image a band is.
struct Band {
  std::int64_t sample;
  int first_row;
  int rows;

  __device__ Band(const ConvPoolBands& s, std::int64_t item) : sample(item / s.bands) {
    first_row = static_cast<int>(item - sample * s.bands) * s.rows;
    rows = s.pooled_h - first_row < s.rows ? s.pooled_h - first_row : s.rows;
  }
};

/// Puts `rows` rows of the padded image from `top` on into shared memory, a warp a row; call
/// __syncthreads after. pixel(i): element i of the image without padding.
template <class Pixel>
__device__ inline void load_rows(const PooledConv& s, int top, int rows, const Pixel& pixel,
                                 float* image) {
  const int line = s.w * s.c;
  const int skip = s.pad_left * s.c;
  const int lane = static_cast<int>(threadIdx.x % kWarp);
  const int warps = static_cast<int>(blockDim.x / kWarp);
  for (int k = static_cast<int>(threadIdx.x / kWarp); k < rows; k += warps) {
    const int row = top + k;
    const bool inside = row >= 0 && row < s.h;
    const std::int64_t first = static_cast<std::int64_t>(row) * line - skip;
#pragma unroll 4
    for (int i = lane; i < s.pitch; i += static_cast<int>(kWarp)) {
      image[k * s.pitch + i] = inside && i >= skip && i < skip + line ? pixel(first + i) : 0.0F;
    }
  }
}

/// Does so with a band's rows.
__device__ inline void load_band(const ConvPoolBands& s, const Band& band, const float* x,
                                 float* image) {
  const float* sample = x + band.sample * s.h * s.w * s.c;
  load_rows(
      s, 2 * band.first_row - s.pad_top, s.image_rows(band.rows),
      [=](std::int64_t i) { return sample[i]; }, image);
}

/// Puts w (C_out, taps) and b, null for zeros, into shared memory as (taps, C_out) and (C_out).
__device__ inline void load_filters(const float* w, const float* b, int taps, int filters,
                                    int threads, float* weights) {
  const int thread = static_cast<int>(threadIdx.x);
  for (int i = thread; i < taps * filters; i += threads) {
    const int o = i / taps;
    weights[(i - o * taps) * filters + o] = w[i];
  }
  float* bias = weights + taps * filters;
  for (int o = thread; o < filters; o += threads) bias[o] = b != nullptr ? b[o] : 0.0F;
}

/// Lets result `position` of a window compete.
__device__ inline void compete(float z, unsigned position, float& best, unsigned& winner) {
  const bool better = wins(z, best);
  best = better ? z : best;
  winner = better ? position : winner;
}

/// Four filters of one pooled pixel: the largest activated sum of its 2x2 window, and which it was.
struct PooledPixel {
  FloatVector<4> best;
  unsigned index[4];
};

/// Dimensions of a convolution's kernel (KH, KW * C, C): the template's, or where those are zeros
/// any.
template <int kRows, int kRow, int kChannels>
struct KernelDims {
  int rows, row_taps, channels;

  __device__ explicit KernelDims(const PooledConv& s)
      : rows(kRows > 0 ? kRows : s.kh),
        row_taps(kRows > 0 ? kRow : s.row_taps),
        channels(kRows > 0 ? kChannels : s.c) {}
  __device__ int taps() const { return rows * row_taps; }
};

/// window: the first input of the upper left sum, in an image in shared memory. weights: (taps,
/// C_out), then the bias, from the four filters on. Loops over known dimensions have no counter.
template <int kRows, int kRow, int kChannels>
__device__ inline PooledPixel pooled_pixel(const PooledConv& s, const float* window,
                                           const float* weights) {
  [[maybe_unused]] constexpr int kUnrolled = kRows > 0 ? unrolled_rows(kRows, kRow) : 1;
  [[maybe_unused]] constexpr int kUnrolledTaps = kRows > 0 ? kRow : 2;
  const KernelDims<kRows, kRow, kChannels> dims(s);
  const float* bias = weights + dims.taps() * s.co;
  float sums[4][4];  // window positions, filters
#pragma unroll
  for (int f = 0; f < 4; ++f) sums[0][f] = sums[1][f] = sums[2][f] = sums[3][f] = bias[f];
#pragma unroll kUnrolled
  for (int k = 0; k < dims.rows; ++k) {
    const float* top = window + k * s.pitch;
    const float* bottom = top + s.pitch;
#pragma unroll kUnrolledTaps
    for (int t = 0; t < dims.row_taps; ++t) {
      const auto weight = load_vector<4>(weights + (k * dims.row_taps + t) * s.co);
      const float pixels_of[4] = {top[t], top[t + dims.channels], bottom[t],
                                  bottom[t + dims.channels]};
#pragma unroll
      for (int p = 0; p < 4; ++p) {
#pragma unroll
        for (int f = 0; f < 4; ++f) sums[p][f] += pixels_of[p] * weight[f];
      }
    }
  }
  PooledPixel found;
#pragma unroll
  for (int f = 0; f < 4; ++f) {
    found.best[f] = sums[0][f];
    found.index[f] = 0;
#pragma unroll
    for (int p = 1; p < 4; ++p) {
      compete(sums[p][f], static_cast<unsigned>(p), found.best[f], found.index[f]);
    }
    // Where nothing is positive the activated window is all zeros, and its first one wins.
    if (s.relu && found.best[f] <= 0) {
      found.best[f] = 0;
      found.index[f] = 0;
    }
  }
  return found;
}

/// Calls store(i, found) for `pixels` pooled pixels of an image: i is the first of four elements of
/// (pixels, C_out). The threads of a block share them.
template <int kRows, int kRow, int kChannels, class Store>
__device__ inline void for_pooled(const PooledConv& s, int pixels, const float* weights,
                                  const float* image, const Store& store) {
  const KernelDims<kRows, kRow, kChannels> dims(s);
  const int quads = s.co / 4;
  const int lanes = static_cast<int>(blockDim.x) / quads;
  const int lane = static_cast<int>(threadIdx.x) / quads;
  const int o = static_cast<int>(threadIdx.x) % quads * 4;
  for (int pixel = lane < lanes ? lane : pixels; pixel < pixels; pixel += lanes) {
    const int i = pixel / s.pooled_w;
    const int j = pixel - i * s.pooled_w;
    const float* window = image + 2 * i * s.pitch + 2 * j * dims.channels;
    store(pixel * s.co + o, pooled_pixel<kRows, kRow, kChannels>(s, window, weights + o));
  }
}

/// y and winner. A thread has four filters of a pooled pixel. Shared memory: weights (taps, C_out),
/// bias, then the band's image.
template <int kRows, int kRow, int kChannels>
__global__ void conv_pool_forward(ConvPoolBands s, const float* x, const float* w, const float* b,
                                  float* y, std::uint8_t* winner, bool aligned) {
  const KernelDims<kRows, kRow, kChannels> dims(s);
  auto* weights = shared_memory<float>();
  float* image = weights + (dims.taps() + 1) * s.co;
  load_filters(w, b, dims.taps(), s.co, static_cast<int>(blockDim.x), weights);
  for (std::int64_t item = blockIdx.x; item < s.items; item += gridDim.x) {
    const Band band(s, item);
    __syncthreads();  // the last band has been read
    load_band(s, band, x, image);
    __syncthreads();
    const std::int64_t first = (band.sample * s.pooled_h + band.first_row) * s.pooled_w * s.co;
    const auto store = [&](int element, const PooledPixel& found) {
      const std::int64_t at = first + element;
      store_vector<4>(y + at, found.best, aligned);
      if (aligned) {
        *reinterpret_cast<unsigned*>(winner + at) =
            found.index[0] | found.index[1] << 8 | found.index[2] << 16 | found.index[3] << 24;
      } else {
#pragma unroll
        for (int f = 0; f < 4; ++f) winner[at + f] = static_cast<std::uint8_t>(found.index[f]);
      }
    };
    for_pooled<kRows, kRow, kChannels>(s, band.rows * s.pooled_w, weights, image, store);
  }
}

/// Floats that a block's threads exchange at once when their sums are added.
inline constexpr int kPoolExchange = 8 * static_cast<int>(kBlock);

/// A thread's sums of one filter's gradient. offsets: of kTaps products from the first input of a
/// sum, in shared memory, where the kernel's dimensions (KH, KW * C) are not the template's.
template <int kRows, int kRow, int kTaps>
struct FilterSums {
  float dw[kTaps] = {};
  float db = 0;

  __device__ static void set_offsets(const PooledConv& s, int* offsets) {
    for (int t = static_cast<int>(threadIdx.x); t < kTaps; t += static_cast<int>(blockDim.x)) {
      offsets[t] = t < s.taps() ? t / s.row_taps * s.pitch + t % s.row_taps : 0;
    }
  }

  /// Adds a pooled pixel whose winner, at `position` of the window, has gradient g.
  __device__ void add(const PooledConv& s, const float* image, const int* offsets, int pixel,
                      int position, float g) {
    const int i = pixel / s.pooled_w;
    const int j = pixel - i * s.pooled_w;
    const float* won = image + (2 * i + position / 2) * s.pitch + (2 * j + position % 2) * s.c;
    db += g;
#pragma unroll
    for (int t = 0; t < kTaps; ++t) {
      const int offset = kRows > 0 ? t / kRow * s.pitch + t % kRow : offsets[t];
      dw[t] += g * won[offset];
    }
  }

  /// Adds up the threads of each filter, in their order: part[o * taps + t] is dw[t]'s sum, and
  /// part[taps * filters + o] db's. Thread l * filters + o is filter o's l-th; threads after the
  /// last whole row of filters have none. All of the block call it. exchange: shared memory for 8
  /// floats a thread.
  __device__ void store(const PooledConv& s, float* exchange, float* part) const {
    const int thread = static_cast<int>(threadIdx.x);
    const int threads = static_cast<int>(blockDim.x);
    const int taps = s.taps();
    const int lanes = threads / s.co;
    const int lane = thread / s.co;
    const int o = thread - lane * s.co;
#pragma unroll
    for (int t0 = 0; t0 <= kTaps; t0 += 8) {
      __syncthreads();
#pragma unroll
      for (int i = 0; i < 8; ++i) {
        if (t0 + i <= kTaps && lane < lanes) {
          exchange[(i * lanes + lane) * s.co + o] = t0 + i < kTaps ? dw[(t0 + i) % kTaps] : db;
        }
      }
      __syncthreads();
      for (int n = thread; n < 8 * s.co; n += threads) {
        const int i = n / s.co;
        const int filter = n - i * s.co;
        const int t = t0 + i;
        if (t > kTaps || (t >= taps && t < kTaps)) continue;
        float sum = 0;
        for (int l = 0; l < lanes; ++l) sum += exchange[(i * lanes + l) * s.co + filter];
        part[t < kTaps ? filter * taps + t : taps * s.co + filter] = sum;
      }
    }
  }
};

/// The block's part of dw (C_out, taps) and db (C_out), at parts + blockIdx.x * s.sums(). A thread
/// has one filter and up to kTaps sums. Shared memory: offsets of the taps (kTaps ints), then the
/// band's image, or at the end kPoolExchange floats.
template <int kRows, int kRow, int kTaps>
__global__ void __launch_bounds__(kBlock, kRows > 0 ? 2 : 1)
    conv_pool_gradient(ConvPoolBands s, const float* x, const float* dy, const float* y,
                       const std::uint8_t* winner, float* parts) {
  const int thread = static_cast<int>(threadIdx.x);
  int* offsets = shared_memory<int>();
  float* image = shared_memory<float>() + kTaps;
  FilterSums<kRows, kRow, kTaps> sums;
  sums.set_offsets(s, offsets);
  const int o = thread % s.co;
  const int lane = thread / s.co;
  const int lanes = static_cast<int>(blockDim.x) / s.co;
  for (std::int64_t item = blockIdx.x; item < s.items; item += gridDim.x) {
    const Band band(s, item);
    const std::int64_t first = (band.sample * s.pooled_h + band.first_row) * s.pooled_w * s.co + o;
    const int pixels = band.rows * s.pooled_w;
    float slope = 0;  // of the next pixel, on their way while this one is added
    float activated = 0;
    int winning = 0;
    const auto fetch = [&](int pixel) {
      if (pixel >= pixels) return;
      const std::int64_t at = first + static_cast<std::int64_t>(pixel) * s.co;
      slope = dy[at];
      activated = s.relu ? y[at] : 1.0F;
      winning = winner[at];
    };
    const int begin = lane < lanes ? lane : pixels;
    fetch(begin);
    __syncthreads();  // the last band has been read
    load_band(s, band, x, image);
    __syncthreads();
    for (int pixel = begin; pixel < pixels; pixel += lanes) {
      const float g = activated > 0 ? slope : 0.0F;
      const int position = winning;
      fetch(pixel + lanes);
      sums.add(s, image, offsets, pixel, position, g);
    }
  }
  sums.store(s, image, parts + static_cast<std::int64_t>(blockIdx.x) * s.sums());
}

}  // namespace linnet::cuda
