// SPDX-License-Identifier: Apache-2.0
#include "backend/cuda/kernel.h"
#include "backend/cuda/matmul.cuh"
#include "ops/matmul/matmul.h"

namespace linnet::cuda {
namespace {

struct BatchArgs {
  MatrixOperand a;  ///< of the first product; the others follow without gaps
  MatrixOperand b;
  float* y = nullptr;
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::int64_t terms = 0;
  std::int64_t column_tiles = 0;
  std::int64_t tiles = 0;  ///< of one product
};

/// A block: one tile of one product. As tile_kernel() of matmul.cuh, but k is never split,
/// since there are products enough; every product sums its terms in the same order.
template <int kTile>
__global__ void __launch_bounds__(256) batch_tile_kernel(BatchArgs args) {
  const std::int64_t product = blockIdx.x / args.tiles;
  const std::int64_t tile = blockIdx.x % args.tiles;
  const std::int64_t row0 = tile / args.column_tiles * kTile;
  const std::int64_t column0 = tile % args.column_tiles * kTile;
  args.a.data += product * args.rows * args.terms;
  args.b.data += product * args.columns * args.terms;
  float* y = args.y + product * args.rows * args.columns;
  using T = SquareTile<kTile>;
  float sums[T::kSide][T::kSide] = {};
  sum_product<T>(args.a, args.b, row0, column0, {0, args.terms}, sums);
  for_sums<T>(row0, column0, sums, [&](std::int64_t row, std::int64_t column, float sum) {
    if (row < args.rows && column < args.columns) y[row * args.columns + column] = sum;
  });
}

template <int kTile>
Kernel tiles(const MatmulAttrs& attrs, const MatmulDims& e) {
  const std::int64_t column_tiles = (e.n + kTile - 1) / kTile;
  const std::int64_t each = (e.m + kTile - 1) / kTile * column_tiles;
  const std::int64_t a_stride = attrs.transpose_a ? e.m : e.k;
  const std::int64_t b_stride = attrs.transpose_b ? e.k : e.n;
  const auto enqueue = [=](const Args& args) {
    const BatchArgs batch{.a = matrix_operand(args.in(MatmulOp::In::a), e.m, e.k,
                                              !attrs.transpose_a, a_stride),
                          .b = matrix_operand(args.in(MatmulOp::In::b), e.n, e.k, attrs.transpose_b,
                                              b_stride),
                          .y = args.out(MatmulOp::Out::y),
                          .rows = e.m,
                          .columns = e.n,
                          .terms = e.k,
                          .column_tiles = column_tiles,
                          .tiles = each};
    launch(args.stream, "batch_matmul_tiles",
           {.grid = dim3(static_cast<unsigned>(each * e.products)), .block = 256},
           batch_tile_kernel<kTile>, batch);
  };
  return {.enqueue = enqueue,
          .engine = kTile == 64 ? "tiles 64x64 of each product" : "tiles 32x32 of each product"};
}

std::optional<Kernel> prepare_matmul(const NodeView& node, const Context& /*context*/) {
  using In = MatmulOp::In;
  const MatmulAttrs attrs = node.attrs<MatmulOp>();
  const MatmulDims e(attrs, node.in(In::a), node.in(In::b));
  if (std::min(e.m, e.n) > 32) return tiles<64>(attrs, e);
  return tiles<32>(attrs, e);
}

}  // namespace

void register_matmul(Registry& registry) { registry.add(MatmulOp::kName, prepare_matmul); }

}  // namespace linnet::cuda
