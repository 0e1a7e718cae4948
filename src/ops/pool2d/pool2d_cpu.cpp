// SPDX-License-Identifier: Apache-2.0
#include "ops/pool2d/pool2d_cpu.h"

#include <algorithm>

#include "backend/cpu/kernel.h"
#include "backend/cpu/stored.h"
#include "ops/pool2d/window.h"

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

/// A row of the result as a pooling of its own, of the image's rows that it reads.
struct PooledRow {
  PooledRow(const PoolShape& s, std::int64_t r) : shape(s) {
    const Window rows = rows_of(s, r % s.oh);
    shape.n = 1;
    shape.h = rows.size;
    shape.oh = 1;
    shape.attrs.pad_top = rows.skip;
    x = (r / s.oh * s.h + rows.begin) * s.w * s.c;
    y = r * s.ow * s.c;
  }
  PoolShape shape;
  std::int64_t x = 0;  ///< the first element that it reads
  std::int64_t y = 0;
};

/// Calls pool(shape, rows, x, y, element) where x or y may be stored in bfloat16: of rows of the
/// whole, or of one row after the other, whose winners begin at an element of theirs.
template <class Pool>
Kernel stored_forward(const NodeView& node, const PoolShape& s, Pool pool) {
  const Stored from(node.inputs[kFirst]);
  const Stored to(node.outputs[kFirst]);
  if (!from.bf16() && !to.bf16()) {
    return forward(s, [=](const Args& args, Range rows) {
      pool(args, s, rows, args.in(kFirst), args.out(kFirst), 0);
    });
  }
  const std::int64_t most = s.attrs.size_h * s.w * s.c;
  const std::int64_t pixels = s.ow * s.attrs.size_h * s.attrs.size_w;
  Kernel kernel = one_stage(s.n * s.oh, channel_cost(s) * static_cast<double>(pixels),
                            [=](const Args& args, const Task& task, Range rows) {
                              auto* block = reinterpret_cast<float*>(task.scratch);
                              for (std::int64_t r = rows.begin; r < rows.end; ++r) {
                                const PooledRow row(s, r);
                                const float* x = from.read(args.inputs[kFirst], row.x,
                                                           row.shape.in_pixels() * s.c, block);
                                float* y = to.target(args.outputs[kFirst], row.y, block + most);
                                pool(args, row.shape, Range{0, 1}, x, y, row.y);
                                to.write(y, s.ow * s.c, args.outputs[kFirst], row.y);
                              }
                            });
  kernel.scratch_bytes = sizeof(float) * static_cast<std::size_t>(most + s.ow * s.c);
  return kernel;
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

/// Calls pool(args, shape, rows, dy, dx, element) where dy or dx may be stored in bfloat16: of rows
/// of the whole, or of one sample after the other, whose windows begin at an element.
template <class Pool>
Kernel stored_backward(const NodeView& node, const PoolShape& s, Pool pool) {
  const Stored from(node.inputs[kFirst]);
  const Stored to(node.outputs[kFirst]);
  if (!from.bf16() && !to.bf16()) {
    return backward(s, [=](const Args& args, Range rows) {
      pool(args, s, rows, args.in(kFirst), args.out(kFirst), 0);
    });
  }
  const std::int64_t windows = s.out_pixels() * s.c;
  const std::int64_t image = s.in_pixels() * s.c;
  PoolShape one = s;
  one.n = 1;
  Kernel kernel =
      one_stage(s.n, channel_cost(s) * static_cast<double>(3 * s.in_pixels()),
                [=](const Args& args, const Task& task, Range samples) {
                  auto* block = reinterpret_cast<float*>(task.scratch);
                  for (std::int64_t n = samples.begin; n < samples.end; ++n) {
                    const float* dy = from.read(args.inputs[kFirst], n * windows, windows, block);
                    float* dx = to.target(args.outputs[kFirst], n * image, block + windows);
                    pool(args, one, Range{0, s.h}, dy, dx, n * windows);
                    to.write(dx, image, args.outputs[kFirst], n * image);
                  }
                });
  kernel.scratch_bytes = sizeof(float) * static_cast<std::size_t>(windows + image);
  return kernel;
}

template <class Winner>
Kernel max_kernel(const NodeView& node, const PoolShape& s) {
  return stored_forward(node, s,
                        [](const Args& args, const PoolShape& shape, Range rows, const float* x,
                           float* y, std::int64_t first) {
                          max_pool(shape, rows, x, y,
                                   args.out<Winner>(MaxPool2dOp::Out::winner) + first);
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
Kernel max_grad_kernel(const NodeView& node, const PoolShape& s) {
  using In = MaxPool2dGradOp::In;
  using Out = MaxPool2dGradOp::Out;
  // From there on it takes longer to ask every window over a pixel than to add one at a time.
  constexpr std::int64_t kWide = 48;
  if (!stores_bf16(node) && !s.disjoint() && s.attrs.size_h * s.attrs.size_w > kWide) {
    const double cost = static_cast<double>((s.in_pixels() / 3 + 8 * s.out_pixels()) * s.c);
    return one_stage(s.n, cost, [=](const Args& args, Range samples) {
      scatter(s, samples, args.in(In::dy), args.in<Winner>(In::winner), args.out(Out::dx));
    });
  }
  return stored_backward(node, s,
                         [](const Args& args, const PoolShape& shape, Range rows, const float* dy,
                            float* dx, std::int64_t first) {
                           max_pool_grad(shape, rows, dy, args.in<Winner>(In::winner) + first, dx);
                         });
}

float share(const PoolShape& s) {
  return 1.0F / static_cast<float>(s.attrs.size_h * s.attrs.size_w);
}

std::optional<Kernel> prepare_max(const NodeView& node) {
  const PoolShape s = pool_shape(node.attrs<MaxPool2dOp>(), node.in(MaxPool2dOp::In::x));
  return winner_type(s.attrs) == DType::u8 ? max_kernel<std::uint8_t>(node, s)
                                           : max_kernel<std::int32_t>(node, s);
}

std::optional<Kernel> prepare_average(const NodeView& node) {
  const PoolShape s = pool_shape(node.attrs<AvgPool2dOp>(), node.in(AvgPool2dOp::In::x));
  return stored_forward(node, s,
                        [=](const Args& /*args*/, const PoolShape& shape, Range rows,
                            const float* x, float* y,
                            std::int64_t /*first*/) { average_pool(shape, rows, share(s), x, y); });
}

std::optional<Kernel> prepare_max_grad(const NodeView& node) {
  const PoolShape s = pool_shape(node.attrs<MaxPool2dGradOp>(), node.in(MaxPool2dGradOp::In::dy));
  return winner_type(s.attrs) == DType::u8 ? max_grad_kernel<std::uint8_t>(node, s)
                                           : max_grad_kernel<std::int32_t>(node, s);
}

std::optional<Kernel> prepare_average_grad(const NodeView& node) {
  const PoolShape s = pool_shape(node.attrs<AvgPool2dGradOp>(), node.in(AvgPool2dGradOp::In::dy));
  return stored_backward(node, s,
                         [=](const Args& /*args*/, const PoolShape& shape, Range rows,
                             const float* dy, float* dx, std::int64_t /*first*/) {
                           average_pool_grad(shape, rows, share(s), dy, dx);
                         });
}

}  // namespace

void register_pool2d(Registry& registry) {
  registry.add(MaxPool2dOp::kName, prepare_max, Stores::bf16);
  registry.add(AvgPool2dOp::kName, prepare_average, Stores::bf16);
  registry.add(MaxPool2dGradOp::kName, prepare_max_grad, Stores::bf16);
  registry.add(AvgPool2dGradOp::kName, prepare_average_grad, Stores::bf16);
}

}  // namespace linnet::cpu
