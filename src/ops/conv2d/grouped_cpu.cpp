// SPDX-License-Identifier: Apache-2.0
#include "ops/conv2d/grouped_cpu.h"

#include "backend/cpu/partial_sums.h"
#include "core/align.h"
#include "ops/activation/epilogue_cpu.h"
#include "ops/conv2d/correlation_cpu.h"
#include "ops/conv2d/engine_cpu.h"

namespace linnet::cpu {
namespace {

GroupedChannels channels_of(const ConvShape& s) { return {s.c, s.group_in()}; }

/// Larger groups have shuffles beyond 128 bits: oneDNN is faster there, but for weights.
constexpr std::int64_t kSmall = 4;
constexpr std::int64_t kLarger = 8;

bool takes(const ConvShape& s, std::int64_t most) {
  return s.attrs.groups > 1 && s.group_in() <= most && s.c == s.co && s.attrs.dilation_h == 1 &&
         s.attrs.dilation_w == 1 && s.n > 0 && takes_groups(channels_of(s));
}

/// Sums over the patches of one correlation, for all channels of each pixel.
struct GroupedSums {
  GroupedSums(const ConvShape& s, const Correlation& correlation)
      : of(channels_of(s)), all(correlation), blocks(correlation) {}

  std::size_t floats() const { return static_cast<std::size_t>(all.taps() * of.each); }
  /// Nanoseconds of one core for a line.
  double cost() const {
    return conv_cost(2.0 * static_cast<double>(all.columns.out * all.taps() * of.each));
  }
  /// Packs weight(k, l, result, i) of every tap (k, l) of the convolution.
  template <class Weight>
  void pack(float* packed, Weight weight) const {
    const std::int64_t taps = all.rows.kernel * all.columns.kernel;
    for (std::int64_t tap = 0; tap < taps; ++tap) {
      const std::int64_t k = all.rows.tap(tap / all.columns.kernel);
      const std::int64_t l = all.columns.tap(tap % all.columns.kernel);
      for_grouped_weights(of, tap, taps, packed, [&](float& to, std::int64_t c, std::int64_t i) {
        to = weight(k, l, c, i);
      });
    }
  }
  /// Lines of the images at `to`; an activation is for correlations that fill them line by line.
  void run(Range lines, const float* images, const float* packed, const float* start, float* to,
           std::byte* scratch, Activation activation = Activation::none) const {
    blocks.for_blocks(lines, [&](std::int64_t l0, std::int64_t l1) {
      const SegmentedRows patches = blocks.patches(images, l0, l1, scratch);
      float** c = blocks.places(to, of.channels, l0, l1, scratch);
      const std::int64_t pixels = (l1 - l0) * all.columns.out;
      grouped_product(of, patches, pixels, packed, start, c);
      add_bias_and_activate(c[0], pixels, of.channels, nullptr, activation);
    });
  }

