// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

#include "backend/cpu/products/dot_product.h"
#include "backend/cpu/products/row_product.h"
#include "core/align.h"
#include "ops/activation/epilogue_cpu.h"
#include "ops/conv2d/correlation_cpu.h"
#include "ops/conv2d/cropped_product_cpu.h"
#include "ops/conv2d/engine_cpu.h"

namespace linnet::cpu {

/// A product of patches and weights. Tasks take equal parts of the lines; where these are few,
/// groups of columns as well, so that each reads a part of the weights of its own.
class PatchProduct {
 public:
  PatchProduct() = default;
  PatchProduct(const Correlation& correlation, std::int64_t columns)
      : all(correlation),
        blocks_(correlation),
        cropped_(correlation, columns),
        columns_(columns),
        width_(columns) {
    crops_ = cropped_.pays();
    dots_ = !crops_ && dot_product_pays(all.rows.kernel, all.segment(), columns);
    const double line = 2.0 * static_cast<double>(all.columns.out * all.taps() * columns);
    cut(tasks_for(all.lines(), conv_cost(line)));
  }

  std::size_t panels() const { return static_cast<std::size_t>(groups()) * group_floats(); }
  std::size_t scratch_bytes() const {
    return crops_ ? CroppedProduct::scratch_bytes() : blocks_.scratch_bytes();
  }
  int tasks() const { return line_tasks_ * static_cast<int>(groups()); }
  /// Groups of columns, whose panels stand apart.
  std::int64_t groups() const { return (columns_ + width_ - 1) / width_; }
  /// Packs terms [begin, end) of all columns from b, whose row 0 becomes `begin`.
  void pack(const StridedMatrix& b, std::int64_t begin, std::int64_t end, float* panels) const {
    for (std::int64_t g = 0; g < groups(); ++g) pack(b, begin, end, g, panels);
  }
  /// Packs the columns of group g.
  void pack(const StridedMatrix& b, std::int64_t begin, std::int64_t end, std::int64_t g,
            float* panels) const {
    if (dots_) return pack_dots(b, begin, end, all.segment(), columns_, panels);
    const StridedMatrix part{b.data + g * width_ * b.column_stride, b.term_stride, b.column_stride};
    pack_panels(part, begin, end, all.taps(), group_columns(g), group(panels, g));
  }
  /// Task `index` of tasks(): its lines and columns of the images at `to`. `start` may be null; an
  /// activation and a residual are for correlations that fill images line by line.
  void run(const float* images, const float* panels, const float* start, float* to, int index,
           std::byte* scratch, Activation activation = Activation::none,
           const float* residual = nullptr) const {
    const std::int64_t g = index % groups();
    const Range lines =
        split(crops_ ? all.n : all.lines(), line_tasks_, index / static_cast<int>(groups()));
    if (crops_) {
      cropped_.run(images, group(panels, g), start == nullptr ? nullptr : start + g * width_,
                   to + g * width_, group_columns(g), lines, scratch);
      const std::int64_t image = all.rows.place * all.columns.place;
      const std::int64_t first = lines.begin * image * columns_ + g * width_;
      add_bias_and_activate(to + first, lines.size() * image, group_columns(g), nullptr, activation,
                            columns_, residual == nullptr ? nullptr : residual + first);
      return;
    }
    blocks_.for_blocks(lines, [&](std::int64_t l0, std::int64_t l1) {
      const SegmentedRows a = blocks_.patches(images, l0, l1, scratch);
      float** c = blocks_.places(to + g * width_, columns_, l0, l1, scratch);
      const std::int64_t pixels = (l1 - l0) * all.columns.out;
      if (dots_) {
        dot_product(a, pixels, panels, columns_, start, c);
        const float* added = residual == nullptr ? nullptr : residual + (c[0] - to);
        const std::int64_t results = pixels * columns_;
        add_bias_and_activate(c[0], 1, results, nullptr, activation, results, added);
        return;
      }
      const bool in_registers = activation == Activation::none || activation == Activation::relu;
      const PanelTail tail{in_registers ? residual : nullptr, to, activation == Activation::relu,
                           residual != nullptr && streams(to), distant()};
      const int parts = static_cast<int>(std::max<std::int64_t>(pixels / kProductRows, 1));
      for (int p = 0; p < parts; ++p) {
        const Range rows = split(pixels, parts, p);
        panel_product({a.rows + rows.begin, a.segments, a.length, a.stride}, rows.size(),
                      group(panels, g), group_columns(g),
                      start == nullptr ? nullptr : start + g * width_, c + rows.begin, tail);
      }
      if (in_registers) return;
      add_bias_and_activate(c[0], pixels, group_columns(g), nullptr, activation, columns_,
                            residual == nullptr ? nullptr : residual + (c[0] - to));
    });
  }

