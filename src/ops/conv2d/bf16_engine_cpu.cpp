// SPDX-License-Identifier: Apache-2.0
#include "ops/conv2d/bf16_engine_cpu.h"

#include "backend/cpu/partial_sums.h"
#include "base/check.h"
#include "core/align.h"
#include "ops/activation/epilogue_cpu.h"
#include "ops/conv2d/bf16_frames_cpu.h"
#include "ops/conv2d/bf16_weight_gradient_cpu.h"

namespace linnet::cpu {
namespace {

constexpr const char* kEngine = "tiles";

/// Nanoseconds of one core for `flops` at a cautious 200 GFLOP/s.
double bf16_cost(double flops) { return flops / 200; }

bool takes(const ConvShape& s) {
  return has_bf16_tiles() && s.attrs.groups == 1 && s.attrs.dilation_h == 1 &&
         s.attrs.dilation_w == 1 && s.n > 0;
}

/// Pixels of a block that are worth reading all weights.
constexpr std::int64_t kBlockPixels = 144;
/// Bytes of its frame, in half of the L2 cache.
constexpr std::int64_t kFrameBytes = 384 * 1024;
/// Columns of a block that are finished while they are in the L2 cache.
constexpr std::int64_t kTailColumns = 256;

/// Returns what computes an activation of sums in registers that will be rounded, if they can.
std::optional<Bf16Result::Then> in_registers(Activation activation) {
  switch (activation) {
    case Activation::none: return Bf16Result::Then::nothing;
    case Activation::relu: return Bf16Result::Then::relu;
    case Activation::tanh: return Bf16Result::Then::tanh;
    default: return std::nullopt;
  }
}

// Where packing costs more than products by VDPBF16PS gain (measured on Zen 5): fp32's kernels take
// these on rounded operands.

/// Output channels that a gradient by the input sums.
constexpr std::int64_t kFewTerms = 16;
/// Input channels, half a vector of them.
constexpr std::int64_t kFewColumns = 8;

/// Patches whose parts, a line of the kernel's each, fill little of a vector: of one channel.
bool short_segments(const ConvShape& s) {
  constexpr std::int64_t kShort = 8;
  return s.kh * s.kw > 1 && s.kw * s.c < kShort;
}

/// A product of patches and weights. Tasks take blocks of lines; where these are few, groups of
/// columns as well, so that each reads a part of the weights of its own.
class FrameProduct {
 public:
  FrameProduct(const Correlation& correlation, std::int64_t columns, const Bf16Storage& stored)
      : all(correlation),
        stored_(stored),
        frames_(correlation, stored.x, kBlockPixels, kFrameBytes),
        columns_(columns),
        width_(columns) {
    const double work =
        bf16_cost(2.0 * static_cast<double>(all.lines() * all.columns.out * all.taps() * columns));
    constexpr std::int64_t kLeastPixels = 96;
    constexpr std::int64_t kGroup = 64;
    const std::int64_t pixels = all.lines() * all.columns.out;
    const std::int64_t worth =
        tasks_for(pixels, work / static_cast<double>(std::max<std::int64_t>(pixels, 1)));
    line_tasks_ = std::clamp<std::int64_t>(pixels / kLeastPixels, 1, std::min(worth, all.lines()));
    const std::int64_t groups =
        std::clamp<std::int64_t>(worth / line_tasks_, 1, (columns + kGroup - 1) / kGroup);
    if (groups > 1) {
      const std::int64_t panels = (columns + kGroup / 2 - 1) / (kGroup / 2);
      width_ = (panels + groups - 1) / groups * (kGroup / 2);
    }
  }

  std::int64_t pairs() const { return frames_.pairs(); }
  std::size_t panel_bytes() const { return bf16_panel_bytes(pairs(), columns_); }
  std::size_t scratch_bytes() const { return frames_.scratch_bytes() + block_bytes(); }
  int tasks() const { return static_cast<int>(line_tasks_ * groups()); }

