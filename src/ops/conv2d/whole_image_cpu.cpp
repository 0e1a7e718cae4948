// SPDX-License-Identifier: Apache-2.0
// Images so small that padding would be most of what a kernel meets, as 2x2 pixels at the end of a
// ResNet on CIFAR under 3x3: every output pixel sees (almost) every pixel. One product of whole
// images with the weights spread out, a row of (pixels, C) for each output pixel and channel, then
// computes 4 products where a sum over taps computes 9.
#include "backend/cpu/products/packed_products.h"
#include "core/align.h"
#include "ops/activation/epilogue_cpu.h"
#include "ops/conv2d/engine_cpu.h"

namespace linnet::cpu {
namespace {

/// The spread weights: (outputs = OH * OW * C_out, inputs = H * W * C).
struct Spread {
  explicit Spread(const ConvShape& s)
      : s(s), outputs(s.out_pixels() * s.co), inputs(s.in_pixels() * s.c) {}

  /// Returns the tap that output pixel p multiplies input pixel q with; -1: none.
  std::int64_t tap(std::int64_t p, std::int64_t q) const {
    const Conv2dAttrs& a = s.attrs;
    const std::int64_t k = along(q / s.w, p / s.ow * a.stride_h - a.pad_top, a.dilation_h, s.kh);
    const std::int64_t l = along(q % s.w, p % s.ow * a.stride_w - a.pad_left, a.dilation_w, s.kw);
    return k < 0 || l < 0 ? -1 : k * s.kw + l;
  }
  /// Taps that meet a pixel somewhere, and not padding alone.
  std::int64_t taps_met() const {
    std::vector<bool> met(static_cast<std::size_t>(s.kh * s.kw), false);
    for (std::int64_t p = 0; p < s.out_pixels(); ++p) {
      for (std::int64_t q = 0; q < s.in_pixels(); ++q) {
        if (const std::int64_t t = tap(p, q); t >= 0) met[static_cast<std::size_t>(t)] = true;
      }
    }
    return std::count(met.begin(), met.end(), true);
  }
  std::size_t bytes() const {
    return align_up(sizeof(float) * static_cast<std::size_t>(outputs * inputs));
  }

  ConvShape s;
  std::int64_t outputs;
  std::int64_t inputs;

