// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>

#include "backend/cuda/device.cuh"
#include "ops/conv2d_pool/conv2d_pool_cuda.cuh"
#include "ops/cross_entropy/cross_entropy.h"
#include "ops/gather_batch/record_index.h"

// Forward and backward pass of a network of one convolution and one dense layer. A block takes one
// sample after another; all that it makes of one stays in shared memory until the loss is known.
// The dense layer's gradient is a product over the batch: blocks hand on its factors (the pooled
// images and the logits' gradients), a tenth of what their own sums of it would take. For mnist-cnn
// these are 12.6 KB a sample: 1.6 MB at batch 128, 13 MB at 1024, which stay in the L2 cache.

namespace linnet::cuda {

inline constexpr int kCnnBlock = 512;
inline constexpr int kCnnWarps = kCnnBlock / static_cast<int>(kWarp);
/// Floats that a block's threads exchange at once when their sums are added.
inline constexpr int kCnnExchange = 8 * kCnnBlock;

/// Floats of a sample's slopes of its logits, which are loaded four at a time.
constexpr int slope_pitch(int classes) { return (classes + 3) / 4 * 4; }

struct SmallCnnShape {
  std::int64_t n;
  int h, w, c, co;   ///< image, filters
  int kh, row_taps;  ///< KH, KW * C
  int pad_top, pad_left;
  int pooled_h, pooled_w;
  int pitch;  ///< floats of a padded row
  int classes;
  int padded_classes;  ///< what the kernels have registers for
  float scale, shift;  ///< of the samples
  float slope;         ///< 1 / n
  bool bytes;          ///< samples are u8
  bool shuffle;
  bool relu;
  bool probabilities;  ///< as scores
  bool gradients;      ///< wanted

  constexpr int taps() const { return kh * row_taps; }
  constexpr int features() const { return pooled_h * pooled_w * co; }
  constexpr int image_floats() const { return (2 * pooled_h + kh - 1) * pitch; }
};

struct SmallCnnOperands {
  const StepInfo* step;
  const void* samples;
  const std::int32_t* targets;
  const float* conv_weight;
  const float* conv_bias;
  const float* weight;
  const float* bias;
};

struct SmallCnnResults {
  float* scores;         ///< (N, classes)
  std::int32_t* labels;  ///< (N)
  float* losses;         ///< (N)
  float* pooled;         ///< (N, features)
  float* logits_slopes;  ///< (N, slope_pitch(padded classes))
  float* parts;          ///< (blocks, (taps + 1) * C_out): a block's dw, then db
};

/// A block's shared memory: floats, then the winners' bytes.
struct SmallCnnLayout {
  int sums, slopes, offsets, image, pooled, winner, floats;

  constexpr explicit SmallCnnLayout(const SmallCnnShape& s)
      : sums((s.taps() + 1) * s.co),
        slopes(sums + kCnnWarps * s.padded_classes),
        offsets(slopes + slope_pitch(s.padded_classes)),
        image((offsets + static_cast<int>(kWarp) + 3) / 4 * 4),
        pooled(image + (s.image_floats() + 3) / 4 * 4),
        winner(pooled + s.features()),
        floats(winner + (s.features() + 3) / 4) {}

