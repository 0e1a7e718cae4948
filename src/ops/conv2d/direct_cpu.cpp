// SPDX-License-Identifier: Apache-2.0
#include "backend/cpu/partial_sums.h"
#include "core/align.h"
#include "ops/activation/epilogue_cpu.h"
#include "ops/conv2d/correlation_cpu.h"
#include "ops/conv2d/engine_cpu.h"

namespace linnet::cpu {
namespace {

/// Pixels whose products are summed in registers at once, in weight gradients.
constexpr std::int64_t kTerms = 256;
/// Columns of a weight gradient that one task takes, where tasks don't share its sums.
constexpr std::int64_t kColumns = 128;

bool takes(const ConvShape& s) {
  return s.attrs.groups == 1 && s.attrs.dilation_h == 1 && s.attrs.dilation_w == 1 && s.n > 0;
}

Correlation forward_of(const ConvShape& s) {
  const Conv2dAttrs& a = s.attrs;
  Correlation all;
  all.n = s.n;
  all.c = s.c;
  all.rows = {.in = s.h,
              .out = s.oh,
              .kernel = s.kh,
              .stride = a.stride_h,
              .pad = a.pad_top,
              .place = s.oh};
  all.columns = {.in = s.w,
                 .out = s.ow,
                 .kernel = s.kw,
                 .stride = a.stride_w,
                 .pad = a.pad_left,
                 .place = s.ow};
  all.rows = all.rows.cropped();
  all.columns = all.columns.cropped();
  return all;
}

/// The inputs x = first + i stride of an axis get gradients of outputs by every stride-th tap, in
/// reverse: a correlation of its own.
CorrelationAxis phase(std::int64_t first, std::int64_t in, std::int64_t out, std::int64_t kernel,
                      std::int64_t stride, std::int64_t pad) {
  const std::int64_t tap = (first + pad) % stride;  // the smallest that reaches them
  const std::int64_t taps = kernel > tap ? (kernel - tap + stride - 1) / stride : 0;
  CorrelationAxis axis{.in = out,
                       .out = (in - first + stride - 1) / stride,
                       .kernel = taps,
                       .stride = 1,
                       .pad = taps - 1 - (first + pad - tap) / stride,
                       .place = in,
                       .place_first = first,
                       .place_step = stride};
  return axis.cropped();
}

/// A product of patches and weights. Where pixels are few, tasks take groups of columns, so that
/// each reads a part of the weights of its own.
class PatchProduct {
 public:
  PatchProduct() = default;
  PatchProduct(const Correlation& correlation, std::int64_t columns)
      : all(correlation), blocks_(correlation), columns_(columns), width_(columns) {
    constexpr std::int64_t kGroup = 64;
    const std::int64_t pixels = all.lines() * all.columns.out;
    if (pixels < columns && columns > kGroup) width_ = kGroup;
  }

  std::size_t panels() const { return static_cast<std::size_t>(groups()) * group_floats(); }
  std::size_t scratch_bytes() const { return blocks_.scratch_bytes(); }
  int tasks() const {
    const double cost = conv_cost(2.0 * static_cast<double>(all.columns.out * all.taps() * width_));
    if (groups() > 1) return tasks_for(groups(), cost * static_cast<double>(all.lines()));
    return tasks_for(all.lines(), cost);
  }
  /// Packs terms [begin, end) of all columns from b, whose row 0 becomes `begin`.
  void pack(const StridedMatrix& b, std::int64_t begin, std::int64_t end, float* panels) const {
    for (std::int64_t g = 0; g < groups(); ++g) {
      const StridedMatrix part{b.data + g * width_ * b.column_stride, b.term_stride,
                               b.column_stride};
      pack_panels(part, begin, end, all.taps(), group_columns(g), group(panels, g));
    }
  }
  /// Task `index` of tasks(): its lines, or its columns, of the images at `to`. `start` may be
  /// null; an activation is for correlations that fill images line by line.
  void run(const float* images, const float* panels, const float* start, float* to, int index,
           std::byte* scratch, Activation activation = Activation::none) const {
    const bool by_groups = groups() > 1;
    const Range lines = by_groups ? Range{0, all.lines()} : split(all.lines(), tasks(), index);
    const Range mine = by_groups ? split(groups(), tasks(), index) : Range{0, 1};
    for (std::int64_t l0 = lines.begin; l0 < lines.end; l0 += blocks_.block_lines()) {
      const std::int64_t l1 = std::min(l0 + blocks_.block_lines(), lines.end);
      const SegmentedRows a = blocks_.patches(images, l0, l1, scratch);
      const std::int64_t pixels = (l1 - l0) * all.columns.out;
      for (std::int64_t g = mine.begin; g < mine.end; ++g) {
        float** c = blocks_.places(to + g * width_, columns_, l0, l1, scratch);
        const float* begin = start == nullptr ? nullptr : start + g * width_;
        for (std::int64_t p = 0; p < pixels; p += kProductRows) {
          panel_product({a.rows + p, a.segments, a.length, a.stride},
                        std::min(kProductRows, pixels - p), group(panels, g), group_columns(g),
                        begin, c + p);
        }
        add_bias_and_activate(c[0], pixels, group_columns(g), nullptr, activation, columns_);
      }
    }
  }

