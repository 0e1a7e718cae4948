// SPDX-License-Identifier: Apache-2.0
// 3x3 kernels at stride 1 by Winograd's F(2x2, 3x3) and F(4x4, 3x3): tiles of 4x4 or 6x6 pixels,
// transformed to as many points, whose channels are multiplied point by point; the outputs of a
// tile are their transform.
#include "ops/conv2d/winograd_cpu.h"

#include <array>
#include <bit>

#include "backend/cpu/partial_sums.h"
#include "backend/cpu/products/gemm.h"
#include "backend/cpu/products/panel_product.h"
#include "backend/cpu/products/row_product.h"
#include "core/align.h"
#include "ops/activation/epilogue_cpu.h"
#include "ops/conv2d/engine_cpu.h"

namespace linnet::cpu {
namespace {

constexpr std::int64_t kTaps = 9;

/// A block's points of one operand: they should leave room in the L2 cache.
constexpr std::int64_t kBlockFloats = std::int64_t{64} << 10;

/// Floats from one of 16 points to the next that are written side by side: not a multiple of what
/// would put them all in one set of the L1 cache.
constexpr std::int64_t point_stride(std::int64_t floats) {
  constexpr std::int64_t kLine = 16;
  return (floats / kLine + 2) * kLine;
}

/// Tiles of side x side outputs, and the inputs that each reads.
struct Tiling {
  std::int64_t n = 0, in_h = 0, in_w = 0, out_h = 0, out_w = 0;
  std::int64_t pad_top = 0, pad_left = 0;
  std::int64_t side = 2;

  template <class T>
  using Addresses = std::array<T*, kMostWinogradPoints>;

  std::int64_t rows() const { return (out_h + side - 1) / side; }
  std::int64_t columns() const { return (out_w + side - 1) / side; }
  std::int64_t count() const { return n * rows() * columns(); }
  std::int64_t points() const { return winograd_points(side); }

  /// Addresses of the inputs of a tile, `zeros` outside of the images (N, H, W, channels).
  Addresses<const float> inputs(const float* images, std::int64_t channels, std::int64_t tile,
                                const float* zeros) const {
    return window(side + 2, images, channels, tile, in_h, in_w, pad_top, pad_left, zeros);
  }
  /// Addresses of the outputs, null outside.
  template <class T>
  Addresses<T> outputs(T* images, std::int64_t channels, std::int64_t tile,
                       T* outside = nullptr) const {
    return window(side, images, channels, tile, out_h, out_w, 0, 0, outside);
  }

