// SPDX-License-Identifier: Apache-2.0
#include "backend/cuda/kernel.h"
#include "backend/cuda/matmul.cuh"
#include "ops/matmul/matmul.h"

namespace linnet::cuda {
namespace {

/// A block: one tile of one product, of which `args` is the first; the others follow without gaps.
/// As tile_kernel() of matmul.cuh, but k is never split, since there are products enough; every
/// product sums its terms in the same order.
template <int kTile>
__global__ void __launch_bounds__(256) batch_tile_kernel(TileArgs args, unsigned tiles) {
  const std::int64_t product = blockIdx.x / tiles;
  args.a.data += product * args.out.rows * args.terms;
  args.b.data += product * args.out.columns * args.terms;
  float* y = args.out.c + product * args.out.rows * args.out.columns;
  const auto put = [&](std::int64_t row, std::int64_t column, float sum) {
    if (row < args.out.rows && column < args.out.columns) y[row * args.out.columns + column] = sum;
  };
  sum_tile<kTile>(args, blockIdx.x % tiles, {0, args.terms}, put);
}

template <int kTile>
Kernel tiles(const MatmulAttrs& attrs, const MatmulDims& e) {
  const MatmulPlan one{.product = {.m = e.m,
                                   .n = e.n,
                                   .k = e.k,
                                   .transpose_a = attrs.transpose_a,
                                   .transpose_b = attrs.transpose_b},
                       .tile = kTile,
                       .split_terms = e.k};
  const auto enqueue = [=](const Args& args) {
    const TileArgs first = tile_args(one, {args.in(MatmulOp::In::a), args.in(MatmulOp::In::b),
                                           args.out(MatmulOp::Out::y)});
    const std::int64_t each = (e.m + kTile - 1) / kTile * first.column_tiles;
    launch(args.stream, "batch_matmul_tiles",
           {.grid = dim3(static_cast<unsigned>(each * e.products)), .block = 256},
           batch_tile_kernel<kTile>, first, each);
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