  Correlation all;

 private:
  std::int64_t groups() const { return (columns_ + width_ - 1) / width_; }
  std::int64_t group_columns(std::int64_t g) const {
    return std::min(width_, columns_ - g * width_);
  }
  std::size_t group_floats() const { return panel_floats(all.taps(), width_); }
  template <class T>
  T* group(T* panels, std::int64_t g) const {
    return panels + static_cast<std::size_t>(g) * group_floats();
  }

  PatchBlocks blocks_;
  std::int64_t columns_ = 1;
  std::int64_t width_ = 1;  ///< of a group of columns
};

std::optional<Kernel> forward(const ConvShape& s, const ConvTail& tail) {
  if (!takes(s)) return std::nullopt;
  const Correlation all = forward_of(s);
  if (all.taps() == 0) return std::nullopt;
  const PatchProduct product(all, s.co);
  const int packers = tasks_for(all.taps(), 1.5 * static_cast<double>(s.co));
  Kernel kernel;
  kernel.workspace_bytes = sizeof(float) * product.panels();
  kernel.scratch_bytes = product.scratch_bytes();
  kernel.stages.push_back(
      {packers, [=](const Args& args, const Task& task) {
         const Range terms = split(all.taps(), packers, task.index);
         const std::int64_t segment = all.segment();
         for (std::int64_t t = terms.begin; t < terms.end;) {  // segment by segment
           const std::int64_t k = t / segment;
           const std::int64_t end = std::min((k + 1) * segment, terms.end);
           const float* w =
               args.in(1) + ((all.rows.first_tap + k) * s.kw + all.columns.first_tap) * s.c;
           product.pack({w + t % segment, 1, s.taps()}, t, end, args.work());
           t = end;
         }
       }});
  kernel.stages.push_back({product.tasks(), [=](const Args& args, const Task& task) {
                             product.run(args.in(0), args.work(), tail.bias ? args.in(2) : nullptr,
                                         args.out(0), task.index, task.scratch, tail.activation);
                           }});
  return kernel;
}

/// One correlation for every remainder of a pixel's place by the stride.
struct InputPhase {
  PatchProduct product;
  std::size_t panels_at = 0;  ///< floats into the workspace
  std::int64_t first_row = 0;
  std::int64_t first_column = 0;
};

/// Rows [begin, end) of the panels of a phase: tap by tap, since taps are reversed.
void pack_phase(const ConvShape& s, const InputPhase& phase, Range taps, const float* w,
                float* panels) {
  const Correlation& all = phase.product.all;
  const Conv2dAttrs& a = s.attrs;
  const auto source = [](const CorrelationAxis& axis, std::int64_t first, std::int64_t kernel,
                         std::int64_t stride, std::int64_t pad, std::int64_t tap) {
    const std::int64_t smallest = (first + pad) % stride;
    const std::int64_t count = (kernel - smallest + stride - 1) / stride;
    return smallest + stride * (count - 1 - (axis.first_tap + tap));
  };
  for (std::int64_t tap = taps.begin; tap < taps.end; ++tap) {
    const std::int64_t k =
        source(all.rows, phase.first_row, s.kh, a.stride_h, a.pad_top, tap / all.columns.kernel);
    const std::int64_t l = source(all.columns, phase.first_column, s.kw, a.stride_w, a.pad_left,
                                  tap % all.columns.kernel);
    phase.product.pack({w + (k * s.kw + l) * s.c, s.taps(), 1}, tap * s.co, (tap + 1) * s.co,
                       panels);
  }
}

std::optional<Kernel> grad_input(const ConvShape& s) {
  if (!takes(s)) return std::nullopt;
  const Conv2dAttrs& a = s.attrs;
  Kernel kernel;
  std::vector<InputPhase> phases;
  bool whole = true;  // every pixel belongs to a phase that has taps
  std::size_t floats = 0;
  for (std::int64_t y = 0; y < std::min(a.stride_h, s.h); ++y) {
    for (std::int64_t x = 0; x < std::min(a.stride_w, s.w); ++x) {
      Correlation all;
      all.n = s.n;
      all.c = s.co;
      all.rows = phase(y, s.h, s.oh, s.kh, a.stride_h, a.pad_top);
      all.columns = phase(x, s.w, s.ow, s.kw, a.stride_w, a.pad_left);
      if (all.taps() <= 0) {
        whole = false;
        continue;
      }
      phases.push_back({{all, s.c}, floats, y, x});
      floats += align_up(phases.back().product.panels());
      kernel.scratch_bytes = std::max(kernel.scratch_bytes, phases.back().product.scratch_bytes());
    }
  }
  kernel.workspace_bytes = sizeof(float) * floats;
  if (!whole) {
    const std::int64_t image = s.in_pixels() * s.c;
    const int tasks = tasks_for(s.n, 0.1 * static_cast<double>(image));
    kernel.stages.push_back({tasks, [=](const Args& args, const Task& task) {
                               const Range samples = split(s.n, tasks, task.index);
                               std::fill_n(args.out(0) + samples.begin * image,
                                           samples.size() * image, 0.0F);
                             }});
  }
  for (const InputPhase& phase : phases) {
    const Correlation& all = phase.product.all;
    const std::int64_t taps = all.rows.kernel * all.columns.kernel;
    const int packers = tasks_for(taps, 1.0 * static_cast<double>(s.co * s.c));
    kernel.stages.push_back({packers, [=](const Args& args, const Task& task) {
                               pack_phase(s, phase, split(taps, packers, task.index), args.in(1),
                                          args.work() + phase.panels_at);
                             }});
  }
  for (const InputPhase& phase : phases) {
    kernel.stages.push_back({phase.product.tasks(), [=](const Args& args, const Task& task) {
                               phase.product.run(args.in(0), args.work() + phase.panels_at, nullptr,
                                                 args.out(0), task.index, task.scratch);
                             }});
  }
  return kernel;
}

/// Columns [begin, end) of segment `segment` of a weight gradient.
struct GradientPart {
  std::int64_t segment = 0;
  Range columns;
};

/// Sums of products of dz and patches over pixels.
class WeightGradient {
 public:
  explicit WeightGradient(const ConvShape& s)
      : s_(s), all_(forward_of(s)), blocks_(all_), parts_(parts()) {}

