// SPDX-License-Identifier: Apache-2.0
// A few filters on short patches, as the first layer of LeNet: neighbouring pixels of the output
// are one of as many channels, whose kernel is wider and has zeros where a pixel does not look. A
// vector of results then has few empty lanes, and there are fewer rows to look after.
#include "backend/cpu/float_lanes.h"
#include "core/align.h"
#include "ops/conv2d/engine_cpu.h"
#include "ops/conv2d/patch_products_cpu.h"

namespace linnet::cpu {
namespace {

/// Returns how many pixels are joined; 1: that does not pay.
std::int64_t joined_pixels(const ConvShape& s) {
  constexpr std::int64_t kShort = 32;  // terms; longer rows keep the processor busy as they are
  const Conv2dAttrs& a = s.attrs;
  if (a.groups > 1 || a.dilation_h > 1 || a.dilation_w > 1 || s.taps() > kShort) return 1;
  std::int64_t pixels = 1;
  while (2 * pixels * s.co <= float_lanes() && s.ow % (2 * pixels) == 0) pixels *= 2;
  return pixels;
}

/// The convolution whose pixels are `pixels` neighbours.
ConvShape joined(const ConvShape& s, std::int64_t pixels) {
  ConvShape wide = s;
  wide.co *= pixels;
  wide.ow /= pixels;
  wide.kw += (pixels - 1) * s.attrs.stride_w;
  wide.attrs.stride_w *= pixels;
  return wide;
}

/// Writes weights and biases of the joined pixels.
void widen(const ConvShape& s, const ConvShape& wide, std::int64_t pixels, const float* w,
           const float* b, float* wide_w, float* wide_b) {
  std::fill_n(wide_w, wide.weights(), 0.0F);
  for (std::int64_t p = 0; p < pixels; ++p) {
    for (std::int64_t o = 0; o < s.co; ++o) {
      const std::int64_t to = p * s.co + o;
      if (b != nullptr) wide_b[to] = b[o];
      for (std::int64_t k = 0; k < s.kh; ++k) {
        std::copy_n(w + o * s.taps() + k * s.kw * s.c, s.kw * s.c,
                    wide_w + to * wide.taps() + (k * wide.kw + p * s.attrs.stride_w) * s.c);
      }
    }
  }
}

std::optional<Kernel> forward(const ConvShape& s, const ConvTail& tail) {
  using In = Conv2dOp::In;
  using Out = Conv2dOp::Out;
  const std::int64_t pixels = joined_pixels(s);
  if (pixels == 1 || s.n == 0) return std::nullopt;
  const ConvShape wide = joined(s, pixels);
  const Correlation all = forward_correlation(wide);
  if (all.taps() != wide.taps()) return std::nullopt;  // some meet padding alone
  const PatchProduct product(all, wide.co);
  const std::size_t biases_at = align_up(sizeof(float) * product.panels());
  Kernel kernel;
  kernel.packed_bytes = biases_at + sizeof(float) * static_cast<std::size_t>(wide.co);
  kernel.packed_operands = {In::w};
  if (tail.bias) kernel.packed_operands.push_back(In::b);
  kernel.workspace_bytes = sizeof(float) * static_cast<std::size_t>(wide.weights());
  kernel.scratch_bytes = product.scratch_bytes();
  kernel.packing.push_back(parallel(1, [=](const Args& args) {
    widen(s, wide, pixels, args.in(In::w), tail.bias ? args.in(In::b) : nullptr, args.work(),
          args.pack(biases_at));
    product.pack({args.work(), 1, wide.taps()}, 0, wide.taps(), args.pack());
  }));
  kernel.stages.push_back(parallel(product.tasks(), [=](const Args& args, const Task& task) {
    product.run(args.in(In::x), args.pack(), tail.bias ? args.pack(biases_at) : nullptr,
                args.out(Out::y), task.index, task.scratch, tail.activation);
  }));
  return kernel;
}

std::optional<Kernel> no_gradient(const ConvShape& /*s*/) { return std::nullopt; }

}  // namespace

const ConvEngine& joined_pixels_engine() {
  static const ConvEngine engine{"joined-pixels", forward, no_gradient, no_gradient};
  return engine;
}

}  // namespace linnet::cpu
