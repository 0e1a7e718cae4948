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
    (i < first_count ? first[i] : second[i - first_count]) = sum;
  }
};

/// targets.put(i, sum) for the columns of block number `block`, which has kColumns of them, and
/// kRows rows of threads that share the parts of a column.
template <int kRows, int kColumns, class Targets>
__device__ void add_parts_of_block(const float* parts, int count, std::int64_t columns,
                                   std::int64_t block, const Targets& targets) {
  __shared__ float sums[kRows][kColumns];
  const int column = static_cast<int>(threadIdx.x) % kColumns;
  const int row = static_cast<int>(threadIdx.x) / kColumns;
  const std::int64_t i = block * kColumns + column;
  float sum = 0;
  if (i < columns) {
#pragma unroll 8
    for (int p = row; p < count; p += kRows) sum += parts[p * columns + i];
  }
  if constexpr (kRows > 1) {
    sums[row][column] = sum;
    __syncthreads();
  }
  if (row != 0 || i >= columns) return;
  for (int r = 1; r < kRows; ++r) sum += sums[r][column];
  targets.put(i, sum);
}

template <int kRows, class Targets>
__global__ void add_parts_kernel(const float* parts, int count, std::int64_t columns,
                                 Targets targets) {
  add_parts_of_block<kRows, static_cast<int>(kBlock) / kRows>(parts, count, columns, blockIdx.x,
                                                              targets);
}

/// targets.put(i, the sum of parts[p * columns + i] over p in [0, count)), in an order that follows
/// from count alone.
template <class Targets>
void add_parts(const Queue& stream, const char* name, const float* parts, int count,
               std::int64_t columns, const Targets& targets) {
  constexpr int kRows = 16;  // for more parts than these
  const std::int64_t of_block = count > kRows ? kBlock / kRows : kBlock;
  launch(stream, name,
         {.grid = static_cast<unsigned>((columns + of_block - 1) / of_block), .block = kBlock},
         count > kRows ? add_parts_kernel<kRows, Targets> : add_parts_kernel<1, Targets>, parts,
         count, columns, targets);
}

}  // namespace linnet::cuda
