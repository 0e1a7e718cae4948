// SPDX-License-Identifier: Apache-2.0
#include "ops/conv2d/bf16_weight_gradient_cpu.h"

#include "core/align.h"

namespace linnet::cpu {
namespace {

/// Pixels that are summed in registers at once; even, so that pairs stay together.
constexpr std::int64_t kTerms = 256;
/// Bytes of a block's frame, which is read once.
constexpr std::int64_t kFrameBytes = 1024 * 1024;
/// Columns whose panels are packed at once.
constexpr std::int64_t kColumns = 128;
/// Output channels are handed out by tiles.
constexpr std::int64_t kTile = 12;
/// Of output channels that are packed at once: in half of the L2 cache.
constexpr std::int64_t kMostRows = 1008;

}  // namespace

FrameWeightGradient::FrameWeightGradient(const ConvShape& s, Stored x, Stored dz)
    : all(forward_correlation(s)), s_(s), dz_(dz), frames_(all, x, kTerms, kFrameBytes) {
  constexpr std::int64_t kPanel = 32;
  const std::int64_t length = all.segment();
  const std::int64_t count = (length + kColumns - 1) / kColumns;
  const std::int64_t width =
      count == 0 ? kPanel : ((length + count - 1) / count + kPanel - 1) / kPanel * kPanel;
  for (std::int64_t k = 0; k < all.rows.kernel; ++k) {
    for (std::int64_t j = 0; j < length; j += width) {
      parts_.push_back({k, {j, std::min(j + width, length)}});
    }
  }
  choose_tasks();
}

void FrameWeightGradient::choose_tasks() {
  constexpr std::int64_t kEnough = 8;
  constexpr std::int64_t kLeastRows = 48;
  constexpr std::int64_t kMostPartial = std::int64_t{16} << 20;  // floats
  const std::int64_t pixels = all.lines() * all.columns.out;
  const auto flops = 2.0 * static_cast<double>(pixels * s_.weights());
  const std::int64_t worth =
      tasks_for(pixels, flops / 200 / static_cast<double>(std::max<std::int64_t>(pixels, 1)));
  const auto least_rows = static_cast<int>((s_.co + kMostRows - 1) / kMostRows);
  const auto tasks = std::max<std::int64_t>(std::min(worth, kEnough), least_rows);
  double fewest = 0;
  for (int r = least_rows; r <= tasks && (r == least_rows || r * kLeastRows <= s_.co); ++r) {
    for (int c = 1; r * c <= tasks && c <= std::ssize(parts_); ++c) {
      const auto q = static_cast<int>(
          std::clamp<std::int64_t>(tasks / (r * c), 1,
                                   std::max<std::int64_t>(std::min({pixels / kTerms, all.lines(),
                                                                    kMostPartial / s_.weights()}),
                                                          1)));
      // Floats that are read, each task's again, and those of partial sums, also written; a
      // missing task leaves a part of the machine idle.
      const double read =
          static_cast<double>(s_.n * (s_.out_pixels() * s_.co * c + s_.in_pixels() * s_.c * r * c));
      const double sums = q > 1 ? 2.0 * static_cast<double>(q * s_.weights()) : 0;
      const double idle = static_cast<double>(tasks) / (q * r * c);
      const double cost = (read + sums + flops / 50) * idle;
      if (fewest > 0 && cost >= fewest) continue;
      fewest = cost;
      line_parts_ = q;
      row_parts_ = r;
      column_parts_ = c;
    }
  }
}

Range FrameWeightGradient::rows(int index) const {
  const Range tiles = split((s_.co + kTile - 1) / kTile, row_parts_, index);
  return {tiles.begin * kTile, std::min(tiles.end * kTile, s_.co)};
}

std::size_t FrameWeightGradient::tile_bytes() const {
  const std::int64_t most = (s_.co + row_parts_ - 1) / row_parts_ + kTile;
  return align_up(bf16_tile_bytes(kTerms / 2, most));
}

std::size_t FrameWeightGradient::panel_bytes() const {
  return align_up(bf16_panel_bytes(kTerms / 2, kColumns));
}

std::size_t FrameWeightGradient::scratch_bytes() const {
  return tile_bytes() + panel_bytes() + frames_.scratch_bytes();
}

void FrameWeightGradient::run(const void* x, const void* dz, float* dw, int index,
                              std::byte* scratch) const {
  auto* tiles = reinterpret_cast<std::uint16_t*>(scratch);
  auto* panels = reinterpret_cast<std::uint16_t*>(scratch + tile_bytes());
  std::byte* frames = scratch + tile_bytes() + panel_bytes();
  const Range parts = split(std::ssize(parts_), column_parts_, index % column_parts_);
  index /= column_parts_;
  const Range own = rows(index % row_parts_);
  index /= row_parts_;
  const Range lines = split(all.lines(), line_parts_, index);
  dw += index * s_.weights() + own.begin * s_.taps();
  bool first = true;
  for (std::int64_t l0 = lines.begin; l0 < lines.end; l0 += frames_.block_lines()) {
    const std::int64_t l1 = std::min(l0 + frames_.block_lines(), lines.end);
    const Bf16Rows a = frames_.patches(x, l0, l1, frames);
    const std::int64_t pixels = (l1 - l0) * s_.ow;
    const std::int64_t chunks = (pixels + kTerms - 1) / kTerms;
    const std::int64_t chunk = 2 * pairs_of((pixels + chunks - 1) / chunks);
    for (std::int64_t p = 0; p < pixels; p += chunk, first = false) {
      const std::int64_t terms = std::min(chunk, pixels - p);
      const std::int64_t at = (l0 * s_.ow + p) * s_.co + own.begin;
      if (dz_.bf16()) {
        pack_bf16_tiles(static_cast<const std::uint16_t*>(dz) + at, s_.co, terms, own.size(),
                        tiles);
      } else {
        pack_bf16_tiles(static_cast<const float*>(dz) + at, s_.co, terms, own.size(), tiles);
      }
      for (std::int64_t i = parts.begin; i < parts.end; ++i) {
        const Part& part = parts_[static_cast<std::size_t>(i)];
        pack_bf16_row_panels(a.rows + p, part.segment * a.stride + part.columns.begin, terms,
                             part.columns.size(), panels);
        const std::int64_t tap = all.rows.tap(part.segment) * s_.kw + all.columns.tap(0);
        bf16_tile_product(pairs_of(terms), own.size(), part.columns.size(), tiles, panels, !first,
                          dw + tap * s_.c + part.columns.begin, s_.taps());
      }
    }
  }
}

}  // namespace linnet::cpu
