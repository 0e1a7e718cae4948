// SPDX-License-Identifier: Apache-2.0
#include "ops/pool2d/pool2d_cpu.h"

#include <algorithm>

#include "backend/cpu/kernel.h"

namespace linnet::cpu {
namespace {

/// Returns what vectors of channels cost: few of them as much as a whole one.
double channel_cost(const PoolShape& s) {
  return 0.2 * static_cast<double>(std::max<std::int64_t>(s.c, 8));
}

/// Tasks take rows of the output: f(args, rows).
template <class F>
Kernel forward(const PoolShape& s, F f) {
  const std::int64_t pixels = s.ow * s.attrs.size_h * s.attrs.size_w;
  return one_stage(s.n * s.oh, channel_cost(s) * static_cast<double>(pixels), f);
}

/// Tasks take rows of the images, of which every pixel asks the windows that hold it.
template <class F>
Kernel backward(const PoolShape& s, F f) {
  const Pool2dAttrs& a = s.attrs;
  const double windows =
      static_cast<double>(a.size_h * a.size_w) / static_cast<double>(a.stride_h * a.stride_w);
  const double pixel = channel_cost(s) * (1 + windows);
  return one_stage(s.n * s.h, pixel * static_cast<double>(s.w), f);
}

template <class Winner>
Kernel max_kernel(const PoolShape& s) {
  using In = MaxPool2dOp::In;
  using Out = MaxPool2dOp::Out;
  return forward(s, [=](const Args& args, Range rows) {
    max_pool(s, rows, args.in(In::x), args.out(Out::y), args.out<Winner>(Out::winner));
  });
}

/// The same sums in the same order as max_pool_grad()'s for samples [begin, end): every window adds
/// to the pixel that won it.
template <class Winner>
void scatter(const PoolShape& s, Range samples, const float* dy, const Winner* winner, float* dx) {
  const Pool2dAttrs& a = s.attrs;
  const auto size_w = static_cast<std::int32_t>(a.size_w);
  std::fill(dx + samples.begin * s.in_pixels() * s.c, dx + samples.end * s.in_pixels() * s.c, 0.0F);
  for (std::int64_t window = samples.begin * s.out_pixels(); window < samples.end * s.out_pixels();
       ++window) {
    const std::int64_t line = window / s.ow;
    const std::int64_t top = line / s.oh * s.h + line % s.oh * a.stride_h - a.pad_top;
    const std::int64_t left = window % s.ow * a.stride_w - a.pad_left;
    for (std::int64_t c = 0; c < s.c; ++c) {
      const std::int64_t at = window * s.c + c;
      const std::int64_t row = top + winner[at] / size_w;
      const std::int64_t column = left + winner[at] % size_w;
      dx[(row * s.w + column) * s.c + c] += dy[at];
    }
  }
}

template <class Winner>
Kernel max_grad_kernel(const PoolShape& s) {
  using In = MaxPool2dGradOp::In;
  using Out = MaxPool2dGradOp::Out;
  // From there on it takes longer to ask every window over a pixel than to add one at a time.
  constexpr std::int64_t kWide = 48;
  if (!s.disjoint() && s.attrs.size_h * s.attrs.size_w > kWide) {
    const double cost = static_cast<double>((s.in_pixels() / 3 + 8 * s.out_pixels()) * s.c);
    return one_stage(s.n, cost, [=](const Args& args, Range samples) {
      scatter(s, samples, args.in(In::dy), args.in<Winner>(In::winner), args.out(Out::dx));
    });
  }
  return backward(s, [=](const Args& args, Range rows) {
    max_pool_grad(s, rows, args.in(In::dy), args.in<Winner>(In::winner), args.out(Out::dx));
  });
}

float share(const PoolShape& s) {
  return 1.0F / static_cast<float>(s.attrs.size_h * s.attrs.size_w);
}

std::optional<Kernel> prepare_max(const NodeView& node) {
  const PoolShape s = pool_shape(node.attrs<MaxPool2dOp>(), node.in(MaxPool2dOp::In::x));
  return winner_type(s.attrs) == DType::u8 ? max_kernel<std::uint8_t>(s)
                                           : max_kernel<std::int32_t>(s);
}

std::optional<Kernel> prepare_average(const NodeView& node) {
  using In = AvgPool2dOp::In;
  using Out = AvgPool2dOp::Out;
  const PoolShape s = pool_shape(node.attrs<AvgPool2dOp>(), node.in(In::x));
  return forward(s, [=](const Args& args, Range rows) {
    average_pool(s, rows, share(s), args.in(In::x), args.out(Out::y));
  });
}

std::optional<Kernel> prepare_max_grad(const NodeView& node) {
  const PoolShape s = pool_shape(node.attrs<MaxPool2dGradOp>(), node.in(MaxPool2dGradOp::In::dy));
  return winner_type(s.attrs) == DType::u8 ? max_grad_kernel<std::uint8_t>(s)
                                           : max_grad_kernel<std::int32_t>(s);
}

std::optional<Kernel> prepare_average_grad(const NodeView& node) {
  using In = AvgPool2dGradOp::In;
  using Out = AvgPool2dGradOp::Out;
  const PoolShape s = pool_shape(node.attrs<AvgPool2dGradOp>(), node.in(In::dy));
  return backward(s, [=](const Args& args, Range rows) {
    average_pool_grad(s, rows, share(s), args.in(In::dy), args.out(Out::dx));
  });
}

}  // namespace

void register_pool2d(Registry& registry) {
  registry.add(MaxPool2dOp::kName, prepare_max);
  registry.add(AvgPool2dOp::kName, prepare_average);
  registry.add(MaxPool2dGradOp::kName, prepare_max_grad);
  registry.add(AvgPool2dGradOp::kName, prepare_average_grad);
}

}  // namespace linnet::cpu