  Correlation all;

 private:
  bool distant() const { return all.lines() * all.columns.out * columns_ >= kDistantFloats; }
  /// Whether results and their residual leave the caches before anyone reads them again, so that
  /// lines of results need not be read before they are written.
  bool streams(const float* to) const {
    constexpr std::int64_t kFloats = std::int64_t{4} << 20;
    constexpr std::int64_t kLine = 16;
    return columns_ % kLine == 0 && all.lines() * all.columns.out * columns_ >= kFloats &&
           reinterpret_cast<std::uintptr_t>(to) % (sizeof(float) * kLine) == 0;
  }
  /// Cuts lines, or images where the border is cropped, and columns for about `worth` tasks, by
  /// powers of two, which usual numbers of threads divide. Smaller tasks read weights or images
  /// again more often.
  void cut(int worth) {
    const std::int64_t rows = crops_ ? all.n : all.lines() * all.columns.out;
    const std::int64_t usual = crops_ ? CroppedProduct::kImages : kProductRows;
    const std::int64_t fewest = crops_ ? 16 : 48;
    const auto most =
        static_cast<std::uint64_t>(crops_ ? std::min<std::int64_t>(worth, all.n) : worth);
    const auto blocks = static_cast<std::uint64_t>((4 * rows + 3 * usual - 1) / (3 * usual));
    std::int64_t lines =
        static_cast<std::int64_t>(std::bit_floor(std::clamp<std::uint64_t>(blocks, 1, most)));
    std::int64_t groups = 1;
    const std::int64_t enough = std::clamp(worth, 8, 64);
    const auto add_groups = [&](std::int64_t width) {
      while (2 * lines * groups <= enough && 2 * groups * width <= columns_) groups *= 2;
    };
    add_groups(64);
    while (2 * lines * groups <= std::min<std::int64_t>(enough, worth) &&
           rows >= 2 * lines * fewest)
      lines *= 2;
    if (worth >= enough) add_groups(kPanel);
    line_tasks_ = static_cast<int>(lines);
    if (groups > 1) width_ = ((columns_ + groups - 1) / groups + kPanel - 1) / kPanel * kPanel;
  }
  std::int64_t group_columns(std::int64_t g) const {
    return std::min(width_, columns_ - g * width_);
  }
  std::size_t group_floats() const {
    return dots_ ? dot_floats(all.rows.kernel, all.segment(), columns_)
                 : panel_floats(all.taps(), width_);
  }
  template <class T>
  T* group(T* panels, std::int64_t g) const {
    return panels + static_cast<std::size_t>(g) * group_floats();
  }

  /// Columns of which a part begins with a panel of its own.
  static constexpr std::int64_t kPanel = 32;

  PatchBlocks blocks_;
  CroppedProduct cropped_;
  bool crops_ = false;
  bool dots_ = false;  ///< few columns: vectors lie along the terms
  std::int64_t columns_ = 1;
  std::int64_t width_ = 1;  ///< of a group of columns
  int line_tasks_ = 1;
};

/// Pixels whose products are summed in registers at once, in weight gradients.
inline constexpr std::int64_t kGradientTerms = 256;
/// Columns of a weight gradient that one task takes, where tasks don't share its sums.
inline constexpr std::int64_t kGradientColumns = 128;

/// Columns [begin, end) of segment `segment` of a weight gradient.
struct GradientPart {
  std::int64_t segment = 0;
  Range columns;
};

/// Sums of products of dz and patches over pixels.
class WeightGradient {
 public:
  /// `all`: how images are read that may have been padded before.
  WeightGradient(const ConvShape& s, const Correlation& all)
      : s_(s), all_(all), blocks_(all_), parts_(parts()) {}

