// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>

#include "backend/cuda/device.cuh"
#include "fusions/conv2d_pool/conv2d_pool_cuda.cuh"
#include "fusions/small_cnn/plan_cuda.h"
#include "ops/cross_entropy/cross_entropy.h"
#include "ops/gather_batch/record_index.h"

// Forward and backward pass of a network of one convolution and one dense layer. A block takes one
// sample after another; all that it makes of one stays in shared memory until the loss is known.
// The dense layer's gradient is a product over the batch: blocks hand on its factors (the pooled
// images and the logits' gradients), a tenth of what their own sums of it would take. For mnist-cnn
// these are 12.6 KB a sample: 1.6 MB at batch 128, 13 MB at 1024, which stay in the L2 cache.

namespace linnet::cuda {

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
  float* parts;          ///< (blocks, sums()): a block's dw, then db
};

/// Puts a record, scaled and with its padding around it, into shared memory.
__device__ inline void load_record(const SmallCnnShape& s, const void* samples,
                                   std::uint64_t record, float* image) {
  const std::uint64_t first = record * static_cast<std::uint64_t>(s.h * s.w * s.c);
  const auto* bytes = static_cast<const std::uint8_t*>(samples) + first;
  const auto* floats = static_cast<const float*>(samples) + first;
  const auto pixel = [=](std::int64_t i) {
    return (s.bytes ? static_cast<float>(bytes[i]) : floats[i]) * s.scale + s.shift;
  };
  load_rows(s, -s.pad_top, s.image_rows(s.pooled_h), pixel, image);
}

/// Convolution, activation and pooling: pooled (pixels, C_out) in shared memory and, if not null,
/// at `copy`; the winners.
template <int kRows, int kRow, int kChannels>
__device__ inline void pool_record(const SmallCnnShape& s, const float* weights, const float* image,
                                   float* pooled, std::uint8_t* winner, float* copy) {
  const auto store = [=](int at, const PooledPixel& found) {
#pragma unroll
    for (int f = 0; f < 4; ++f) winner[at + f] = static_cast<std::uint8_t>(found.index[f]);
    store_vector(pooled + at, found.best);
    if (copy != nullptr) store_vector(copy + at, found.best);
  };
  for_pooled<kRows, kRow, kChannels>(s, s.pooled_h * s.pooled_w, weights, image, store);
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
template <int kClasses, class FilterSums>
__device__ inline void add_conv_gradient(const SmallCnnShape& s, int stride, const float* weight,
                                         const float* slopes, const int* offsets,
                                         const float* image, const float* pooled,
                                         const std::uint8_t* winner, FilterSums& sums) {
  const int thread = static_cast<int>(threadIdx.x);
  const int features = s.features();
  for (int f = thread < stride ? thread : features; f < features; f += stride) {
    float g = 0;
#pragma unroll
    for (int u = 0; u < kClasses; ++u) {
      if (u < s.classes) g += slopes[u] * weight[u * features + f];
    }
    if (s.relu) g = pooled[f] > 0 ? g : 0.0F;
    sums.add(s, image, offsets, f / s.co, winner[f], g);
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
  load_filters(in.conv_weight, in.conv_bias, s.taps(), s.co, kCnnBlock, weights);
  FilterSums<kRows, kRow, kTaps> gradient;
  gradient.set_offsets(s, offsets);
  const int stride = kCnnBlock / s.co * s.co;  // so that a thread's features are of one filter
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
    add_conv_gradient<kClasses>(s, stride, in.weight, slopes, offsets, image, pooled, winner,
                                gradient);
  }
  if (s.gradients) {
    gradient.store(s, image, out.parts + static_cast<std::int64_t>(blockIdx.x) * s.sums());
  }
}

}  // namespace linnet::cuda