  const Correlation& correlation() const { return all_; }
  std::int64_t part_count() const { return static_cast<std::int64_t>(parts_.size()); }
  std::size_t scratch_bytes() const { return own_bytes() + blocks_.scratch_bytes(); }
  /// The part of the gradient that `lines` give, for parts [begin, end), into dw (C_out, taps),
  /// which need not be zero before, but for cropped taps.
  void run(const float* x, const float* dz, Range lines, Range parts, float* dw,
           std::byte* scratch) const {
    auto** z = reinterpret_cast<const float**>(scratch);
    auto* tiles = reinterpret_cast<float*>(scratch + addresses_bytes());
    float* panels = tiles + align_up(tile_floats(kTerms, s_.co));
    bool first = true;
    for (std::int64_t l0 = lines.begin; l0 < lines.end; l0 += blocks_.block_lines()) {
      const std::int64_t l1 = std::min(l0 + blocks_.block_lines(), lines.end);
      const SegmentedRows a = blocks_.patches(x, l0, l1, scratch + own_bytes());
      const std::int64_t pixels = (l1 - l0) * s_.ow;
      for (std::int64_t p = 0; p < pixels; p += kTerms, first = false) {
        const std::int64_t terms = std::min(kTerms, pixels - p);
        for (std::int64_t t = 0; t < terms; ++t) z[t] = dz + (l0 * s_.ow + p + t) * s_.co;
        pack_tiles(z, terms, s_.co, tiles);
        for (std::int64_t part = parts.begin; part < parts.end; ++part) {
          const auto& [segment, columns] = parts_[static_cast<std::size_t>(part)];
          pack_row_panels(a.rows + p, segment * a.stride + columns.begin, terms, columns.size(),
                          panels);
          tile_product({terms, s_.co, columns.size()}, tiles, panels, !first,
                       dw +
                           ((all_.rows.first_tap + segment) * s_.kw + all_.columns.first_tap) *
                               s_.c +
                           columns.begin,
                       s_.taps());
        }
      }
    }
  }