 private:
  template <class T>
  Addresses<T> window(std::int64_t size, T* images, std::int64_t channels, std::int64_t tile,
                      std::int64_t h, std::int64_t w, std::int64_t top, std::int64_t left,
                      T* outside) const {
    const std::int64_t image = tile / (rows() * columns());
    const std::int64_t first_y = tile / columns() % rows() * side - top;
    const std::int64_t first_x = tile % columns() * side - left;
    Addresses<T> found;
    auto to = found.begin();
    for (std::int64_t y = first_y; y < first_y + size; ++y) {
      T* row = images + (image * h + y) * w * channels;
      for (std::int64_t x = first_x; x < first_x + size; ++x, ++to) {
        const bool inside = y >= 0 && y < h && x >= 0 && x < w;
        *to = inside ? row + x * channels : outside;
      }
    }
    return found;
  }
};

/// Points of `count` tiles from `first` on, of images of `channels`: point p of tile t at
/// to + p stride + t channels.
void transform_inputs(const Tiling& tiling, const float* images, std::int64_t channels,
                      std::int64_t first, std::int64_t count, const float* zeros, float* to,
                      std::int64_t stride) {
  auto window = tiling.inputs(images, channels, first, zeros);
  for (std::int64_t t = 0; t < count; ++t, to += channels) {
    const std::int64_t following = std::min(first + t + 1, tiling.count() - 1);
    const auto next = tiling.inputs(images, channels, following, zeros);
    winograd_input(tiling.side, window.data(), next.data(), channels, to, stride);
    window = next;
  }
}

/// Tiles from which on fewer products pay for more points of weights.
struct FewestTiles {
  std::int64_t small = 0;
  std::int64_t large = 0;  ///< of 4x4 outputs, with more than twice as many points
};
/// Where the weights' transform is a part of the run, and where only its result is read.
constexpr FewestTiles kOfTransformed{256, 512};
constexpr FewestTiles kOfKept{16, 16};

bool takes(const ConvShape& s, const FewestTiles& fewest = kOfTransformed) {
  const Conv2dAttrs& a = s.attrs;
  return s.kh == 3 && s.kw == 3 && a.stride_h == 1 && a.stride_w == 1 && a.dilation_h == 1 &&
         a.dilation_w == 1 && a.groups == 1 && s.c >= kWinogradChannels &&
         s.co >= kWinogradChannels && s.oh >= 3 && s.ow >= 3 &&
         s.n * ((s.oh + 1) / 2) * ((s.ow + 1) / 2) >= fewest.small;
}

/// Returns the tiles of 4x4 outputs where there are fewer products.
Tiling large_tiles(Tiling small, const FewestTiles& fewest = kOfTransformed) {
  Tiling large = small;
  large.side = 4;
  const bool fewer = 8 * large.count() * large.points() < 7 * small.count() * small.points();
  return fewer && large.count() >= fewest.large ? large : small;
}

Tiling forward_tiling(const ConvShape& s) {
  return {s.n, s.h, s.w, s.oh, s.ow, s.attrs.pad_top, s.attrs.pad_left};
}

/// dx as a convolution of dz with the weights turned around.
Tiling backward_tiling(const ConvShape& s) {
  return {s.n, s.oh, s.ow, s.h, s.w, 2 - s.attrs.pad_top, 2 - s.attrs.pad_left};
}

/// Transformed weights (C_out, points, point_stride(C)).
struct WeightTransform {
  const ConvShape& s;
  std::int64_t side = 2;

  std::int64_t channel() const { return winograd_points(side) * point_stride(s.c); }
  /// The weights' points at `to`, of output channels [begin, end).
  void run(const float* w, bool turned, Range channels, float* to) const {
    for (std::int64_t o = channels.begin; o < channels.end; ++o) {
      std::array<const float*, kTaps> taps;
      for (std::int64_t k = 0; k < kTaps; ++k) {
        taps[static_cast<std::size_t>(k)] = w + (o * kTaps + (turned ? kTaps - 1 - k : k)) * s.c;
      }
      winograd_weights(side, taps.data(), s.c, to + o * channel(), point_stride(s.c));
    }
  }
};

/// Points of tiles times points of weights, `terms` channels to `columns` ones.
class Products {
 public:
  Products(const Tiling& tiling, std::int64_t terms, std::int64_t columns)
      : tiling_(tiling),
        terms_(terms),
        columns_(columns),
        task_tiles_(tiling.side == 2 ? 96 : 48),
        block_(std::clamp<std::int64_t>(block_floats() / (points() * terms) / kUnit * kUnit,
                                        fewest_tiles(), task_tiles_)),
        groups_(static_cast<int>((columns + kGroup - 1) / kGroup)) {
    for (int g = 0; g < groups_; ++g) {
      offsets_.push_back(panel_floats_);
      panel_floats_ += static_cast<std::size_t>(points()) * point_floats(g);
    }
    const double tile = 2.0 * static_cast<double>(points() * terms * columns);
    cut(tasks_for(tiling.count(), conv_cost(tile)));
  }

  const Tiling& tiling() const { return tiling_; }
  std::int64_t points() const { return tiling_.points(); }
  std::size_t panels() const { return panel_floats_; }
  std::size_t scratch_bytes() const {
    return 2 * list_bytes() + sizeof(float) * (points_floats() + sums_floats() + align_up(zeros()));
  }
  int tasks() const { return tile_tasks_ * column_tasks_; }

