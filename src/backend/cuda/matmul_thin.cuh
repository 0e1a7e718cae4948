// SPDX-License-Identifier: Apache-2.0
#pragma once

// Products with few rows or columns, which would leave tiles half empty: memory is what they cost.
// Included by backend/cuda/matmul.cuh, which is the header to use.
#include <cstdint>

#include "backend/cuda/device.cuh"
#include "backend/cuda/matmul.h"
#include "backend/cuda/partial_sums.cuh"
#include "backend/cuda/vectors.cuh"

namespace linnet::cuda {

/// f(sum) = sum.
struct PlainSum {
  __device__ float operator()(float sum, std::int64_t, std::int64_t) const { return sum; }
};

/// Describes where sums go: to C through the epilogue or, while k is split, to this part's place in
/// the workspace (splits, m, n).
struct MatmulOutput {
  MatmulOutput(const MatmulPlan& plan, const MatmulOperands& operands)
      : c(operands.c),
        parts(plan.splits > 1 ? reinterpret_cast<float*>(operands.workspace) : nullptr),
        rows(plan.product.m),
        columns(plan.product.n),
        stride(plan.product.stride_c()) {}

  template <class Epilogue>
  __device__ void put(std::int64_t row, std::int64_t column, std::int64_t part, float sum,
                      const Epilogue& epilogue) const {
    if (row >= rows || column >= columns) return;
    if (parts != nullptr) {
      parts[(part * rows + row) * columns + column] = sum;
    } else {
      c[row * stride + column] = epilogue(sum, row, column);
    }
  }

  float* c;
  float* parts;
  std::int64_t rows;
  std::int64_t columns;
  std::int64_t stride;
};

/// Sums over all parts of k, finished.
template <class Epilogue>
struct SplitSums {
  MatmulOutput out;
  Epilogue epilogue;

