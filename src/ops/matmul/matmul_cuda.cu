// SPDX-License-Identifier: Apache-2.0
#include "backend/cuda/kernel.h"
#include "backend/cuda/matmul.cuh"
#include "ops/matmul/matmul.h"

namespace linnet::cuda {
namespace {

struct BatchArgs {
  TileSource a;  ///< of the first product; the others follow without gaps
  TileSource b;
  float* y = nullptr;
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::int64_t terms = 0;
  std::int64_t column_tiles = 0;
  std::int64_t tiles = 0;  ///< of one product
};

/// A block: one tile of one product. As tile_kernel() of matmul.cuh, but k is never split, since
/// there are products enough; every product sums its terms in the same order.
template <int kTile>
__global__ void __launch_bounds__(256) batch_tile_kernel(BatchArgs args) {
  constexpr int kTerms = kTileValues / kTile;
  constexpr int kCount = kTile / 16;
  using Share = ThreadShare<kTile>;
  alignas(16) __shared__ float a_tiles[2][kTerms][kTile + 4];
  alignas(16) __shared__ float b_tiles[2][kTerms][kTile + 4];
  const std::int64_t product = blockIdx.x / args.tiles;
  const std::int64_t tile = blockIdx.x % args.tiles;
  const std::int64_t row0 = tile / args.column_tiles * kTile;
  const std::int64_t column0 = tile % args.column_tiles * kTile;
  args.a.data += product * args.rows * args.terms;
  args.b.data += product * args.columns * args.terms;
  float* y = args.y + product * args.rows * args.columns;
  const int row_lane = static_cast<int>(threadIdx.x) / 16;
  const int column_lane = static_cast<int>(threadIdx.x) % 16;

  float sums[kCount][kCount] = {};
  float4 a_next = read_tile<kTile>(args.a, row0, 0, args.terms);
  float4 b_next = read_tile<kTile>(args.b, column0, 0, args.terms);
  int half = 0;
  for (std::int64_t term = 0; term < args.terms; term += kTerms) {
    store_tile<kTile>(a_tiles[half], args.a.along_terms, a_next);
    store_tile<kTile>(b_tiles[half], args.b.along_terms, b_next);
    __syncthreads();  // one is enough: the other half was read before this one was stored
    if (term + kTerms < args.terms) {
      a_next = read_tile<kTile>(args.a, row0, term + kTerms, args.terms);
      b_next = read_tile<kTile>(args.b, column0, term + kTerms, args.terms);
    }
#pragma unroll
    for (int t = 0; t < kTerms; ++t) {
      float a[kCount];
      float b[kCount];
      read_share<kTile>(a_tiles[half][t], row_lane, a);
      read_share<kTile>(b_tiles[half][t], column_lane, b);
#pragma unroll
      for (int i = 0; i < kCount; ++i) {
#pragma unroll
        for (int j = 0; j < kCount; ++j) sums[i][j] = fmaf(a[i], b[j], sums[i][j]);
      }
    }
    half ^= 1;
  }
#pragma unroll
  for (int i = 0; i < kCount; ++i) {
    const std::int64_t row = row0 + Share::at(i, row_lane);
#pragma unroll
    for (int j = 0; j < kCount; ++j) {
      const std::int64_t column = column0 + Share::at(j, column_lane);
      if (row < args.rows && column < args.columns) y[row * args.columns + column] = sums[i][j];
    }
  }
}

/// rows, or columns, by terms; `along_terms`: whether terms are neighbours in memory.
TileSource source(const float* data, std::int64_t lines, std::int64_t terms, bool along_terms) {
  const std::int64_t stride = along_terms ? terms : lines;
  return {.data = data,
          .stride = stride,
          .outer = along_terms ? lines : terms,
          .inner = stride,
          .along_terms = along_terms,
          .vectors = reads_by_four(data, stride)};
}

template <int kTile>
Kernel tiles(const MatmulAttrs& attrs, const MatmulExtents& e) {
  const std::int64_t column_tiles = (e.n + kTile - 1) / kTile;
  const std::int64_t each = (e.m + kTile - 1) / kTile * column_tiles;
  return {.enqueue =
              [=](const Args& args) {
                if (each * e.products == 0) return;
                const BatchArgs batch{.a = source(args.in(0), e.m, e.k, !attrs.transpose_a),
                                      .b = source(args.in(1), e.n, e.k, attrs.transpose_b),
                                      .y = args.out(0),
                                      .rows = e.m,
                                      .columns = e.n,
                                      .terms = e.k,
                                      .column_tiles = column_tiles,
                                      .tiles = each};
                launch(args.stream, "batch_matmul_tiles",
                       {.grid = dim3(static_cast<unsigned>(each * e.products)), .block = 256},
                       batch_tile_kernel<kTile>, batch);
              },
          .engine = kTile == 64 ? "tiles 64x64 of each product" : "tiles 32x32 of each product"};
}

std::optional<Kernel> prepare_matmul(const NodeView& node, const Context& /*context*/) {
  const MatmulAttrs attrs = node.attrs<MatmulOp>();
  const MatmulExtents e(attrs, node.in(0), node.in(1));
  return std::min(e.m, e.n) > 32 ? tiles<64>(attrs, e) : tiles<32>(attrs, e);
}

}  // namespace

void register_matmul(Registry& registry) { registry.add(MatmulOp::kName, prepare_matmul); }

}  // namespace linnet::cuda
