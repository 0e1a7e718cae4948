// SPDX-License-Identifier: Apache-2.0
#pragma once

// The kernels of MatmulPlan: tiles through shared memory, for whatever fills them.
#include <cstdint>

#include "backend/cuda/kernel.h"
#include "backend/cuda/matmul_thin.cuh"
#include "backend/cuda/product.cuh"

namespace linnet::cuda {

/// Four values of each operand's tile for a thread.
template <int kTile>
using SquareTile = Tile<kTile, kTile, kTile / 16, 1024 / kTile>;

struct TileArgs {
  MatrixOperand a;
  MatrixOperand b;
  MatmulOutput out;
  std::int64_t terms = 0;
  std::int64_t split_terms = 0;
  std::int64_t column_tiles = 0;
};

/// put(row, column, sum) for this thread's sums of tile number `tile`, over the terms of `range`.
template <int kTile, class Put>
__device__ void sum_tile(const TileArgs& args, std::int64_t tile, KRange range, Put put) {
  const std::int64_t row0 = tile / args.column_tiles * kTile;
  const std::int64_t column0 = tile % args.column_tiles * kTile;
  using T = SquareTile<kTile>;
  float sums[T::kSide][T::kSide] = {};
  sum_product<T>(args.a, args.b, row0, column0, range, sums);
  for_sums<T>(row0, column0, sums, put);
}

/// Block (tile, split): one tile of C over one part of k.
template <int kTile, class Epilogue>
__global__ void __launch_bounds__(256) tile_kernel(TileArgs args, Epilogue epilogue) {
  const std::int64_t begin = blockIdx.y * args.split_terms;
  const std::int64_t end =
      begin + args.split_terms < args.terms ? begin + args.split_terms : args.terms;
  sum_tile<kTile>(args, blockIdx.x, {begin, end},
                  [&](std::int64_t row, std::int64_t column, float sum) {
                    args.out.put(row, column, blockIdx.y, sum, epilogue);
                  });
}

/// rows, or columns, by terms; `along_terms`: whether terms are neighbours in memory.
inline MatrixOperand matrix_operand(const float* data, std::int64_t lines, std::int64_t terms,
                                    bool along_terms, std::int64_t stride) {
  return {.data = data,
          .rows = along_terms ? lines : terms,
          .columns = along_terms ? terms : lines,
          .stride = stride,
          .along = along_terms,
          .vectors = aligned_rows(data, stride)};
}

inline TileArgs tile_args(const MatmulPlan& plan, const MatmulOperands& operands) {
  const MatrixProduct& p = plan.product;
  return {.a = matrix_operand(operands.a, p.m, p.k, !p.transpose_a, p.stride_a()),
          .b = matrix_operand(operands.b, p.n, p.k, p.transpose_b, p.stride_b()),
          .out = MatmulOutput(plan, operands),
          .terms = p.k,
          .split_terms = plan.split_terms,
          .column_tiles = (p.n + plan.tile - 1) / plan.tile};
}

template <int kTile, class Epilogue>
void launch_tiles(const MatmulPlan& plan, const MatmulOperands& operands, Epilogue epilogue) {
  const TileArgs args = tile_args(plan, operands);
  const auto tiles =
      static_cast<unsigned>((plan.product.m + kTile - 1) / kTile * args.column_tiles);
  launch(operands.stream, "matmul_tiles",
         {.grid = dim3(tiles, static_cast<unsigned>(plan.splits)), .block = 256},
         tile_kernel<kTile, Epilogue>, args, epilogue);
}

/// Launches the plan's kernels: one, or two where k is split.
template <class Epilogue>
void enqueue_matmul(const MatmulPlan& plan, const MatmulOperands& operands, Epilogue epilogue) {
  switch (plan.kind) {
    case MatmulPlan::Kind::empty: return;
    case MatmulPlan::Kind::dots: return launch_dots(plan, operands, epilogue);
    case MatmulPlan::Kind::thin_sums: launch_thin_sums(plan, operands, epilogue); break;
    case MatmulPlan::Kind::tiles:
      if (plan.tile == 128) launch_tiles<128>(plan, operands, epilogue);
      if (plan.tile == 64) launch_tiles<64>(plan, operands, epilogue);
      if (plan.tile == 32) launch_tiles<32>(plan, operands, epilogue);
      break;
  }
  if (plan.splits == 1) return;
  const MatmulOutput out(plan, operands);
  add_parts(operands.stream, "matmul_split_sum", out.parts, plan.splits, out.rows * out.columns,
            SplitSums<Epilogue>{out, epilogue});
}

/// Returns a node's kernel: the product of inputs `a` and `b` is output 0; tail_of(args) is the
/// epilogue.
template <class TailOf>
Kernel product_of_inputs(const MatrixProduct& product, std::size_t a, std::size_t b,
                         TailOf tail_of) {
  const MatmulPlan plan = plan_matmul(product);
  const auto enqueue = [=](const Args& args) {
    enqueue_matmul(plan, {args.in(a), args.in(b), args.out(kFirst), args.workspace, args.stream},
                   tail_of(args));
  };
  return {.enqueue = enqueue, .workspace_bytes = plan.workspace_bytes, .engine = plan.engine};
}

}  // namespace linnet::cuda