  constexpr std::size_t bytes() const {
    const int needed = floats - image > kCnnExchange ? floats : image + kCnnExchange;
    return sizeof(float) * static_cast<std::size_t>(needed);
  }
};

/// Puts a record, scaled and with its padding around it, into shared memory.
__device__ inline void load_record(const SmallCnnShape& s, const void* samples,
                                   std::uint64_t record, float* image) {
  const int line = s.w * s.c;
  const int skip = s.pad_left * s.c;
  const std::uint64_t first = record * static_cast<std::uint64_t>(s.h * line);
  const auto* bytes = static_cast<const std::uint8_t*>(samples) + first;
  const auto* floats = static_cast<const float*>(samples) + first;
  for (int i = static_cast<int>(threadIdx.x); i < s.image_floats(); i += kCnnBlock) {
    const int k = i / s.pitch;
    const int at = i - k * s.pitch - skip;
    const int row = k - s.pad_top;
    float pixel = 0;
    if (row >= 0 && row < s.h && at >= 0 && at < line) {
      const int from = row * line + at;
      pixel = (s.bytes ? static_cast<float>(bytes[from]) : floats[from]) * s.scale + s.shift;
    }
    image[i] = pixel;
  }
}

/// Convolution, activation and pooling: pooled (pixels, C_out) in shared memory and, if not null,
/// at `copy`; the winners. A thread has four filters of a pooled pixel.
template <int kRows, int kRow, int kChannels>
__device__ inline void pool_record(const SmallCnnShape& s, const float* weights, const float* image,
                                   float* pooled, std::uint8_t* winner, float* copy) {
  const int rows = kRows > 0 ? kRows : s.kh;
  const int row_taps = kRows > 0 ? kRow : s.row_taps;
  const int channels = kRows > 0 ? kChannels : s.c;
  const float* bias = weights + rows * row_taps * s.co;
  const int quads = s.co / 4;
  const int items = s.pooled_h * s.pooled_w * quads;
  for (int item = static_cast<int>(threadIdx.x); item < items; item += kCnnBlock) {
    const int pixel = item / quads;
    const int o = (item - pixel * quads) * 4;
    const int i = pixel / s.pooled_w;
    const int j = pixel - i * s.pooled_w;
    const float* window = image + 2 * i * s.pitch + 2 * j * channels;
    const PooledPixel found = pooled_pixel<kRows, kRow>(window, s.pitch, rows, row_taps, channels,
                                                        weights + o, bias + o, s.co, s.relu);
#pragma unroll
    for (int f = 0; f < 4; ++f) {
      winner[pixel * s.co + o + f] = static_cast<std::uint8_t>(found.index[f]);
    }
    const int at = pixel * s.co + o;
    store_vector<4>(pooled + at, found.best, true);
    if (copy != nullptr) store_vector<4>(copy + at, found.best, true);
  }
}

/// Each warp's part of the logits: sums (warps, kClasses). `stride` features at once.
template <int kClasses>
__device__ inline void add_logits(const SmallCnnShape& s, int stride, const float* weight,
                                  const float* pooled, float* sums) {
  const int thread = static_cast<int>(threadIdx.x);
  const int features = s.features();
  float logits[kClasses] = {};
  for (int f = thread < stride ? thread : features; f < features; f += stride) {
    const float x = pooled[f];
#pragma unroll
    for (int u = 0; u < kClasses; ++u) {
      if (u < s.classes) logits[u] += x * weight[u * features + f];
    }
  }
#pragma unroll
  for (int u = 0; u < kClasses; ++u) {
    const float sum = warp_sum(logits[u]);
    if (thread % static_cast<int>(kWarp) == 0) {
      sums[thread / static_cast<int>(kWarp) * kClasses + u] = sum;
    }
  }
}

/// The first warp's: scores, label, loss of a sample, and the slopes of its logits (zeros
/// beyond the classes) in shared memory and at out.logits_slopes. bias: of the lane's class.
template <int kClasses>
__device__ inline void sample_loss(const SmallCnnShape& s, const SmallCnnResults& out,
                                   std::int64_t sample, std::int32_t label, float bias,
                                   const float* sums, float* slopes) {
  const int c = static_cast<int>(threadIdx.x);
  const bool mine = c < s.classes;
  float x = -std::numeric_limits<float>::infinity();
  if (mine) {
    float odd = 0;
    x = bias;
#pragma unroll
    for (int w = 0; w < kCnnWarps; w += 2) {
      x += sums[w * kClasses + c];
      odd += sums[(w + 1) * kClasses + c];
    }
    x += odd;
  }
  const float top = warp_max(x);
  const float exponential = mine ? ::expf(x - top) : 0.0F;
  const float sum = warp_sum(exponential);
  const float p = exponential * (1.0F / sum);
  if (s.gradients && c < slope_pitch(kClasses)) {
    const float slope = mine ? s.slope * p - (c == label ? s.slope : 0.0F) : 0.0F;
    slopes[c] = slope;
    out.logits_slopes[sample * slope_pitch(kClasses) + c] = slope;
  }
  const bool known = is_class(label, s.classes);
  const float hit = __shfl_sync(kFullWarp, x, known ? label : 0);
  if (mine) out.scores[sample * s.classes + c] = s.probabilities ? p : x;
  if (c == 0) {
    out.labels[sample] = label;
    out.losses[sample] =
        known ? ::logf(sum) - (hit - top) : std::numeric_limits<float>::quiet_NaN();
  }
}

/// Adds a sample to this thread's sums for its filter.
template <int kRows, int kRow, int kTaps, int kClasses>
__device__ inline void add_conv_gradient(const SmallCnnShape& s, int stride, const float* weight,
                                         const float* slopes, const int* offsets,
                                         const float* image, const float* pooled,
                                         const std::uint8_t* winner, float (&dw)[kTaps],
                                         float& db) {
  const int thread = static_cast<int>(threadIdx.x);
  const int features = s.features();
  for (int f = thread < stride ? thread : features; f < features; f += stride) {
    float g = 0;
#pragma unroll
    for (int u = 0; u < kClasses; ++u) {
      if (u < s.classes) g += slopes[u] * weight[u * features + f];
    }
    if (s.relu) g = pooled[f] > 0 ? g : 0.0F;
    const int position = winner[f];
    const int pixel = f / s.co;
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
}

/// The first launch. Template arguments: the kernel's dimensions (KH, KW * C, C), or zeros
/// for any; how many products and classes there are room for.
template <int kRows, int kRow, int kChannels, int kTaps, int kClasses>
__global__ void __launch_bounds__(kCnnBlock, kTaps <= 9 ? 2 : 1)
    small_cnn_samples(SmallCnnShape s, SmallCnnOperands in, SmallCnnResults out) {
  __shared__ std::uint64_t record;
  const SmallCnnLayout layout(s);
  const int thread = static_cast<int>(threadIdx.x);
  float* weights = shared_memory<float>();
  float* sums = weights + layout.sums;
  float* slopes = weights + layout.slopes;
  int* offsets = shared_memory<int>() + layout.offsets;
  float* image = weights + layout.image;
  float* pooled = weights + layout.pooled;
  auto* winner = reinterpret_cast<std::uint8_t*>(weights + layout.winner);
  const int taps = s.taps();
  for (int i = thread; i < taps * s.co; i += kCnnBlock) {
    const int o = i / taps;
    weights[(i - o * taps) * s.co + o] = in.conv_weight[i];
  }
  for (int o = thread; o < s.co; o += kCnnBlock) weights[taps * s.co + o] = in.conv_bias[o];
  if (thread < kTaps) {
    offsets[thread] = thread < taps ? thread / s.row_taps * s.pitch + thread % s.row_taps : 0;
  }
  const int stride = kCnnBlock / s.co * s.co;  // so that a thread's features are of one filter
  float dw[kTaps] = {};
  float db = 0;
  for (std::int64_t sample = blockIdx.x; sample < s.n; sample += gridDim.x) {
    if (thread == 0) record = RecordIndex(*in.step, s.shuffle)(sample);
    __syncthreads();  // and the last sample has been read
    load_record(s, in.samples, record, image);
    __syncthreads();
    pool_record<kRows, kRow, kChannels>(s, weights, image, pooled, winner,
                                        s.gradients ? out.pooled + sample * s.features() : nullptr);
    __syncthreads();
    add_logits<kClasses>(s, stride, in.weight, pooled, sums);
    __syncthreads();
    if (thread < static_cast<int>(kWarp)) {
      sample_loss<kClasses>(s, out, sample, in.targets[record],
                            thread < s.classes ? in.bias[thread] : 0.0F, sums, slopes);
    }
    __syncthreads();
    if (!s.gradients) continue;
    add_conv_gradient<kRows, kRow, kTaps, kClasses>(s, stride, in.weight, slopes, offsets, image,
                                                    pooled, winner, dw, db);
  }
  if (s.gradients) {
    store_filter_sums<kTaps>(dw, db, s.taps(), s.co, kCnnBlock, image,
                             out.parts + static_cast<std::int64_t>(blockIdx.x) * (taps + 1) * s.co);
  }
}

}  // namespace linnet::cuda
