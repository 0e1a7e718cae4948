// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "backend/cuda/device.cuh"

namespace linnet::cuda {

/// Describes where sums go: the first `first_count` to `first`, the others to `second`.
struct SumTargets {
  float* first = nullptr;
  std::int64_t first_count = 0;
  float* second = nullptr;

  __device__ void put(std::int64_t i, float sum) const {
    if (i < first_count) {
      first[i] = sum;
    } else {
      second[i - first_count] = sum;
    }
  }
};

/// Columns of a block by rows that share the parts of a column.
inline constexpr int kSumColumns = 16;
inline constexpr int kSumRows = 16;

template <int kRows>
__global__ void add_parts_kernel(const float* parts, int count, std::int64_t columns,
                                 SumTargets targets) {
  if constexpr (kRows == 1) {
    for (std::int64_t i = first_item(); i < columns; i += grid_stride()) {
      float sum = 0;
      for (int p = 0; p < count; ++p) sum += parts[p * columns + i];
      targets.put(i, sum);
    }
  } else {
    __shared__ float sums[kRows][kSumColumns];
    const int column = static_cast<int>(threadIdx.x) % kSumColumns;
    const int row = static_cast<int>(threadIdx.x) / kSumColumns;
    const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kSumColumns + column;
    float sum = 0;
    if (i < columns) {
#pragma unroll 4
      for (int p = row; p < count; p += kRows) sum += parts[p * columns + i];
    }
    sums[row][column] = sum;
    __syncthreads();
    if (row != 0 || i >= columns) return;
    for (int r = 1; r < kRows; ++r) sum += sums[r][column];
    targets.put(i, sum);
  }
}

/// targets[i] = the sum of parts[p * columns + i] over p in [0, count), in an order that follows
/// from count alone.
inline void add_parts(const Queue& stream, const char* name, const float* parts, int count,
                      std::int64_t columns, const SumTargets& targets) {
  if (count > kSumRows) {
    const auto blocks = static_cast<unsigned>((columns + kSumColumns - 1) / kSumColumns);
    launch(stream, name, {.grid = blocks, .block = kSumColumns * kSumRows},
           add_parts_kernel<kSumRows>, parts, count, columns, targets);
  } else {
    launch(stream, name, for_items(columns), add_parts_kernel<1>, parts, count, columns, targets);
  }
}

}  // namespace linnet::cuda