  /// Task `index` of tasks(): its lines and columns of the images at `to`. A tail and an
  /// activation are for correlations that fill images line by line.
  void run(const void* images, const std::uint16_t* panels, void* to, int index, std::byte* scratch,
           const Bf16Tail& tail = {}, Activation activation = Activation::none) const {
    auto* sums = reinterpret_cast<float*>(scratch + frames_.scratch_bytes());
    const std::int64_t first = index % groups() * width_;
    const std::int64_t used = std::min(width_, columns_ - first);
    const Range lines =
        split(all.lines(), static_cast<int>(line_tasks_), index / static_cast<int>(groups()));
    panels += 2 * first * pairs();
    for (std::int64_t l0 = lines.begin; l0 < lines.end; l0 += frames_.block_lines()) {
      const std::int64_t l1 = std::min(l0 + frames_.block_lines(), lines.end);
      const Bf16Rows a = frames_.patches(images, l0, l1, scratch);
      for (std::int64_t j = 0; j < used; j += kTailColumns) {
        const std::int64_t wide = std::min(used - j, kTailColumns);
        const std::uint16_t* own = panels + 2 * j * pairs();
        if (!in_order()) {
          place_lines(a, own, to, sums, l0, l1, first + j, wide);
          continue;
        }
        const std::int64_t pixels = (l1 - l0) * all.columns.out;
        const std::int64_t at = l0 * all.columns.out * columns_ + first + j;
        if (stored_.y.bf16()) {
          finish_in_bf16(a, pixels, own, wide, sums, tail, activation, first + j, at, to);
        } else {
          float* y = static_cast<float*>(to) + at;
          bf16_panel_product(a, pixels, own, wide, y, columns_);
          finish(tail, activation, pixels, first + j, wide, at, y);
        }
      }
    }
  }

  Correlation all;

 private:
  std::int64_t groups() const { return (columns_ + width_ - 1) / width_; }
  bool in_order() const {
    return all.rows.place == all.rows.out && all.columns.place == all.columns.out;
  }
  /// Returns the bytes of a block of sums, which are not in memory as floats.
  std::size_t block_bytes() const {
    if (!stored_.y.bf16()) return 0;
    const std::int64_t pixels = frames_.block_lines() * all.columns.out;
    return align_up(sizeof(float) *
                    static_cast<std::size_t>(pixels * std::min(width_, kTailColumns)));
  }
  /// Columns [first, first + wide) of `pixels` from element `at` of the result on, with their tail.
  void finish_in_bf16(const Bf16Rows& a, std::int64_t pixels, const std::uint16_t* panels,
                      std::int64_t wide, float* sums, const Bf16Tail& tail, Activation activation,
                      std::int64_t first, std::int64_t at, void* to) const {
    Bf16Result result{.y = static_cast<std::uint16_t*>(to) + at, .stride = columns_};
    if (const std::optional<Bf16Result::Then> then = in_registers(activation)) {
      const auto* residual = static_cast<const std::uint16_t*>(tail.residual);
      result.scale = tail.scale == nullptr ? nullptr : tail.scale + first;
      result.bias = tail.bias == nullptr ? nullptr : tail.bias + first;
      result.residual = residual == nullptr ? nullptr : residual + at;
      result.then = *then;
      bf16_panel_product(a, pixels, panels, wide, sums, result);
      return;
    }
    LINNET_ASSERT(tail.scale == nullptr && tail.residual == nullptr);  // batch norms have no others
    bf16_panel_product(a, pixels, panels, wide, sums, wide);
    add_bias_and_activate(sums, pixels, wide, tail.bias == nullptr ? nullptr : tail.bias + first,
                          activation);
    round_rows_to_bf16(sums, wide, pixels, wide, result.y, columns_);
  }
  /// The tail of columns [first, first + wide) of the `pixels` from y on, element `at` of it all.
  void finish(const Bf16Tail& tail, Activation activation, std::int64_t pixels, std::int64_t first,
              std::int64_t wide, std::int64_t at, float* y) const {
    if (tail.scale != nullptr) scale_columns(y, pixels, wide, columns_, tail.scale + first);
    add_bias_and_activate(y, pixels, wide, tail.bias == nullptr ? nullptr : tail.bias + first,
                          activation, columns_,
                          tail.residual == nullptr ? nullptr
                                                   : static_cast<const float*>(tail.residual) + at);
  }
  /// Lines one by one, to pixels that others lie between: `wide` columns from `first` on.
  void place_lines(Bf16Rows a, const std::uint16_t* panels, void* to, float* sums,
                   std::int64_t begin, std::int64_t end, std::int64_t first,
                   std::int64_t wide) const {
    const CorrelationAxis& rows = all.rows;
    const CorrelationAxis& columns = all.columns;
    const std::int64_t step = columns.place_step * columns_;
    for (std::int64_t line = begin; line < end; ++line, a.rows += columns.out) {
      const std::int64_t i = rows.place_first + line % rows.out * rows.place_step;
      const std::int64_t pixel =
          (line / rows.out * rows.place + i) * columns.place + columns.place_first;
      const std::int64_t at = pixel * columns_ + first;
      if (stored_.y.bf16()) {
        bf16_panel_product(a, columns.out, panels, wide, sums,
                           {.y = static_cast<std::uint16_t*>(to) + at, .stride = step});
      } else {
        bf16_panel_product(a, columns.out, panels, wide, static_cast<float*>(to) + at, step);
      }
    }
  }

