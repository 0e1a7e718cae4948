// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "backend/cuda/partial_sums.cuh"
#include "ops/finite_check/stop_cuda.cuh"
#include "ops/metrics/batch_cuda.cuh"
#include "ops/small_cnn/small_cnn_cuda.cuh"

namespace linnet::cuda {

/// Columns of a block by rows that share the samples (or parts) of a column.
inline constexpr int kCnnColumns = 32;
inline constexpr int kCnnRows = kCnnBlock / kCnnColumns;

constexpr int blocks_of_columns(int columns) { return (columns + kCnnColumns - 1) / kCnnColumns; }

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

/// The block's columns of slopesᵀ (pooled, 1): the dense layer's weights, after them its
/// bias.
template <int kClasses>
__device__ inline void add_dense_gradient(const SmallCnnShape& s, const SmallCnnResults& from,
                                          const SmallCnnGradients& to, int block, float* stage) {
  constexpr int kSamples = kCnnExchange / kClasses;  // that are staged at once
  const int thread = static_cast<int>(threadIdx.x);
  const int column = thread % kCnnColumns;
  const int row = thread / kCnnColumns;
  const int features = s.features();
  const int f = block * kCnnColumns + column;
  float sums[kClasses] = {};
  for (std::int64_t first = 0; first < s.n; first += kSamples) {
    const std::int64_t left = s.n - first;
    const int count = left < kSamples ? static_cast<int>(left) : kSamples;
    const float* slopes = from.logits_slopes + first * kClasses;
    __syncthreads();
    for (int i = thread; i < count * kClasses; i += kCnnBlock) stage[i] = slopes[i];
    __syncthreads();
    const float* pooled = from.pooled + first * features + f;
#pragma unroll 4
    for (int k = row; k < count; k += kCnnRows) {
      const float x = f < features ? pooled[static_cast<std::int64_t>(k) * features] : 1.0F;
#pragma unroll
      for (int u = 0; u < kClasses; ++u) sums[u] += x * stage[k * kClasses + u];
    }
  }
#pragma unroll
  for (int u0 = 0; u0 < kClasses; u0 += 8) {
    __syncthreads();
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      if (u0 + i < kClasses) stage[i * kCnnBlock + thread] = sums[(u0 + i) % kClasses];
    }
    __syncthreads();
    const int u = u0 + row;  // the row of threads that adds this class up
    if (row >= 8 || u >= s.classes || f > features) continue;
    float sum = 0;
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
__device__ inline void add_loss(const SmallCnnShape& s, const SmallCnnResults& from,
                                const SmallCnnGradients& to) {
  double loss = 0;
  for (std::int64_t n = threadIdx.x; n < s.n; n += kCnnBlock) loss += from.losses[n];
  loss = block_sum(loss);
  if (threadIdx.x == 0) to.put(to.loss, static_cast<float>(s.n > 0 ? loss / s.n : 0.0));
  if (to.stopped == nullptr) return;
  double correct = 0;
  for (std::int64_t n = threadIdx.x; n < s.n; n += kCnnBlock) {
    const float* scores = from.scores + n * s.classes;
    int best = 0;  // the first of the largest; a NaN wins in the first place only
    for (int u = 1; u < s.classes; ++u) best = scores[u] > scores[best] ? u : best;
    if (best == from.labels[n]) correct += 1;
  }
  correct = block_sum(correct);
  if (threadIdx.x == 0) to.batch.add(correct, to.batch.samples);
}

/// The second launch. Block 0: the loss; then (if gradients are wanted) blocks of the
/// convolution's gradients, which are the sum of `parts`, and of the dense layer's.
template <int kClasses>
__global__ void __launch_bounds__(kCnnBlock)
    small_cnn_sums(SmallCnnShape s, SmallCnnResults from, SmallCnnGradients to, int parts) {
  __shared__ float stage[kCnnExchange];
  const int block = static_cast<int>(blockIdx.x) - 1;
  if (block < 0) return add_loss(s, from, to);
  const int conv_blocks = blocks_of_columns((s.taps() + 1) * s.co);
  if (block < conv_blocks) {
    add_parts_of_block<kCnnRows, kCnnColumns>(from.parts, parts, (s.taps() + 1) * s.co, block,
                                              ConvSums{to, s.taps() * s.co});
  } else {
    add_dense_gradient<kClasses>(s, from, to, block - conv_blocks, stage);
  }
}

}  // namespace linnet::cuda