  /// Packs point `p` of weights that lie as `b` says.
  void pack(std::int64_t p, const StridedMatrix& b, float* panels) const {
    for (int g = 0; g < groups_; ++g) {
      const StridedMatrix part{b.data + group(g).begin * b.column_stride, b.term_stride,
                               b.column_stride};
      pack_panels(part, 0, terms_, terms_, group(g).size(),
                  panels + offsets_[static_cast<std::size_t>(g)] +
                      static_cast<std::size_t>(p) * point_floats(g));
    }
  }

  /// Task `index` of tasks().
  void run(const float* images, const float* panels, const ConvTail& tail, const float* bias,
           float* to, int index, std::byte* scratch) const {
    auto** rows = reinterpret_cast<const float**>(scratch);
    auto** places = reinterpret_cast<float**>(scratch + list_bytes());
    float* points_at = reinterpret_cast<float*>(scratch + 2 * list_bytes());
    float* sums = points_at + points_floats();
    float* outside = sums + sums_floats();
    std::fill_n(outside, terms_, 0.0F);
    for (std::int64_t i = 0; i < points() * block_; ++i) {
      rows[i] = points_at + i / block_ * input_stride() + i % block_ * terms_;
      places[i] = sums + i / block_ * sum_stride() + i % block_ * kGroup;
    }
    const Range tiles = split(tiling_.count(), tile_tasks_, index / column_tasks_);
    const Range groups = split(groups_, column_tasks_, index % column_tasks_);
    const int blocks = static_cast<int>((tiles.size() + block_ - 1) / block_);
    for (int b = 0; b < blocks; ++b) {
      const Range block = split(tiles.size(), blocks, b);
      const std::int64_t t0 = tiles.begin + block.begin;
      const std::int64_t count = block.size();
      transform_inputs(tiling_, images, terms_, t0, count, outside, points_at, input_stride());
      for (int g = static_cast<int>(groups.begin); g < groups.end; ++g) {
        const Range part = group(g);
        const float* from = panels + offsets_[static_cast<std::size_t>(g)];
        for (std::int64_t p = 0; p < points(); ++p) {
          panel_product({rows + p * block_, 1, terms_, 0}, count,
                        from + static_cast<std::size_t>(p) * point_floats(g), part.size(), nullptr,
                        places + p * block_);
        }
        for (std::int64_t t = 0; t < count; ++t) {
          store_tile(sums + t * kGroup, t0 + t, part, tail, tail.bias ? bias + part.begin : nullptr,
                     to);
        }
      }
    }
  }

 private:
  /// Cuts tiles and columns for about `worth` tasks, by powers of two.
  void cut(int worth) {
    constexpr int kGroupsAtLeast = 2;    // for which tiles are worth transforming again
    constexpr std::int64_t kMany = 256;  // tiles, of which a task may have few
    const std::int64_t fewest = task_tiles_ / 3;
    const auto parts = static_cast<std::uint64_t>(4 * tiling_.count() / (3 * task_tiles_));
    tile_tasks_ = static_cast<int>(
        std::bit_floor(std::clamp<std::uint64_t>(parts, 1, static_cast<std::uint64_t>(worth))));
    const int enough = std::min(worth, 64);
    while (2 * tasks() <= std::max(enough, 32) && 2 * column_tasks_ * kGroupsAtLeast <= groups_) {
      column_tasks_ *= 2;
    }
    while (2 * tasks() <= enough && tiling_.count() >= std::max(2 * tile_tasks_ * fewest, kMany)) {
      tile_tasks_ *= 2;
    }
  }
  /// Columns that are multiplied at once, at most.
  static constexpr std::int64_t kGroup = 32;
  /// Tiles that a product takes together.
  static constexpr std::int64_t kUnit = 12;