  GroupedChannels of;
  Correlation all;
  PatchBlocks blocks;
};

std::optional<Kernel> forward(const ConvShape& s, const ConvTail& tail) {
  using In = Conv2dOp::In;
  using Out = Conv2dOp::Out;
  if (!takes(s, kSmall)) return std::nullopt;
  const GroupedSums sums(s, forward_correlation(s));
  if (sums.all.taps() == 0) return std::nullopt;
  Kernel kernel;
  kernel.packed_bytes = sizeof(float) * sums.floats();
  kernel.packed_operands = {In::w};
  kernel.scratch_bytes = sums.blocks.scratch_bytes();
  kernel.packing.push_back(parallel(1, [=](const Args& args) {
    const float* w = args.in(In::w);
    sums.pack(args.pack(), [&](std::int64_t k, std::int64_t l, std::int64_t o, std::int64_t i) {
      return w[o * s.taps() + (k * s.kw + l) * s.group_in() + i];
    });
  }));
  const int tasks = tasks_for(sums.all.lines(), sums.cost());
  kernel.stages.push_back(
      parallel(tasks, sums.all.lines(), [=](const Args& args, const Task& task, Range lines) {
        sums.run(lines, args.in(In::x), args.pack(), tail.bias ? args.in(In::b) : nullptr,
                 args.out(Out::y), task.scratch, tail.activation);
      }));
  return kernel;
}

std::optional<Kernel> grad_input(const ConvShape& s) {
  using In = Conv2dGradInputOp::In;
  using Out = Conv2dGradInputOp::Out;
  if (!takes(s, kSmall)) return std::nullopt;
  const InputGradient gradient(s);
  if (!gradient.whole) return std::nullopt;
  Kernel kernel;
  std::size_t floats = 0;
  for (const Correlation& all : gradient.phases) {
    const GroupedSums sums(s, all);
    const std::size_t at = sizeof(float) * floats;
    floats += align_up(sums.floats());
    kernel.scratch_bytes = std::max(kernel.scratch_bytes, sums.blocks.scratch_bytes());
    kernel.packing.push_back(parallel(1, [=](const Args& args) {
      const float* w = args.in(In::w);
      sums.pack(args.pack(at), [&](std::int64_t k, std::int64_t l, std::int64_t c, std::int64_t i) {
        const std::int64_t o = c / sums.of.each * sums.of.each + i;
        return w[o * s.taps() + (k * s.kw + l) * sums.of.each + c % sums.of.each];
      });
    }));
    const int tasks = tasks_for(all.lines(), sums.cost());
    kernel.stages.push_back(
        parallel(tasks, all.lines(), [=](const Args& args, const Task& task, Range lines) {
          sums.run(lines, args.in(In::dz), args.pack(at), nullptr, args.out(Out::dx), task.scratch);
        }));
  }
  kernel.packed_bytes = sizeof(float) * floats;
  kernel.packed_operands = {In::w};
  return kernel;
}

std::optional<Kernel> grad_weight(const ConvShape& s) {
  using In = Conv2dGradWeightOp::In;
  using Out = Conv2dGradWeightOp::Out;
  if (!takes(s, kLarger)) return std::nullopt;
  const GroupedSums sums(s, forward_correlation(s));
  // Gradients of taps that meet padding alone are not computed here.
  if (sums.all.taps() != s.kh * s.kw * s.c) return std::nullopt;
  const int tasks = partial_gradients(s, sums.all.lines(), sums.cost());
  const std::size_t own = align_up(sizeof(float) * sums.floats());
  Kernel kernel;
  kernel.workspace_bytes = sizeof(float) * static_cast<std::size_t>(tasks * s.weights());
  kernel.scratch_bytes = own + sums.blocks.scratch_bytes();
  kernel.stages.push_back(
      parallel(tasks, sums.all.lines(), [=](const Args& args, const Task& task, Range lines) {
        auto* packed = reinterpret_cast<float*>(task.scratch);
        std::fill_n(packed, sums.floats(), 0.0F);
        sums.blocks.for_blocks(lines, [&](std::int64_t l0, std::int64_t l1) {
          add_grouped_gradient(sums.of,
                               sums.blocks.patches(args.in(In::x), l0, l1, task.scratch + own),
                               (l1 - l0) * s.ow, args.in(In::dz) + l0 * s.ow * s.co, packed);
        });
        float* dw = args.work() + task.index * s.weights();
        const std::int64_t taps = s.kh * s.kw;
        for (std::int64_t tap = 0; tap < taps; ++tap) {
          for_grouped_weights(sums.of, tap, taps, packed,
                              [&](float from, std::int64_t o, std::int64_t i) {
                                dw[(o * taps + tap) * sums.of.each + i] = from;
                              });
        }
      }));
  kernel.stages.push_back(add_partials_stage(tasks, s.weights(), Out::dw));
  return kernel;
}

}  // namespace

const ConvEngine& grouped_engine() {
  static const ConvEngine engine{"grouped", forward, grad_input, grad_weight};
  return engine;
}

}  // namespace linnet::cpu