  const Correlation& correlation() const { return all_; }
  std::int64_t part_count() const { return static_cast<std::int64_t>(parts_.size()); }
  std::size_t scratch_bytes() const { return own_bytes() + blocks_.scratch_bytes(); }
  /// The part of the gradient that `lines` give, for parts [begin, end) of the output channels
  /// `filters`, into dw (C_out, taps), which need not be zero before, but for cropped taps.
  void run(const float* x, const float* dz, Range lines, Range parts, Range filters, float* dw,
           std::byte* scratch) const {
    dz += filters.begin;
    dw += filters.begin * s_.taps();
    auto** z = reinterpret_cast<const float**>(scratch);
    auto* tiles = reinterpret_cast<float*>(scratch + addresses_bytes());
    float* panels = tiles + align_up(tile_floats(kGradientTerms, s_.co));
    bool first = true;
    blocks_.for_blocks(lines, [&](std::int64_t l0, std::int64_t l1) {
      const SegmentedRows a = blocks_.patches(x, l0, l1, scratch + own_bytes());
      const std::int64_t pixels = (l1 - l0) * s_.ow;
      for (std::int64_t p = 0; p < pixels; p += kGradientTerms, first = false) {
        const std::int64_t terms = std::min(kGradientTerms, pixels - p);
        const float* rows = dz + (l0 * s_.ow + p) * s_.co;
        if (!in_place_) {
          for (std::int64_t t = 0; t < terms; ++t) z[t] = rows + t * s_.co;
          pack_tiles(z, terms, filters.size(), tiles);
        }
        for (std::int64_t part = parts.begin; part < parts.end; ++part) {
          const auto& [segment, columns] = parts_[static_cast<std::size_t>(part)];
          float* to =
              dw + (all_.rows.tap(segment) * s_.kw + all_.columns.tap(0)) * s_.c + columns.begin;
          const std::int64_t offset = segment * a.stride + columns.begin;
          if (in_place_) {
            row_product({.terms = terms,
                         .rows = filters.size(),
                         .columns = columns.size(),
                         .a = rows,
                         .a_stride = s_.co,
                         .b = a.rows + p,
                         .b_offset = offset,
                         .c = to,
                         .c_stride = s_.taps()},
                        !first);
            continue;
          }
          pack_row_panels(a.rows + p, offset, terms, columns.size(), panels);
          tile_product({terms, filters.size(), columns.size()}, tiles, panels, !first, to,
                       s_.taps());
        }
      }
    });
  }

 private:
  std::vector<GradientPart> parts() const {
    std::vector<GradientPart> all;
    const std::int64_t length = all_.segment();
    std::int64_t count =
        std::max<std::int64_t>((length + kGradientColumns / 2) / kGradientColumns, 1);
    if (in_place_) {
      count = static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(count)));
    }
    constexpr std::int64_t kVector = 16;
    const std::int64_t width = ((length + count - 1) / count + kVector - 1) / kVector * kVector;
    for (std::int64_t k = 0; k < all_.rows.kernel; ++k) {
      for (std::int64_t j = 0; j < length; j += width) {
        all.push_back({k, {j, std::min(j + width, length)}});
      }
    }
    return all;
  }
  static std::size_t addresses_bytes() { return align_up(sizeof(float*) * kGradientTerms); }
  std::size_t own_bytes() const {
    if (in_place_) return 0;  // nothing is packed
    return addresses_bytes() +
           sizeof(float) * (align_up(tile_floats(kGradientTerms, s_.co)) +
                            align_up(panel_floats(kGradientTerms, 2 * kGradientColumns)));
  }

  ConvShape s_;
  Correlation all_;
  PatchBlocks blocks_;
  bool in_place_ = row_product_pays(s_.co);
  std::vector<GradientPart> parts_;
};

}  // namespace linnet::cpu