  __device__ void put(std::int64_t i, float sum) const {
    const std::int64_t row = i / out.columns;
    const std::int64_t column = i % out.columns;
    out.c[row * out.stride + column] = epilogue(sum, row, column);
  }
};

/// Returns whether rows so far apart can be read by four.
inline bool aligned_rows(const float* data, std::int64_t stride) {
  return stride % 4 == 0 && reinterpret_cast<std::uintptr_t>(data) % 16 == 0;
}

struct DotArgs {
  const float* a = nullptr;  // (m, k)
  const float* b = nullptr;  // (n, k)
  std::int64_t a_stride = 0;
  std::int64_t b_stride = 0;
  std::int64_t terms = 0;
  std::int64_t column_groups = 0;
  std::int64_t groups = 0;
  bool vectors = false;  ///< whether rows of both can be read by four
  bool by_block = false;
  MatmulOutput out;
};

/// C = A Bᵀ: a warp (or a block of 8) takes kRows of A and kColumns of B, all sums in registers.
/// What is outside of C is computed from the last row again and not written.
template <int kRows, int kColumns, class Epilogue>
__global__ void __launch_bounds__(256, 2) dots_kernel(DotArgs args, Epilogue epilogue) {
  constexpr int kSums = kRows * kColumns;
  constexpr int kAhead = kSums > 4 ? 1 : 4;  // steps whose operands are on their way
  __shared__ float warp_sums[8][kSums];
  const int warp = static_cast<int>(threadIdx.x / kWarp);
  const int lane = static_cast<int>(threadIdx.x % kWarp);
  const std::int64_t group =
      args.by_block ? blockIdx.x : static_cast<std::int64_t>(blockIdx.x) * 8 + warp;
  const std::int64_t row0 = group / args.column_groups * kRows;
  const std::int64_t column0 = group % args.column_groups * kColumns;
  const float* a[kRows];
  const float* b[kColumns];
#pragma unroll
  for (int i = 0; i < kRows; ++i) {
    const std::int64_t row = row0 + i < args.out.rows ? row0 + i : args.out.rows - 1;
    a[i] = args.a + row * args.a_stride;
  }
#pragma unroll
  for (int j = 0; j < kColumns; ++j) {
    const std::int64_t column = column0 + j < args.out.columns ? column0 + j : args.out.columns - 1;
    b[j] = args.b + column * args.b_stride;
  }
  const std::int64_t first = args.by_block ? threadIdx.x : lane;
  const std::int64_t stride = args.by_block ? blockDim.x : kWarp;
  const std::int64_t fours = args.vectors ? args.terms / 4 : 0;
  float sums[kRows][kColumns] = {};
  for (std::int64_t t = first; t < fours; t += kAhead * stride) {
    FloatVector<4> a_values[kAhead][kRows];
    FloatVector<4> b_values[kAhead][kColumns];
#pragma unroll
    for (int u = 0; u < kAhead; ++u) {
      const std::int64_t at = t + u * stride;
#pragma unroll
      for (int i = 0; i < kRows; ++i) {
        a_values[u][i] = at < fours ? load_vector<4>(a[i] + 4 * at) : FloatVector<4>{};
      }
#pragma unroll
      for (int j = 0; j < kColumns; ++j) {
        b_values[u][j] = at < fours ? load_vector<4>(b[j] + 4 * at) : FloatVector<4>{};
      }
    }
#pragma unroll
    for (int n = 0; n < kAhead * kSums; ++n) {
      const FloatVector<4>& left = a_values[n / kSums][n % kSums / kColumns];
      const FloatVector<4>& right = b_values[n / kSums][n % kColumns];
      float& sum = sums[n % kSums / kColumns][n % kColumns];
      for (int v = 0; v < 4; ++v) sum = fmaf(left[v], right[v], sum);
    }
  }
  for (std::int64_t t = fours * 4 + first; t < args.terms; t += stride) {
#pragma unroll
    for (int i = 0; i < kRows; ++i) {
      const float a_value = a[i][t];
#pragma unroll
      for (int j = 0; j < kColumns; ++j) sums[i][j] = fmaf(a_value, b[j][t], sums[i][j]);
    }
  }
#pragma unroll
  for (int i = 0; i < kSums; ++i) {
    const float sum = warp_sum(sums[i / kColumns][i % kColumns]);
    if (lane == i) warp_sums[warp][i] = sum;
  }
  __syncthreads();
  if (lane >= kSums || group >= args.groups || (args.by_block && warp > 0)) return;
  float sum = warp_sums[warp][lane];
  if (args.by_block) {
    for (int other = 1; other < 8; ++other) sum += warp_sums[other][lane];
  }
  args.out.put(row0 + lane / kColumns, column0 + lane % kColumns, 0, sum, epilogue);
}

template <class Epilogue>
void launch_dots(const MatmulPlan& plan, const MatmulOperands& operands, Epilogue epilogue) {
  const MatrixProduct& p = plan.product;
  const std::int64_t column_groups = (p.n + 3) / 4;  // of four or, where there is but one, of it
  const std::int64_t groups = (p.m + 3) / 4 * column_groups;
  const DotArgs args{.a = operands.a,
                     .b = operands.b,
                     .a_stride = p.stride_a(),
                     .b_stride = p.stride_b(),
                     .terms = p.k,
                     .column_groups = column_groups,
                     .groups = groups,
                     .vectors = aligned_rows(operands.a, p.stride_a()) &&
                                aligned_rows(operands.b, p.stride_b()),
                     .by_block = plan.block_dots,
                     .out = MatmulOutput(plan, operands)};
  launch(operands.stream, "matmul_dots",
         {.grid = static_cast<unsigned>(plan.block_dots ? groups : (groups + 7) / 8), .block = 256},
         p.n == 1   ? dots_kernel<4, 1, Epilogue>
         : p.m == 1 ? dots_kernel<1, 4, Epilogue>
                    : dots_kernel<4, 4, Epilogue>,
         args, epilogue);
}

struct ThinSumArgs {
  const float* thin = nullptr;  // (k, thin_count)
  const float* wide = nullptr;  // (k, wide_count)
  std::int64_t thin_stride = 0;
  std::int64_t wide_stride = 0;
  std::int64_t thin_count = 0;
  std::int64_t wide_count = 0;
  std::int64_t terms = 0;
  std::int64_t split_terms = 0;
  bool thin_rows = false;  ///< whether the thin side gives C's rows
  bool vectors = false;    ///< whether rows of the wide side can be read by as many as a lane takes
  MatmulOutput out;
};

/// C = Aᵀ B with at most kMost columns on one side: a lane has kVector columns of the wide side and
/// all of the thin one; the 8 warps of a block take terms in turn and add up in their order.
template <int kMost, class Epilogue>
__global__ void __launch_bounds__(256, 2) thin_sums_kernel(ThinSumArgs args, Epilogue epilogue) {
  constexpr int kColumns = static_cast<int>(thin_block_columns(kMost));
  constexpr int kVector = kColumns / static_cast<int>(kWarp);
  constexpr int kAhead = 8;  // terms on their way
  __shared__ float warp_sums[8][kMost][kColumns];
  const int warp = static_cast<int>(threadIdx.x / kWarp);
  const int lane = static_cast<int>(threadIdx.x % kWarp);
  const std::int64_t column0 = static_cast<std::int64_t>(blockIdx.x) * kColumns;
  const std::int64_t column = column0 + lane * kVector;
  const bool whole = args.vectors && column + kVector <= args.wide_count;
  const std::int64_t begin = blockIdx.y * args.split_terms;
  const std::int64_t end =
      begin + args.split_terms < args.terms ? begin + args.split_terms : args.terms;
  float sums[kMost][kVector] = {};
  for (std::int64_t first = begin + warp; first < end; first += 8 * kAhead) {
    FloatVector<kVector> values[kAhead] = {};
#pragma unroll
    for (int u = 0; u < kAhead; ++u) {
      const std::int64_t t = first + 8 * u;
      if (t >= end) continue;
      const float* row = args.wide + t * args.wide_stride;
      if (whole) {
        values[u] = load_vector<kVector>(row + column);
      } else {
        for (int v = 0; v < kVector; ++v) {
          values[u][v] = row[column + v < args.wide_count ? column + v : args.wide_count - 1];
        }
      }
    }
#pragma unroll
    for (int u = 0; u < kAhead; ++u) {
      const std::int64_t t = first + 8 * u;
      if (t >= end) continue;
      const float* factors = args.thin + t * args.thin_stride;
#pragma unroll
      for (int i = 0; i < kMost; ++i) {
        if (i >= args.thin_count) continue;
        for (int v = 0; v < kVector; ++v) sums[i][v] = fmaf(factors[i], values[u][v], sums[i][v]);
      }
    }
  }
#pragma unroll
  for (int i = 0; i < kMost; ++i) {
#pragma unroll
    for (int v = 0; v < kVector; ++v) warp_sums[warp][i][lane * kVector + v] = sums[i][v];
  }
  __syncthreads();
  for (int n = static_cast<int>(threadIdx.x); n < args.thin_count * kColumns; n += 256) {
    const int i = n / kColumns;
    const int c = n % kColumns;
    float sum = warp_sums[0][i][c];
    for (int other = 1; other < 8; ++other) sum += warp_sums[other][i][c];
    if (args.thin_rows) {
      args.out.put(i, column0 + c, blockIdx.y, sum, epilogue);
    } else {
      args.out.put(column0 + c, i, blockIdx.y, sum, epilogue);
    }
  }
}

template <class Epilogue>
void launch_thin_sums(const MatmulPlan& plan, const MatmulOperands& operands, Epilogue epilogue) {
  const MatrixProduct& p = plan.product;
  const bool thin_rows = p.m <= p.n;
  const ThinSumArgs args{.thin = thin_rows ? operands.a : operands.b,
                         .wide = thin_rows ? operands.b : operands.a,
                         .thin_stride = thin_rows ? p.stride_a() : p.stride_b(),
                         .wide_stride = thin_rows ? p.stride_b() : p.stride_a(),
                         .thin_count = thin_rows ? p.m : p.n,
                         .wide_count = thin_rows ? p.n : p.m,
                         .terms = p.k,
                         .split_terms = plan.split_terms,
                         .thin_rows = thin_rows,
                         .vectors = aligned_rows(thin_rows ? operands.b : operands.a,
                                                 thin_rows ? p.stride_b() : p.stride_a()),
                         .out = MatmulOutput(plan, operands)};
  const std::int64_t columns = thin_block_columns(args.thin_count);
  const LaunchShape shape{.grid =
                              dim3(static_cast<unsigned>((args.wide_count + columns - 1) / columns),
                                   static_cast<unsigned>(plan.splits)),
                          .block = 256};
  const auto kernel = args.thin_count <= 4   ? thin_sums_kernel<4, Epilogue>
                      : args.thin_count <= 8 ? thin_sums_kernel<8, Epilogue>
                                             : thin_sums_kernel<16, Epilogue>;
  launch(operands.stream, "matmul_thin_sums", shape, kernel, args, epilogue);
}

}  // namespace linnet::cuda
