// SPDX-License-Identifier: Apache-2.0
#include "ops/batch_norm/launches_cuda.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "backend/cuda/kernel.h"
#include "base/bits.h"

namespace linnet::cuda {
namespace {

constexpr std::int64_t kBlocksOfSums = 1024;
constexpr std::int64_t kBlocksOfMaps = 8192;
static_assert(kBlocksOfSums <= kTickets, "a ticket for each tile of channels");

std::int64_t rows_of(const Shape& x) { return x[-1] > 0 ? x.elements() / x[-1] : 0; }

/// Returns tiles by which one launch computes sums and what follows from them, a block all rows of
/// some channels, where two launches are not faster. `keeps`: rows of a thread that are read once.
/// The choice follows from the shape alone, not from the device at hand, so that all kinds of norms
/// of one image add in the same order, and all kinds of gradients, on every device: what it assumes
/// of a device is an H100's and an H200's.
std::optional<ColumnTiles> tiles_of_one_launch(std::int64_t rows, std::int64_t channels,
                                               std::size_t element, bool vectors, int keeps) {
  constexpr double kMultiprocessors = 132;
  constexpr double kBytes = 80e9;   // a second, of one with 512 threads; an estimate
  constexpr double kSecond = 4e-6;  // launch, and the sums of the last block; on an H200
  constexpr double kPasses = 5;     // reads and writes of an image
  const ColumnTiles widest = column_tiles(rows, channels, 1, 1, vectors);
  const double image = static_cast<double>(element) * static_cast<double>(rows * channels);
  std::optional<ColumnTiles> best;
  double least = kPasses * image / (kMultiprocessors * kBytes) + kSecond;  // of two
  for (unsigned lanes = widest.lanes; lanes > 0; lanes /= 2) {
    const bool narrow = lanes * static_cast<unsigned>(widest.vector) < 8;  // than a sector
    if (narrow && lanes < widest.lanes) break;
    ColumnTiles t = widest;
    t.set_lanes(lanes);
    t.block = static_cast<unsigned>(
        std::clamp<std::uint64_t>(bit_ceil(static_cast<std::uint64_t>(rows)) * lanes, kWarp,
                                  kColumnBlock));
    const bool loops = t.vector != 4 || t.rows_of_thread() > keeps;
    const double blocks = t.tiles;
    const double at_once = kMultiprocessors * kColumnBlock / t.block;  // of these registers
    const double seconds =
        (loops ? 2 : 1) * kPasses * std::ceil(blocks / at_once) * image / (blocks * kBytes);
    if (seconds >= 0.99 * least) continue;
    best = t;
    least = seconds;
  }
  return best;
}

}  // namespace

ColumnTiles tiles_of_map(const Shape& image, bool vectors) {
  return column_tiles(rows_of(image), image[-1], 8, kBlocksOfMaps, vectors);
}

NormLaunches::NormLaunches(const ValueType& image, bool vectors, int keeps) {
  const std::int64_t rows = rows_of(image.shape);
  const std::int64_t channels = image.shape[-1];
  const auto one = tiles_of_one_launch(rows, channels, size_of(image.dtype), vectors, keeps);
  whole = one.has_value();
  sums = whole ? *one : column_tiles(rows, channels, 4, kBlocksOfSums, vectors);
  map = tiles_of_map(image.shape, vectors);
}

std::size_t AllNormLaunches::workspace_bytes() const {
  return std::max(fours.sums.partial_bytes(2), ones.sums.partial_bytes(2));
}

}  // namespace linnet::cuda
