// SPDX-License-Identifier: Apache-2.0
#include "ops/transpose/transpose.h"

#include "ops/slice/rows_cpu.h"
#include "ops/transpose/axes.h"

namespace linnet::cpu {
namespace {

constexpr std::int64_t kTile = 32;  // rows and columns that stay in the L1 cache
constexpr std::int64_t kBlock = 4;  // and in registers

/// to[a * to_stride + b] = from[b * from_stride + a] for a, b < kBlock.
void transpose_block(const float* from, std::int64_t from_stride, float* to,
                     std::int64_t to_stride) {
  float block[kBlock][kBlock];
  for (std::int64_t b = 0; b < kBlock; ++b) {
    for (std::int64_t a = 0; a < kBlock; ++a) block[a][b] = from[b * from_stride + a];
  }
  for (std::int64_t a = 0; a < kBlock; ++a) {
    std::memcpy(to + a * to_stride, block[a], sizeof(block[a]));
  }
}

/// Does the same for a < rows, b < columns.
void transpose_tile(const float* from, std::int64_t from_stride, float* to, std::int64_t to_stride,
                    std::int64_t rows, std::int64_t columns) {
  std::int64_t a = 0;
  for (; a + kBlock <= rows; a += kBlock) {
    std::int64_t b = 0;
    for (; b + kBlock <= columns; b += kBlock) {
      transpose_block(from + b * from_stride + a, from_stride, to + a * to_stride + b, to_stride);
    }
    for (; b < columns; ++b) {
      for (std::int64_t k = a; k < a + kBlock; ++k) {
        to[k * to_stride + b] = from[b * from_stride + k];
      }
    }
  }
  for (; a < rows; ++a) {
    for (std::int64_t b = 0; b < columns; ++b) to[a * to_stride + b] = from[b * from_stride + a];
  }
}

/// The last axis stays the last: rows of it move. Neighbours along the axis before it are equally
/// far apart, so that few places are computed.
Kernel move_rows(const std::vector<TransposeAxis>& axes) {
  const std::vector<TransposeAxis> outer(axes.begin(), axes.end() - 1);
  const TransposeAxis inner = outer.empty() ? TransposeAxis{} : outer.back();
  const std::int64_t size = axes.back().dim;
  const double cost = kMoveCost + 4.0 / static_cast<double>(std::max<std::int64_t>(size, 1));
  return one_stage(indices(outer) * size, cost, [=](const Args& args, Range range) {
    const float* from = nullptr;
    std::int64_t known = 0;  // rows whose places follow from the one before
    for_row_pieces(range, size, [&](std::int64_t row, std::int64_t begin, std::int64_t end) {
      if (known == 0) {
        from = args.in(TransposeOp::In::x) + transpose_place(outer, row).from;
        known = inner.dim - row % inner.dim;
      }
      copy_floats(from + begin, args.out(TransposeOp::Out::y) + row * size + begin, end - begin);
      from += inner.from_stride;
      --known;
    });
  });
}

/// Planes of the operand's last axis (rows of the result) and the result's last axis, in tiles.
Kernel transpose_planes(std::vector<TransposeAxis> axes) {
  const TransposePlane plane_axes = take_plane(axes);  // Clang before 16 captures no binding
  const TransposeAxis row = plane_axes.row;
  const TransposeAxis column = plane_axes.column;
  const std::int64_t row_tiles = (row.dim + kTile - 1) / kTile;
  const std::int64_t column_tiles = (column.dim + kTile - 1) / kTile;
  const std::int64_t tiles = row_tiles * column_tiles;
  const double cost = 10 + 0.6 * static_cast<double>(std::min(row.dim, kTile)) *
                               static_cast<double>(std::min(column.dim, kTile));
  return one_stage(indices(axes) * tiles, cost, [=](const Args& args, Range range) {
    for (std::int64_t i = range.begin; i < range.end; ++i) {
      const TransposePlace plane = transpose_place(axes, i / tiles);
      const std::int64_t a = i % tiles / column_tiles * kTile;
      const std::int64_t b = i % column_tiles * kTile;
      transpose_tile(args.in(TransposeOp::In::x) + plane.from + b * column.from_stride + a,
                     column.from_stride,
                     args.out(TransposeOp::Out::y) + plane.to + a * row.to_stride + b,
                     row.to_stride, std::min(kTile, row.dim - a), std::min(kTile, column.dim - b));
    }
  });
}

std::optional<Kernel> prepare(const NodeView& node) {
  using In = TransposeOp::In;
  if (node.in(In::x).elements() == 0) return Kernel{};
  const std::vector<TransposeAxis> axes =
      merged_axes(node.in(In::x), node.attrs<TransposeOp>().permutation);
  return axes.back().from_stride == 1 ? move_rows(axes) : transpose_planes(axes);
}

}  // namespace

void register_transpose(Registry& registry) { registry.add(TransposeOp::kName, prepare); }

}  // namespace linnet::cpu