  /// Weights of many channels come from the L3 cache, for each block once.
  std::int64_t fewest_tiles() const {
    constexpr std::int64_t kManyTerms = 256;
    if (tiling_.side == 2) return 50;
    return terms_ < kManyTerms ? 25 : 36;
  }
  std::int64_t block_floats() const { return tiling_.side == 2 ? kBlockFloats : 2 * kBlockFloats; }
  Range group(int g) const { return column_lines(columns_, groups_, g); }
  std::size_t point_floats(int g) const { return align_up(panel_floats(terms_, group(g).size())); }
  std::int64_t input_stride() const { return point_stride(block_ * terms_); }
  std::int64_t sum_stride() const { return point_stride(block_ * kGroup); }
  std::size_t list_bytes() const {
    return align_up(sizeof(float*) * static_cast<std::size_t>(points() * block_));
  }
  std::size_t points_floats() const {
    return align_up(static_cast<std::size_t>(points() * input_stride()));
  }
  std::size_t sums_floats() const {
    return align_up(static_cast<std::size_t>(points() * sum_stride()));
  }
  std::size_t zeros() const { return static_cast<std::size_t>(terms_); }

  /// The columns `part` of a tile's outputs, whose points lie at `sums`.
  void store_tile(const float* sums, std::int64_t tile, Range part, const ConvTail& tail,
                  const float* bias, float* to) const {
    auto pixels = tiling_.outputs(to, columns_, tile);
    for (float*& pixel : pixels) {
      if (pixel != nullptr) pixel += part.begin;
    }
    const std::int64_t following = std::min(tile + 1, tiling_.count() - 1);
    const auto next = tiling_.outputs(to + part.begin, columns_, following, to + part.begin);
    const bool in_registers =
        tail.activation == Activation::none || tail.activation == Activation::relu;
    winograd_output(tiling_.side, sums, sum_stride(), part.size(),
                    {bias, tail.activation == Activation::relu}, pixels.data(), next.data());
    if (in_registers) return;
    for (std::int64_t i = 0; i < tiling_.side; ++i) {
      float** row = pixels.data() + i * tiling_.side;
      const std::int64_t inside =
          std::count_if(row, row + tiling_.side, [](const float* p) { return p != nullptr; });
      if (inside == 0) continue;
      add_bias_and_activate(row[0], inside, part.size(), nullptr, tail.activation, columns_);
    }
  }

