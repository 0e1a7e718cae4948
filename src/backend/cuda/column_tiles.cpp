// SPDX-License-Identifier: Apache-2.0
#include "backend/cuda/column_tiles.h"

#include <algorithm>

#include "base/bits.h"

namespace linnet::cuda {
namespace {

std::int64_t parts(std::int64_t items, std::int64_t size) { return (items + size - 1) / size; }

/// `rows` and `columns`: after the fold.
ColumnTiles sums_of(std::int64_t rows, std::int64_t columns, unsigned fold) {
  constexpr std::int64_t kBlocks = 396;  // three to a multiprocessor of a large device, all at once
  constexpr std::int64_t kRowsEach = 8;  // of a thread, which loads them at once
  constexpr std::int64_t kFew = 8;       // rows too few for the threads of a narrow block
  ColumnTiles t = column_tiles(rows, columns, 1, 1);
  t.fold = fold;
  if (fold > 1 || rows < kFew) t.set_lanes(kWarp);
  t.block = static_cast<unsigned>(
      std::clamp<std::uint64_t>(bit_ceil(static_cast<std::uint64_t>(rows)) * t.lanes, kWarp,
                                kBlock));
  const std::int64_t of_round = kRowsEach * (t.block / t.lanes);
  // One block alone adds a few more rows sooner than others would be waited for.
  if (rows <= 2 * of_round) return t;
  // Nor may adding up the chunks take more than four rounds.
  const std::int64_t most =
      std::clamp<std::int64_t>(kBlocks / std::max(t.tiles, 1U), 1, 4 * of_round);
  t.set_chunks(static_cast<unsigned>(std::min(parts(rows, of_round), most)));
  return t;
}

}  // namespace

void ColumnTiles::set_lanes(unsigned most) {
  const std::int64_t vectors = columns / vector;
  lanes = 1;
  while (lanes < most && lanes < vectors) lanes *= 2;
  tiles = static_cast<unsigned>(parts(vectors, lanes));
}

void ColumnTiles::set_chunks(unsigned count) {
  chunks = count;
  chunk_rows = parts(rows, count);
}

ColumnTiles column_tiles(std::int64_t rows, std::int64_t columns, std::int64_t rows_each,
                         std::int64_t most_blocks, bool vectors) {
  ColumnTiles t{.rows = rows, .columns = columns, .vector = vectors && columns % 4 == 0 ? 4 : 1};
  t.set_lanes(kWarp / static_cast<unsigned>(t.vector));
  const std::int64_t rows_of_block = rows_each * (kBlock / t.lanes);
  const std::int64_t most = std::max<std::int64_t>(most_blocks / std::max(t.tiles, 1U), 1);
  t.set_chunks(static_cast<unsigned>(
      std::clamp<std::int64_t>(rows / rows_of_block, 1, std::min<std::int64_t>(most, 65535))));
  return t;
}

ColumnTiles column_sums(std::int64_t rows, std::int64_t columns) {
  return sums_of(rows, columns, 1);
}

ColumnTiles matrix_sums(std::int64_t rows, std::int64_t columns) {
  const unsigned fold = columns % 4 == 0 ? 1 : columns % 2 == 0 ? 2 : 4;
  const bool folds = rows % fold == 0 && columns * fold <= 4 * kWarp;
  return folds ? sums_of(rows / fold, columns * fold, fold) : sums_of(rows, columns, 1);
}

}  // namespace linnet::cuda
