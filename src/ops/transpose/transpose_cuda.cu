// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "backend/cuda/element_wise.cuh"
#include "ops/transpose/axes.h"
#include "ops/transpose/transpose.h"

namespace linnet::cuda {
namespace {

constexpr int kTile = 32;
constexpr int kLines = static_cast<int>(kBlock) / kTile;  // of a tile, moved at a time
constexpr std::int64_t kMinTile = 16;  // narrower planes leave too many of a tile's threads idle

/// Moves every pack of the result from its place in the operand.
template <int kWidth, class Index>
void launch_move(const Args& args, const TransposeAxes& axes, std::int64_t items) {
  const auto move = [=] __device__(std::int64_t i, const float* from, float* to) {
    const std::int64_t at = transpose_place(axes, static_cast<Index>(i)).from;
    store_vector(to + i * kWidth, load_vector<kWidth>(from + at));
  };
  for_each_item(args.stream, "transpose", items, move, args.in(kFirst), args.out(kFirst));
}

/// Blocks take tiles of the planes through shared memory: both sides are met along their rows.
__global__ void tile_kernel(const float* from, float* to, TransposeAxes outer, TransposePlane plane,
                            std::int64_t row_tiles, std::int64_t column_tiles, std::int64_t tiles) {
  __shared__ float tile[kTile][kTile + 1];  // one more: columns fall into different banks
  const int lane = static_cast<int>(threadIdx.x) % kTile;
  const int line = static_cast<int>(threadIdx.x) / kTile;
  for (std::int64_t i = blockIdx.x; i < tiles; i += gridDim.x) {
    const std::int64_t rest = i / column_tiles;
    const TransposePlace at = transpose_place(outer, rest / row_tiles);
    const std::int64_t a = rest % row_tiles * kTile;
    const std::int64_t b = i % column_tiles * kTile;
    const float* x = from + at.from + b * plane.column.from_stride + a;
    float* y = to + at.to + a * plane.row.to_stride + b;
    const std::int64_t rows = plane.row.dim - a;
    const std::int64_t columns = plane.column.dim - b;
    for (int first = 0; first < kTile; first += kLines) {
      const int k = first + line;
      if (k < columns && lane < rows) tile[k][lane] = x[k * plane.column.from_stride + lane];
    }
    __syncthreads();
    for (int first = 0; first < kTile; first += kLines) {
      const int k = first + line;
      if (k < rows && lane < columns) y[k * plane.row.to_stride + lane] = tile[lane][k];
    }
    __syncthreads();
  }
}

Kernel transpose_planes(std::vector<TransposeAxis> axes) {
  const TransposePlane plane = take_plane(axes);
  const TransposeAxes outer(axes);
  const std::int64_t row_tiles = (plane.row.dim + kTile - 1) / kTile;
  const std::int64_t column_tiles = (plane.column.dim + kTile - 1) / kTile;
  const std::int64_t tiles = indices(axes) * row_tiles * column_tiles;
  return {.enqueue = [=](const Args& args) {
    launch(args.stream, "transpose", for_items(tiles * kBlock), tile_kernel,
           args.in(TransposeOp::In::x), args.out(TransposeOp::Out::y), outer, plane, row_tiles,
           column_tiles, tiles);
  }};
}

Kernel move_items(const std::vector<TransposeAxis>& axes) {
  const TransposeAxes single(axes);
  TransposeAxes packed = single;
  TransposeAxis& last = packed.axis[packed.count - 1];
  last = {last.dim / 4, last.from_stride * 4, last.to_stride * 4};
  // Where the operand's last axis stays the last, all other strides are multiples of its dimension.
  const bool packs = axes.back().from_stride == 1 && axes.back().dim % 4 == 0;
  const std::int64_t elements = indices(axes);
  return {.enqueue = [=](const Args& args) {
    const bool fours = packs && vector_aligned(args.in(kFirst), args.out(kFirst));
    with_index(elements, [&](auto index) {
      using Index = decltype(index);
      fours ? launch_move<4, Index>(args, packed, elements / 4)
            : launch_move<1, Index>(args, single, elements);
    });
  }};
}

std::optional<Kernel> prepare_transpose(const NodeView& node, const Context& /*context*/) {
  using In = TransposeOp::In;
  if (node.in(In::x).elements() == 0) return Kernel{.enqueue = [](const Args&) {}};
  std::vector<TransposeAxis> axes =
      merged_axes(node.in(In::x), node.attrs<TransposeOp>().permutation);
  if (axes.back().from_stride == 1) return move_items(axes);
  std::vector<TransposeAxis> others = axes;
  const TransposePlane plane = take_plane(others);
  return std::min(plane.row.dim, plane.column.dim) < kMinTile ? move_items(axes)
                                                              : transpose_planes(axes);
}

}  // namespace

void register_transpose(Registry& registry) { registry.add(TransposeOp::kName, prepare_transpose); }

}  // namespace linnet::cuda