  Tiling tiling_;
  std::int64_t terms_;
  std::int64_t columns_;
  std::int64_t task_tiles_;  ///< at least, so that a task reads the weights for many
  std::int64_t block_;       ///< tiles
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
  const std::int64_t side = products.tiling().side;
  const std::int64_t channel = WeightTransform{s, side}.channel();
  const auto points = align_up(static_cast<std::size_t>(s.co * channel));
  const int transformers = tasks_for(s.co, 24.0 * static_cast<double>(s.c));
  Kernel kernel;
  kernel.workspace_bytes = sizeof(float) * points;
  kernel.packed_bytes = sizeof(float) * products.panels();
  kernel.packed_operands = {Conv2dOp::In::w};
  kernel.scratch_bytes = products.scratch_bytes();
  kernel.packing.push_back(parallel(transformers, s.co, [=](const Args& args, Range range) {
    WeightTransform{s, side}.run(args.in(In::w), turned, range, args.work());
  }));
  kernel.packing.push_back(
      parallel(static_cast<int>(products.points()), [=](const Args& args, const Task& task) {
        const float* point = args.work() + task.index * point_stride(s.c);
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
  const FewestTiles& fewest = tail.keeps_weights ? kOfKept : kOfTransformed;
  if (!takes(s, fewest)) return std::nullopt;
  return products_kernel(s, {large_tiles(forward_tiling(s), fewest), s.c, s.co}, false, tail);
}

std::optional<Kernel> grad_input(const ConvShape& s) {
  if (!takes(s)) return std::nullopt;
  return products_kernel(s, {large_tiles(backward_tiling(s)), s.co, s.c}, true, {});
}

/// Points of dw that a task sums stay in the L2 cache, where its output channels are a part of all:
/// into how many parts they are cut.
std::int64_t gradient_shares(const ConvShape& s, std::int64_t side) {
  constexpr std::int64_t kMostSums = std::int64_t{192} << 10;
  return (s.c * s.co * winograd_points(side) + kMostSums - 1) / kMostSums;
}

/// Larger tiles, where inputs are transformed again a few times at most.
Tiling gradient_tiling(const ConvShape& s) {
  constexpr std::int64_t kMostShares = 3;
  const Tiling small = forward_tiling(s);
  return gradient_shares(s, 4) > kMostShares ? small : large_tiles(small);
}

/// Sums over tiles of their points' products: the points of dw.
class WeightPoints {
 public:
  explicit WeightPoints(const ConvShape& s)
      : s_(s),
        tiling_(gradient_tiling(s)),
        block_(std::clamp<std::int64_t>(2 * kBlockFloats / (points() * (s.c + s.co)) / 8 * 8,
                                        tiling_.side == 2 ? 16 : 32, 128)) {}

  std::int64_t side() const { return tiling_.side; }
  std::int64_t points() const { return tiling_.points(); }
  std::int64_t tiles() const { return tiling_.count(); }
  std::int64_t floats() const { return points() * s_.co * s_.c; }
  std::int64_t outputs() const { return s_.co; }
  std::size_t scratch_bytes() const {
    return lines_bytes() + sizeof(float) * (input_floats() + output_floats() + align_up(outside()));
  }
  /// The part of `tiles` and of the output channels `co`, at `to` (16, C_out, C).
  void run(const float* x, const float* dz, Range tiles, Range co, float* to,
           std::byte* scratch) const {
    auto** lines = reinterpret_cast<const float**>(scratch);
    float* inputs = reinterpret_cast<float*>(scratch + lines_bytes());
    float* outputs = inputs + input_floats();
    float* zeros = outputs + output_floats();
    std::fill_n(zeros, outside(), 0.0F);
    for (std::int64_t t0 = tiles.begin; t0 < tiles.end; t0 += block_) {
      const std::int64_t count = std::min(block_, tiles.end - t0);
      transform_inputs(tiling_, x, s_.c, t0, count, zeros, inputs, input_stride());
      for (std::int64_t t = 0; t < count; ++t) {
        auto pixels = tiling_.outputs<const float>(dz, s_.co, t0 + t, zeros);
        for (const float*& pixel : pixels) {
          if (pixel != zeros) pixel += co.begin;
        }
        winograd_output_transposed(side(), pixels.data(), co.size(), outputs + t * co.size(),
                                   output_stride());
      }
      for (std::int64_t t = 0; t < count; ++t) lines[t] = inputs + t * s_.c;
      for (std::int64_t p = 0; p < points(); ++p) {
        row_product({.terms = count,
                     .rows = co.size(),
                     .columns = s_.c,
                     .a = outputs + p * output_stride(),
                     .a_stride = co.size(),
                     .b = lines,
                     .b_offset = p * input_stride(),
                     .c = to + (p * s_.co + co.begin) * s_.c,
                     .c_stride = s_.c},
                    t0 > tiles.begin);
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
    return align_up(static_cast<std::size_t>(points() * input_stride()));
  }
  std::size_t output_floats() const {
    return align_up(static_cast<std::size_t>(points() * output_stride()));
  }
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
  const auto shares = static_cast<int>(points.side() == 2 ? 1 : gradient_shares(s, points.side()));
  const int channel_tasks =
      std::max(share_tasks(tasks, points.tiles(), cost, s.co / kChannelsAtLeast), shares);
  const int adders = tasks_for(s.co, 16.0 * static_cast<double>(tasks * s.c));
  Kernel kernel;
  kernel.workspace_bytes = sizeof(float) * static_cast<std::size_t>(tasks * points.floats());
  kernel.scratch_bytes = std::max(points.scratch_bytes(),
                                  sizeof(float) * static_cast<std::size_t>(points.points() * s.c));
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
          for (std::int64_t p = 0; p < points.points(); ++p) {
            add_partials(args.work() + (p * s.co + o) * s.c, tasks, points.floats(), {0, s.c},
                         sums + p * s.c);
          }
          std::array<float*, kTaps> taps;
          for (std::int64_t k = 0; k < kTaps; ++k) {
            taps[static_cast<std::size_t>(k)] = args.out(Out::dw) + (o * kTaps + k) * s.c;
          }
          winograd_weights_transposed(points.side(), sums, s.c, s.c, taps.data());
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
