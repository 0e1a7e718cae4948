// SPDX-License-Identifier: Apache-2.0
// 3x3 kernels at stride 1 by Winograd's F(2x2, 3x3): tiles of 4x4 pixels, transformed to 16 points,
// whose channels are multiplied point by point; 2x2 outputs of a tile are their transform.
#include "ops/conv2d/winograd_cpu.h"

#include <array>

#include "backend/cpu/gemm.h"
#include "backend/cpu/panel_product.h"
#include "backend/cpu/partial_sums.h"
#include "core/align.h"
#include "ops/activation/epilogue_cpu.h"
#include "ops/conv2d/engine_cpu.h"

namespace linnet::cpu {
namespace {

constexpr std::int64_t kPoints = kWinogradPoints;
constexpr std::int64_t kTaps = 9;

/// A block's points of one operand: they should leave room in the L2 cache.
constexpr std::int64_t kBlockFloats = std::int64_t{64} << 10;

/// Floats from one of 16 points to the next that are written side by side: not a multiple of what
/// would put them all in one set of the L1 cache.
constexpr std::int64_t point_stride(std::int64_t floats) {
  constexpr std::int64_t kLine = 16;
  return (floats / kLine + 2) * kLine;
}

/// Tiles of 2x2 outputs, and the 4x4 inputs that each reads.
struct Tiling {
  std::int64_t n = 0, in_h = 0, in_w = 0, out_h = 0, out_w = 0;
  std::int64_t pad_top = 0, pad_left = 0;

  std::int64_t rows() const { return (out_h + 1) / 2; }
  std::int64_t columns() const { return (out_w + 1) / 2; }
  std::int64_t count() const { return n * rows() * columns(); }

  /// Addresses of the 4x4 inputs of a tile, `zeros` outside of the images (N, H, W, channels).
  std::array<const float*, 16> inputs(const float* images, std::int64_t channels, std::int64_t tile,
                                      const float* zeros) const {
    return window<4>(images, channels, tile, in_h, in_w, pad_top, pad_left, zeros);
  }
  /// Addresses of the 2x2 outputs, null outside.
  template <class T>
  std::array<T*, 4> outputs(T* images, std::int64_t channels, std::int64_t tile,
                            T* outside = nullptr) const {
    return window<2>(images, channels, tile, out_h, out_w, 0, 0, outside);
  }

 private:
  template <int kSize, class T>
  std::array<T*, kSize * kSize> window(T* images, std::int64_t channels, std::int64_t tile,
                                       std::int64_t h, std::int64_t w, std::int64_t top,
                                       std::int64_t left, T* outside) const {
    const std::int64_t image = tile / (rows() * columns());
    const std::int64_t first_y = tile / columns() % rows() * 2 - top;
    const std::int64_t first_x = tile % columns() * 2 - left;
    std::array<T*, kSize * kSize> found;
    for (std::int64_t i = 0; i < kSize; ++i) {
      for (std::int64_t j = 0; j < kSize; ++j) {
        const std::int64_t y = first_y + i;
        const std::int64_t x = first_x + j;
        const bool inside = y >= 0 && y < h && x >= 0 && x < w;
        found[static_cast<std::size_t>(i * kSize + j)] =
            inside ? images + ((image * h + y) * w + x) * channels : outside;
      }
    }
    return found;
  }
};

/// The weights' transform wants more tiles than these; where it is kept, reading its result does.
constexpr std::int64_t kFewTiles = 256;
constexpr std::int64_t kFewTilesOfKept = 32;

bool takes(const ConvShape& s, std::int64_t few_tiles = kFewTiles) {
  const Conv2dAttrs& a = s.attrs;
  return s.kh == 3 && s.kw == 3 && a.stride_h == 1 && a.stride_w == 1 && a.dilation_h == 1 &&
         a.dilation_w == 1 && a.groups == 1 && s.c >= kWinogradChannels &&
         s.co >= kWinogradChannels && s.oh >= 3 && s.ow >= 3 &&
         s.n * ((s.oh + 1) / 2) * ((s.ow + 1) / 2) >= few_tiles;
}

Tiling forward_tiling(const ConvShape& s) {
  return {s.n, s.h, s.w, s.oh, s.ow, s.attrs.pad_top, s.attrs.pad_left};
}

/// dx as a convolution of dz with the weights turned around.
Tiling backward_tiling(const ConvShape& s) {
  return {s.n, s.oh, s.ow, s.h, s.w, 2 - s.attrs.pad_top, 2 - s.attrs.pad_left};
}

/// Returns the dims of transformed weights: (C_out, 16, point_stride(C)).
std::int64_t channel_points(const ConvShape& s) { return kPoints * point_stride(s.c); }

/// The weights' points at `to`, of output channels [begin, end).
void transform_weights(const ConvShape& s, const float* w, bool turned, Range channels, float* to) {
  for (std::int64_t o = channels.begin; o < channels.end; ++o) {
    std::array<const float*, kTaps> taps;
    for (std::int64_t k = 0; k < kTaps; ++k) {
      taps[static_cast<std::size_t>(k)] = w + (o * kTaps + (turned ? kTaps - 1 - k : k)) * s.c;
    }
    winograd_weights(taps.data(), s.c, to + o * channel_points(s), point_stride(s.c));
  }
}

/// Points of tiles times points of weights, `terms` channels to `columns` ones.
class Products {
 public:
  Products(const Tiling& tiling, std::int64_t terms, std::int64_t columns)
      : tiling_(tiling),
        terms_(terms),
        columns_(columns),
        block_(
            std::clamp<std::int64_t>(kBlockFloats / (kPoints * terms) / 12 * 12, 48, kTaskTiles)),
        groups_(static_cast<int>((columns + kGroup - 1) / kGroup)) {
    for (int g = 0; g < groups_; ++g) {
      offsets_.push_back(panel_floats_);
      panel_floats_ += kPoints * align_up(panel_floats(terms, group(g).size()));
    }
    constexpr int kEnough = 32;  // tasks, for which tiles are worth transforming again
    constexpr int kGroupsAtLeast = 2;
    const double tile = 2.0 * static_cast<double>(kPoints * terms * columns);
    tile_tasks_ =
        static_cast<int>(std::clamp<std::int64_t>(tiling.count() / kTaskTiles, 1,
                                                  tasks_for(tiling.count(), conv_cost(tile))));
    column_tasks_ = std::clamp((kEnough + tile_tasks_ - 1) / tile_tasks_, 1,
                               std::max(groups_ / kGroupsAtLeast, 1));
  }