 private:
  std::vector<GradientPart> parts() const {
    std::vector<GradientPart> all;
    const std::int64_t length = all_.segment();
    const std::int64_t count = std::max<std::int64_t>((length + kColumns / 2) / kColumns, 1);
    constexpr std::int64_t kVector = 16;
    const std::int64_t width = ((length + count - 1) / count + kVector - 1) / kVector * kVector;
    for (std::int64_t k = 0; k < all_.rows.kernel; ++k) {
      for (std::int64_t j = 0; j < length; j += width) {
        all.push_back({k, {j, std::min(j + width, length)}});
      }
    }
    return all;
  }
  static std::size_t addresses_bytes() { return align_up(sizeof(float*) * kTerms); }
  std::size_t own_bytes() const {
    return addresses_bytes() + sizeof(float) * (align_up(tile_floats(kTerms, s_.co)) +
                                                align_up(panel_floats(kTerms, 2 * kColumns)));
  }

  ConvShape s_;
  Correlation all_;
  PatchBlocks blocks_;
  std::vector<GradientPart> parts_;
};

void clear_cropped(const ConvShape& s, const Correlation& all, float* dw) {
  if (all.taps() < s.taps()) std::fill_n(dw, s.weights(), 0.0F);
}

/// Few sums of many pixels: tasks take lines, and their sums are added. Otherwise tasks take
/// columns of dw.
std::optional<Kernel> grad_weight(const ConvShape& s) {
  if (!takes(s)) return std::nullopt;
  const WeightGradient gradient(s);
  const Correlation& all = gradient.correlation();
  if (all.taps() == 0) return std::nullopt;
  const std::int64_t pixels = s.n * s.out_pixels();
  const double flops = 2.0 * static_cast<double>(pixels * s.co * all.taps());
  Kernel kernel;
  kernel.scratch_bytes = gradient.scratch_bytes();
  constexpr std::int64_t kFewPixels = 8192;
  if (pixels <= kFewPixels && gradient.part_count() >= 8) {
    const std::int64_t parts = gradient.part_count();
    const int tasks = tasks_for(parts, conv_cost(flops) / static_cast<double>(parts));
    if (all.taps() < s.taps()) {
      kernel.stages.push_back({1, [=](const Args& args, const Task&) {
                                 clear_cropped(s, gradient.correlation(), args.out(0));
                               }});
    }
    kernel.stages.push_back({tasks, [=](const Args& args, const Task& task) {
                               gradient.run(args.in(0), args.in(1), {0, all.lines()},
                                            split(parts, tasks, task.index), args.out(0),
                                            task.scratch);
                             }});
    return kernel;
  }
  const int tasks =
      partial_gradients(s, all.lines(), conv_cost(flops) / static_cast<double>(all.lines()));
  kernel.workspace_bytes = sizeof(float) * static_cast<std::size_t>(tasks * s.weights());
  kernel.stages.push_back({tasks, [=](const Args& args, const Task& task) {
                             float* dw = args.work() + task.index * s.weights();
                             clear_cropped(s, gradient.correlation(), dw);
                             gradient.run(args.in(0), args.in(1),
                                          split(all.lines(), tasks, task.index),
                                          {0, gradient.part_count()}, dw, task.scratch);
                           }});
  kernel.stages.push_back(add_partials_stage(tasks, s.weights(), 0));
  return kernel;
}

}  // namespace

const ConvEngine& direct_engine() {
  static const ConvEngine engine{forward, grad_input, grad_weight};
  return engine;
}

}  // namespace linnet::cpu
