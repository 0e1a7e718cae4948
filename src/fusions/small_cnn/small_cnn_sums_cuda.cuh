// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "backend/cuda/partial_sums.cuh"
#include "fusions/small_cnn/small_cnn_cuda.cuh"
#include "ops/finite_check/stop_cuda.cuh"
#include "ops/metrics/batch_cuda.cuh"

namespace linnet::cuda {

/// Threads of a block that share the samples (or parts) of a column.
inline constexpr int kCnnRows = kCnnBlock / kCnnColumns;

struct SmallCnnGradients {
  float* loss;
  float* conv_weight;
  float* conv_bias;
  float* weight;
  float* bias;
  double* stopped;     ///< null where the step is not finished here
  CountedBatch batch;  ///< of such a step

  __device__ void put(float* to, float sum) const {
    *to = sum;
    if (stopped != nullptr && is_not_finite(sum)) stop(stopped, *batch.step);
  }
};

/// Sums over a block's rows of threads that are exchanged at once.
constexpr int exchanged_classes(int classes) { return classes < 10 ? classes : 10; }

/// The block's columns of slopesᵀ (pooled, 1): the dense layer's weights, after them its
/// bias.
template <int kClasses>
__device__ inline void add_dense_gradient(const SmallCnnShape& s, const SmallCnnResults& from,
                                          const SmallCnnGradients& to, int block, float* stage) {
  constexpr int kPitch = slope_pitch(kClasses);
  constexpr int kSamples = kCnnExchange / kPitch;  // that are staged at once
  constexpr int kAhead = 8;                        // of a thread, which are loaded together
  constexpr int kExchanged = exchanged_classes(kClasses);
  const int thread = static_cast<int>(threadIdx.x);
  const int column = thread % kCnnColumns;
  const int row = thread / kCnnColumns;
  const int features = s.features();
  const int f = block * kCnnColumns + column;
  float sums[kClasses] = {};
  for (std::int64_t first = 0; first < s.n; first += kSamples) {
    const std::int64_t left = s.n - first;
    const int count = left < kSamples ? static_cast<int>(left) : kSamples;
    const float* pooled = from.pooled + first * features + f;
    float x[kAhead];
    const auto load = [&](int k0) {
#pragma unroll
      for (int i = 0; i < kAhead; ++i) {
        const int k = k0 + i * kCnnRows;
        x[i] = f < features ? (k < count ? pooled[k * features] : 0.0F) : 1.0F;
      }
    };
    load(row);  // on their way while the slopes come
    __syncthreads();
    for (int i = thread; i < count * kPitch / 4; i += kCnnBlock) {
      store_vector(stage + 4 * i, load_vector<4>(from.logits_slopes + first * kPitch + 4 * i));
    }
    __syncthreads();
    for (int k0 = row; k0 < count; k0 += kAhead * kCnnRows) {
      if (k0 != row) load(k0);
#pragma unroll
      for (int i = 0; i < kAhead; ++i) {
        const int k = k0 + i * kCnnRows;
        if (k >= count) break;
#pragma unroll
        for (int u0 = 0; u0 < kClasses; u0 += 4) {
          const auto slopes = load_vector<4>(stage + k * kPitch + u0);
#pragma unroll
          for (int u = 0; u < 4; ++u) {
            if (u0 + u < kClasses) sums[(u0 + u) % kClasses] += x[i] * slopes[u];
          }
        }
      }
    }
  }
#pragma unroll
  for (int u0 = 0; u0 < kClasses; u0 += kExchanged) {
    __syncthreads();
#pragma unroll
    for (int i = 0; i < kExchanged; ++i) {
      if (u0 + i < kClasses) stage[i * kCnnBlock + thread] = sums[(u0 + i) % kClasses];
    }
    __syncthreads();
    const int u = u0 + row;  // the row of threads that adds this class up
    if (row >= kExchanged || u >= s.classes || f > features) continue;
    float sum = 0;
#pragma unroll
    for (int r = 0; r < kCnnRows; ++r) sum += stage[row * kCnnBlock + r * kCnnColumns + column];
    to.put(f < features ? to.weight + static_cast<std::int64_t>(u) * features + f : to.bias + u,
           sum);
  }
}

/// Where the sums of the convolution's parts go.
struct ConvSums {
  const SmallCnnGradients& to;
  int weights;

  __device__ void put(std::int64_t i, float sum) const {
    to.put(i < weights ? to.conv_weight + i : to.conv_bias + (i - weights), sum);
  }
};

/// The loss and, where the step is finished here, its metrics; for one block.
template <int kClasses>
__device__ inline void add_loss(const SmallCnnShape& s, const SmallCnnResults& from,
                                const SmallCnnGradients& to) {
  double loss = 0;
  double correct = 0;
  for (std::int64_t n = threadIdx.x; n < s.n; n += kCnnBlock) {
    loss += from.losses[n];
    if (to.stopped == nullptr) continue;
    float scores[kClasses];
#pragma unroll
    for (int u = 0; u < kClasses; ++u)
      scores[u] = u < s.classes ? from.scores[n * s.classes + u] : 0;
    int best = 0;  // the first of the largest; a NaN wins in the first place only
    float top = scores[0];
#pragma unroll
    for (int u = 1; u < kClasses; ++u) {
      if (u >= s.classes || !(scores[u] > top)) continue;
      best = u;
      top = scores[u];
    }
    if (best == from.labels[n]) correct += 1;
  }
  loss = block_sum(loss);
  const float mean = static_cast<float>(s.n > 0 ? loss / static_cast<double>(s.n) : 0.0);
  if (threadIdx.x == 0) to.put(to.loss, mean);
  if (to.stopped == nullptr) return;
  correct = block_sum(correct);
  if (threadIdx.x == 0) to.batch.add(mean, correct, to.batch.samples);
}

/// The second launch. Block 0: the loss; then (if gradients are wanted) blocks of the
/// convolution's gradients, which are the sum of `parts`, and of the dense layer's.
template <int kClasses>
__global__ void __launch_bounds__(kCnnBlock)
    small_cnn_sums(SmallCnnShape s, SmallCnnResults from, SmallCnnGradients to, int parts) {
  alignas(16) __shared__ float stage[exchanged_classes(kClasses) * kCnnBlock];
  const int block = static_cast<int>(blockIdx.x) - 1;
  if (block < 0) return add_loss<kClasses>(s, from, to);
  const int conv_blocks = blocks_of_columns(s.sums());
  if (block < conv_blocks) {
    add_parts_of_block<kCnnRows, kCnnColumns>(from.parts, parts, s.sums(), block,
                                              ConvSums{to, s.taps() * s.co});
  } else {
    add_dense_gradient<kClasses>(s, from, to, block - conv_blocks, stage);
  }
}

}  // namespace linnet::cuda