  std::size_t panels() const { return panel_floats_; }
  std::size_t scratch_bytes() const {
    return 2 * align_up(sizeof(float*) * static_cast<std::size_t>(kPoints * block_)) +
           sizeof(float) * (points_floats() + sums_floats() + align_up(zeros()));
  }
  int tasks() const { return tile_tasks_ * column_tasks_; }

  /// Packs point `p` of weights that lie as `b` says.
  void pack(std::int64_t p, const StridedMatrix& b, float* panels) const {
    for (int g = 0; g < groups_; ++g) {
      const StridedMatrix part{b.data + group(g).begin * b.column_stride, b.term_stride,
                               b.column_stride};
      pack_panels(part, 0, terms_, terms_, group(g).size(),
                  panels + offsets_[static_cast<std::size_t>(g)] + p * point_floats(g));
    }
  }

  /// Task `index` of tasks().
  void run(const float* images, const float* panels, const ConvTail& tail, const float* bias,
           float* to, int index, std::byte* scratch) const {
    const std::size_t list = align_up(sizeof(float*) * static_cast<std::size_t>(kPoints * block_));
    auto** rows = reinterpret_cast<const float**>(scratch);
    auto** places = reinterpret_cast<float**>(scratch + list);
    float* points = reinterpret_cast<float*>(scratch + 2 * list);
    float* sums = points + points_floats();
    float* outside = sums + sums_floats();
    std::fill_n(outside, terms_, 0.0F);
    for (std::int64_t i = 0; i < kPoints * block_; ++i) {
      rows[i] = points + i / block_ * input_stride() + i % block_ * terms_;
      places[i] = sums + i * kSumColumns;
    }
    const Range tiles = split(tiling_.count(), tile_tasks_, index / column_tasks_);
    const Range groups = split(groups_, column_tasks_, index % column_tasks_);
    for (std::int64_t t0 = tiles.begin; t0 < tiles.end; t0 += block_) {
      const std::int64_t count = std::min(block_, tiles.end - t0);
      for (std::int64_t t = 0; t < count; ++t) {
        const auto window = tiling_.inputs(images, terms_, t0 + t, outside);
        winograd_input(window.data(), terms_, points + t * terms_, input_stride());
      }
      for (int g = static_cast<int>(groups.begin); g < groups.end; ++g) {
        const Range part = group(g);
        const float* from = panels + offsets_[static_cast<std::size_t>(g)];
        for (std::int64_t p = 0; p < kPoints; ++p) {
          panel_product({rows + p * block_, 1, terms_, 0}, count, from + p * point_floats(g),
                        part.size(), nullptr, places + p * block_);
        }
        for (std::int64_t t = 0; t < count; ++t) {
          auto pixels = tiling_.outputs(to, columns_, t0 + t);
          for (float*& pixel : pixels) {
            if (pixel != nullptr) pixel += part.begin;
          }
          winograd_output(sums + t * kSumColumns, block_ * kSumColumns, part.size(), pixels.data());
          for (float* pixel : pixels) {
            if (pixel == nullptr) continue;
            add_bias_and_activate(pixel, 1, part.size(), tail.bias ? bias + part.begin : nullptr,
                                  tail.activation);
          }
        }
      }
    }
  }