 private:
  static std::int64_t along(std::int64_t in, std::int64_t first, std::int64_t dilation,
                            std::int64_t kernel) {
    const std::int64_t offset = in - first;
    if (offset < 0 || offset % dilation != 0) return -1;
    return offset / dilation < kernel ? offset / dilation : -1;
  }
};

bool takes(const ConvShape& s) {
  constexpr std::int64_t kFewImages = 16;  // then spreading costs more than it saves
  constexpr std::int64_t kMostFloats = std::int64_t{4} << 20;
  if (s.attrs.groups > 1 || s.n < kFewImages) return false;
  const Spread spread(s);
  return s.in_pixels() < s.kh * s.kw && spread.outputs * spread.inputs <= kMostFloats &&
         s.in_pixels() < spread.taps_met();
}

/// Spreads w out in the workspace, and b, where there is one, at byte `biases_at` of what is
/// packed.
Stage spread_stage(const Spread& spread, bool bias, std::size_t biases_at) {
  using In = Conv2dOp::In;
  const int tasks = tasks_for(spread.outputs, 0.8 * static_cast<double>(spread.inputs));
  return parallel(tasks, spread.outputs, [=](const Args& args, Range rows) {
    const ConvShape& s = spread.s;
    float* biases = args.pack(biases_at);
    for (std::int64_t row = rows.begin; row < rows.end; ++row) {
      const std::int64_t p = row / s.co;
      const std::int64_t o = row % s.co;
      if (bias) biases[row] = args.in(In::b)[o];
      float* to = args.work() + row * spread.inputs;
      for (std::int64_t q = 0; q < s.in_pixels(); ++q, to += s.c) {
        const std::int64_t tap = spread.tap(p, q);
        if (tap < 0) {
          std::fill_n(to, s.c, 0.0F);
        } else {
          std::copy_n(args.in(In::w) + o * s.taps() + tap * s.c, s.c, to);
        }
      }
    }
  });
}

/// A product of the first operand's images with the spread weights, whose terms and columns lie
/// these strides apart.
Kernel product_kernel(const Spread& spread, const GemmShape& shape, std::int64_t term_stride,
                      std::int64_t column_stride, const ConvTail& tail) {
  const PackedProduct product(shape);
  const std::size_t biases_at = align_up(product.panel_bytes());
  Kernel kernel;
  kernel.workspace_bytes = spread.bytes();
  kernel.scratch_bytes = product.scratch_bytes();
  kernel.packed_bytes =
      biases_at + sizeof(float) * static_cast<std::size_t>(tail.bias ? spread.outputs : 0);
  kernel.packed_operands = {Conv2dOp::In::w};
  if (tail.bias) kernel.packed_operands.push_back(Conv2dOp::In::b);
  kernel.packing.push_back(spread_stage(spread, tail.bias, biases_at));
  kernel.packing.push_back(parallel(product.groups(), [=](const Args& args, const Task& task) {
    product.pack({args.work(), term_stride, column_stride}, task.index, args.pack());
  }));
  kernel.stages.push_back(parallel(product.tasks(), [=](const Args& args, const Task& task) {
    product.run(product.rows_of_task(task.index), product.group_of_task(task.index),
                args.in(kFirst), args.pack(), tail.bias ? args.pack(biases_at) : nullptr,
                args.out(kFirst), task.scratch,
                [&](float* y, std::int64_t rows, std::int64_t columns) {
                  add_bias_and_activate(y, rows, columns, nullptr, tail.activation, shape.n);
                });
  }));
  return kernel;
}

std::optional<Kernel> forward(const ConvShape& s, const ConvTail& tail) {
  if (!takes(s)) return std::nullopt;
  const Spread spread(s);
  return product_kernel(spread, {s.n, spread.outputs, spread.inputs}, 1, spread.inputs, tail);
}

std::optional<Kernel> grad_input(const ConvShape& s) {
  if (!takes(s)) return std::nullopt;
  const Spread spread(s);
  return product_kernel(spread, {s.n, spread.inputs, spread.outputs}, spread.inputs, 1, {});
}

/// Returns the gradient of the spread weights, then of every tap the sum of its places.
std::optional<Kernel> grad_weight(const ConvShape& s) {
  using In = Conv2dGradWeightOp::In;
  using Out = Conv2dGradWeightOp::Out;
  if (!takes(s)) return std::nullopt;
  const Spread spread(s);
  const ProductTasks tasks({spread.outputs, spread.inputs, s.n}, PackedSides::both);
  const int folders = tasks_for(s.co, 1.2 * static_cast<double>(s.out_pixels() * spread.inputs));
  Kernel kernel;
  kernel.workspace_bytes = spread.bytes();
  kernel.scratch_bytes = tasks.scratch_bytes();
  kernel.stages.push_back(parallel(tasks.count(), [=](const Args& args, const Task& task) {
    const auto [rows, columns] = tasks.block(task.index);
    gemm({rows.size(), columns.size(), spread.s.n},
         {args.in(In::dz) + rows.begin, spread.outputs, true},
         {args.in(In::x) + columns.begin, spread.inputs},
         args.work() + rows.begin * spread.inputs + columns.begin, spread.inputs, task.scratch);
  }));
  kernel.stages.push_back(parallel(folders, s.co, [=](const Args& args, Range channels) {
    const ConvShape& s = spread.s;
    for (std::int64_t o = channels.begin; o < channels.end; ++o) {
      float* dw = args.out(Out::dw) + o * s.taps();
      std::fill_n(dw, s.taps(), 0.0F);
      for (std::int64_t p = 0; p < s.out_pixels(); ++p) {
        const float* from = args.work() + (p * s.co + o) * spread.inputs;
        for (std::int64_t q = 0; q < s.in_pixels(); ++q, from += s.c) {
          const std::int64_t tap = spread.tap(p, q);
          if (tap < 0) continue;
          float* to = dw + tap * s.c;
          for (std::int64_t i = 0; i < s.c; ++i) to[i] += from[i];
        }
      }
    }
  }));
  return kernel;
}

}  // namespace

const ConvEngine& whole_image_engine() {
  static const ConvEngine engine{"whole-image", forward, grad_input, grad_weight};
  return engine;
}

}  // namespace linnet::cpu