  Bf16Storage stored_;
  Bf16Frames frames_;
  std::int64_t columns_ = 1;
  std::int64_t width_ = 1;  ///< of a group of columns
  std::int64_t line_tasks_ = 1;
};

/// Columns that a task of a packing stage takes: a panel's.
constexpr std::int64_t kPanelColumns = 32;

/// Packs weights for a correlation whose tap (k, l) and channel meet w + at(k, l) + c term_stride
/// in column 0. `at` gives an element; whole segments are packed at once where `runs` says that
/// they lie one after the other.
template <class At>
void pack_weights(const Correlation& all, std::int64_t pairs, bool runs, StridedMatrix w,
                  std::int64_t columns, At at, std::uint16_t* panels) {
  const std::int64_t of_segment = pairs_of(all.segment());
  const float* base = w.data;
  for (std::int64_t k = 0; k < all.rows.kernel; ++k) {
    for (std::int64_t l = 0; l < (runs ? 1 : all.columns.kernel); ++l) {
      w.data = base + at(k, l);
      pack_bf16_panels(w, runs ? all.segment() : all.c, k * of_segment + l * all.c / 2, pairs,
                       columns, panels);
    }
  }
}

std::optional<Kernel> forward(const ConvShape& s, const ConvTail& tail) {
  if (tail.residual) return std::nullopt;
  return bf16_forward(s, {}, tail.activation, bf16_bias(tail.bias));
}

std::optional<Kernel> grad_input(const ConvShape& s) { return bf16_input_gradient(s, {}, {}); }

std::optional<Kernel> grad_weight(const ConvShape& s) {
  using In = Conv2dGradWeightOp::In;
  return bf16_weight_gradient(s, {.x = In::x, .dz = In::dz, .stored_x = {}, .stored_dz = {}});
}

}  // namespace

const ConvEngine& bf16_tiles_engine() {
  static const ConvEngine engine{"bf16-tiles", forward, grad_input, grad_weight, true};
  return engine;
}

FindBf16Tail bf16_bias(bool bias) {
  return [=](const Args& args, const std::byte* /*packed*/) {
    return Bf16Tail{.scale = nullptr,
                    .bias = bias ? args.in(Conv2dOp::In::b) : nullptr,
                    .residual = nullptr};
  };
}

std::optional<Kernel> bf16_forward(const ConvShape& s, const Bf16Storage& stored,
                                   Activation activation, FindBf16Tail tail) {
  using In = Conv2dOp::In;
  using Out = Conv2dOp::Out;
  if (!takes(s) || short_segments(s)) return std::nullopt;
  const Correlation all = forward_correlation(s);
  if (all.taps() == 0) return std::nullopt;
  const FrameProduct product(all, s.co, stored);
  const std::int64_t panels = (s.co + kPanelColumns - 1) / kPanelColumns;
  Kernel kernel;
  kernel.engine = kEngine;
  const std::size_t own_bytes = align_up(product.panel_bytes());
  kernel.packed_bytes = own_bytes;
  kernel.packed_operands = {In::w};
  kernel.scratch_bytes = product.scratch_bytes();
  const int packers = tasks_for(panels, 0.2 * static_cast<double>(all.taps() * kPanelColumns));
  kernel.packing.push_back(parallel(packers, panels, [=](const Args& args, Range range) {
    const std::int64_t j = range.begin * kPanelColumns;
    const std::int64_t end = std::min(range.end * kPanelColumns, s.co);
    pack_weights(
        all, product.pairs(), true, {args.in(In::w) + j * s.taps(), 1, s.taps()}, end - j,
        [&](std::int64_t k, std::int64_t l) {
          return (all.rows.tap(k) * s.kw + all.columns.tap(l)) * s.c;
        },
        args.pack<std::uint16_t>() + 2 * j * product.pairs());
  }));
  kernel.stages.push_back(
      parallel(product.tasks(), [=, tail = std::move(tail)](const Args& args, const Task& task) {
        product.run(args.inputs[In::x], args.pack<std::uint16_t>(), args.outputs[Out::y],
                    task.index, task.scratch, tail(args, args.packed + own_bytes), activation);
      }));
  return kernel;
}

std::optional<Kernel> bf16_input_gradient(const ConvShape& s, Stored dz, Stored dx) {
  using In = Conv2dGradInputOp::In;
  using Out = Conv2dGradInputOp::Out;
  // A pair must not reach from one tap into the next.
  if (!takes(s) || (s.co % 2 != 0 && s.kw > 1) || s.co < kFewTerms || s.c < kFewColumns) {
    return std::nullopt;
  }
  Kernel kernel;
  kernel.engine = kEngine;
  const InputGradient gradient(s);
  struct Phase {
    FrameProduct product;
    std::size_t panels_at = 0;  ///< bytes into what is packed
  };
  std::vector<Phase> phases;
  for (const Correlation& all : gradient.phases) {
    phases.push_back({{all, s.c, {.x = dz, .y = dx}}, kernel.packed_bytes});
    kernel.packed_bytes += align_up(phases.back().product.panel_bytes());
    kernel.scratch_bytes = std::max(kernel.scratch_bytes, phases.back().product.scratch_bytes());
  }
  if (phases.empty()) return std::nullopt;
  kernel.packed_operands = {In::w};
  if (!gradient.whole) {
    const std::int64_t image = s.in_pixels() * s.c;
    const int tasks = tasks_for(s.n, 0.1 * static_cast<double>(image));
    kernel.stages.push_back(parallel(tasks, s.n, [=](const Args& args, Range samples) {
      const std::int64_t size = dx.bf16() ? sizeof(std::uint16_t) : sizeof(float);
      std::fill_n(args.out<std::byte>(Out::dx) + samples.begin * image * size,
                  samples.size() * image * size, std::byte{0});
    }));
  }
  const std::int64_t panels = (s.c + kPanelColumns - 1) / kPanelColumns;
  for (const Phase& phase : phases) {
    const FrameProduct& product = phase.product;
    const int packers =
        tasks_for(panels, 0.2 * static_cast<double>(product.all.taps() * kPanelColumns));
    kernel.packing.push_back(parallel(packers, panels, [=](const Args& args, Range range) {
      const Correlation& all = product.all;
      const std::int64_t j = range.begin * kPanelColumns;
      const std::int64_t end = std::min(range.end * kPanelColumns, s.c);
      pack_weights(
          all, product.pairs(), false, {args.in(In::w) + j, s.taps(), 1}, end - j,
          [&](std::int64_t k, std::int64_t l) {
            return (all.rows.tap(k) * s.kw + all.columns.tap(l)) * s.c;
          },
          args.pack<std::uint16_t>(phase.panels_at) + 2 * j * product.pairs());
    }));
    kernel.stages.push_back(parallel(product.tasks(), [=](const Args& args, const Task& task) {
      product.run(args.inputs[In::dz], args.pack<std::uint16_t>(phase.panels_at),
                  args.outputs[Out::dx], task.index, task.scratch);
    }));
  }
  return kernel;
}

std::optional<Kernel> bf16_weight_gradient(const ConvShape& s,
                                           const WeightGradientOperands& operands) {
  if (!takes(s) || short_segments(s)) return std::nullopt;
  const FrameWeightGradient gradient(s, operands.stored_x, operands.stored_dz);
  if (gradient.all.taps() == 0) return std::nullopt;
  const bool partial = gradient.line_parts() > 1;
  const bool cropped = gradient.all.taps() < s.taps();
  Kernel kernel;
  kernel.engine = kEngine;
  kernel.scratch_bytes = gradient.scratch_bytes();
  if (partial) {
    kernel.workspace_bytes =
        sizeof(float) * static_cast<std::size_t>(gradient.line_parts() * s.weights());
  }
  if (cropped) {  // taps that meet padding alone, whose gradients nothing else writes
    const std::int64_t floats = s.weights() * (partial ? gradient.line_parts() : 1);
    const int clearers = tasks_for(floats, 0.1);
    kernel.stages.push_back(parallel(clearers, floats, [=](const Args& args, Range range) {
      std::fill_n((partial ? args.work() : args.out(kFirst)) + range.begin, range.size(), 0.0F);
    }));
  }
  kernel.stages.push_back(parallel(gradient.tasks(), [=](const Args& args, const Task& task) {
    gradient.run(args.inputs[operands.x], args.inputs[operands.dz],
                 partial ? args.work() : args.out(kFirst), task.index, task.scratch);
  }));
  if (partial) {
    kernel.stages.push_back(add_partials_stage(gradient.line_parts(), s.weights(), kFirst));
  }
  return kernel;
}

}  // namespace linnet::cpu