 private:
  /// Columns that are multiplied at once, about, and at most.
  static constexpr std::int64_t kGroup = 32;
  static constexpr std::int64_t kSumColumns = 48;
  /// Tiles of a task, at least, so that it reads the weights for many.
  static constexpr std::int64_t kTaskTiles = 96;

  Range group(int g) const { return column_lines(columns_, groups_, g); }
  std::size_t point_floats(int g) const { return align_up(panel_floats(terms_, group(g).size())); }
  std::int64_t input_stride() const { return point_stride(block_ * terms_); }
  std::size_t points_floats() const {
    return align_up(static_cast<std::size_t>(kPoints * input_stride()));
  }
  std::size_t sums_floats() const {
    return align_up(static_cast<std::size_t>(kPoints * block_ * kSumColumns));
  }
  std::size_t zeros() const { return static_cast<std::size_t>(terms_); }

  Tiling tiling_;
  std::int64_t terms_;
  std::int64_t columns_;
  std::int64_t block_;  ///< tiles
  int groups_;
  int tile_tasks_ = 1;
  int column_tasks_ = 1;  ///< for each of those, a part of the groups
  std::vector<std::size_t> offsets_;
  std::size_t panel_floats_ = 0;
};

/// The workspace holds the transformed weights until they are packed.
Kernel products_kernel(const ConvShape& s, const Products& products, bool turned,
                       const ConvTail& tail) {
  using In = Conv2dOp::In;
  using Out = Conv2dOp::Out;
  const auto points = align_up(static_cast<std::size_t>(s.co * channel_points(s)));
  const int transformers = tasks_for(s.co, 6.0 * static_cast<double>(s.c));
  Kernel kernel;
  kernel.workspace_bytes = sizeof(float) * points;
  kernel.packed_bytes = sizeof(float) * products.panels();
  kernel.packed_operands = {Conv2dOp::In::w};
  kernel.scratch_bytes = products.scratch_bytes();
  kernel.packing.push_back(parallel(transformers, s.co, [=](const Args& args, Range range) {
    transform_weights(s, args.in(In::w), turned, range, args.work());
  }));
  kernel.packing.push_back(
      parallel(static_cast<int>(kPoints), [=](const Args& args, const Task& task) {
        const float* point = args.work() + task.index * point_stride(s.c);
        const std::int64_t channel = channel_points(s);
        const StridedMatrix b =
            turned ? StridedMatrix{point, channel, 1} : StridedMatrix{point, 1, channel};
        products.pack(task.index, b, args.pack());
      }));
  kernel.stages.push_back(parallel(products.tasks(), [=](const Args& args, const Task& task) {
    products.run(args.in(In::x), args.pack(), tail, tail.bias ? args.in(In::b) : nullptr,
                 args.out(Out::y), task.index, task.scratch);
  }));
  return kernel;
}

std::optional<Kernel> forward(const ConvShape& s, const ConvTail& tail) {
  if (!takes(s, tail.keeps_weights ? kFewTilesOfKept : kFewTiles)) return std::nullopt;
  return products_kernel(s, {forward_tiling(s), s.c, s.co}, false, tail);
}

std::optional<Kernel> grad_input(const ConvShape& s) {
  if (!takes(s)) return std::nullopt;
  return products_kernel(s, {backward_tiling(s), s.co, s.c}, true, {});
}

/// Sums over tiles of their points' products: the points of dw.
class WeightPoints {
 public:
  explicit WeightPoints(const ConvShape& s)
      : s_(s),
        tiling_(forward_tiling(s)),
        block_(std::clamp<std::int64_t>(2 * kBlockFloats / (kPoints * (s.c + s.co)) / 8 * 8, 16,
                                        128)) {}

  std::int64_t tiles() const { return tiling_.count(); }
  std::int64_t floats() const { return kPoints * s_.co * s_.c; }
  std::int64_t outputs() const { return s_.co; }
  std::size_t scratch_bytes() const {
    return lines_bytes() + sizeof(float) * (input_floats() + output_floats() + tile_part() +
                                            panel_part() + align_up(outside()));
  }
  /// The part of `tiles` and of the output channels `co`, at `to` (16, C_out, C).
  void run(const float* x, const float* dz, Range tiles, Range co, float* to,
           std::byte* scratch) const {
    auto** lines = reinterpret_cast<const float**>(scratch);
    float* inputs = reinterpret_cast<float*>(scratch + lines_bytes());
    float* outputs = inputs + input_floats();
    float* packed_tiles = outputs + output_floats();
    float* packed_panels = packed_tiles + tile_part();
    float* zeros = packed_panels + panel_part();
    std::fill_n(zeros, outside(), 0.0F);
    for (std::int64_t t0 = tiles.begin; t0 < tiles.end; t0 += block_) {
      const std::int64_t count = std::min(block_, tiles.end - t0);
      for (std::int64_t t = 0; t < count; ++t) {
        const auto window = tiling_.inputs(x, s_.c, t0 + t, zeros);
        winograd_input(window.data(), s_.c, inputs + t * s_.c, input_stride());
        auto pixels = tiling_.outputs<const float>(dz, s_.co, t0 + t, zeros);
        for (const float*& pixel : pixels) {
          if (pixel != zeros) pixel += co.begin;
        }
        winograd_output_transposed(pixels.data(), co.size(), outputs + t * co.size(),
                                   output_stride());
      }
      for (std::int64_t p = 0; p < kPoints; ++p) {
        for (std::int64_t t = 0; t < count; ++t)
          lines[t] = outputs + p * output_stride() + t * co.size();
        pack_tiles(lines, count, co.size(), packed_tiles);
        for (std::int64_t t = 0; t < count; ++t) lines[t] = inputs + p * input_stride() + t * s_.c;
        pack_row_panels(lines, 0, count, s_.c, packed_panels);
        tile_product({count, co.size(), s_.c}, packed_tiles, packed_panels, t0 > tiles.begin,
                     to + (p * s_.co + co.begin) * s_.c, s_.c);
      }
    }
  }

 private:
  std::size_t lines_bytes() const {
    return align_up(sizeof(float*) * static_cast<std::size_t>(block_));
  }
  std::int64_t input_stride() const { return point_stride(block_ * s_.c); }
  std::int64_t output_stride() const { return point_stride(block_ * s_.co); }
  std::size_t input_floats() const {
    return align_up(static_cast<std::size_t>(kPoints * input_stride()));
  }
  std::size_t output_floats() const {
    return align_up(static_cast<std::size_t>(kPoints * output_stride()));
  }
  std::size_t tile_part() const { return align_up(tile_floats(block_, s_.co)); }
  std::size_t panel_part() const { return align_up(panel_floats(block_, s_.c)); }
  std::size_t outside() const { return static_cast<std::size_t>(std::max(s_.c, s_.co)); }

  ConvShape s_;
  Tiling tiling_;
  std::int64_t block_;  ///< tiles
};

std::optional<Kernel> grad_weight(const ConvShape& s) {
  using In = Conv2dGradWeightOp::In;
  using Out = Conv2dGradWeightOp::Out;
  if (!takes(s)) return std::nullopt;
  const WeightPoints points(s);
  constexpr std::int64_t kMostFloats = std::int64_t{4} << 20;  // of all partial points
  constexpr std::int64_t kChannelsAtLeast = 64;  // for which inputs are worth transforming again
  const double cost = conv_cost(2.0 * static_cast<double>(points.floats()));
  const int tasks = partial_tasks(points.tiles(), cost, points.floats(), kMostFloats);
  const int channel_tasks = share_tasks(tasks, points.tiles(), cost, s.co / kChannelsAtLeast);
  const int adders = tasks_for(s.co, 2.0 * static_cast<double>(tasks * s.c));
  Kernel kernel;
  kernel.workspace_bytes = sizeof(float) * static_cast<std::size_t>(tasks * points.floats());
  kernel.scratch_bytes =
      std::max(points.scratch_bytes(), sizeof(float) * static_cast<std::size_t>(kPoints * s.c));
  kernel.stages.push_back(parallel(tasks * channel_tasks, [=](const Args& args, const Task& task) {
    const int part = task.index / channel_tasks;
    points.run(args.in(In::x), args.in(In::dz), split(points.tiles(), tasks, part),
               split(points.outputs(), channel_tasks, task.index % channel_tasks),
               args.work() + part * points.floats(), task.scratch);
  }));
  kernel.stages.push_back(
      parallel(adders, s.co, [=](const Args& args, const Task& task, Range channels) {
        auto* sums = reinterpret_cast<float*>(task.scratch);
        for (std::int64_t o = channels.begin; o < channels.end; ++o) {
          for (std::int64_t p = 0; p < kPoints; ++p) {
            add_partials(args.work() + (p * s.co + o) * s.c, tasks, points.floats(), {0, s.c},
                         sums + p * s.c);
          }
          std::array<float*, kTaps> taps;
          for (std::int64_t k = 0; k < kTaps; ++k) {
            taps[static_cast<std::size_t>(k)] = args.out(Out::dw) + (o * kTaps + k) * s.c;
          }
          winograd_weights_transposed(sums, s.c, s.c, taps.data());
        }
      }));
  return kernel;
}

}  // namespace

const ConvEngine& winograd_engine() {
  static const ConvEngine engine{"winograd", forward, grad_input, grad_weight};
  return engine;
}

}  // namespace linnet::cpu
