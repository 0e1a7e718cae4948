// SPDX-License-Identifier: Apache-2.0
#include "ops/pool2d/pool2d.h"

#include <cmath>

#include "graph/registry.h"
#include "ops/pool2d/window.h"

namespace linnet {
namespace {

/// Calls f(output index, input index, position in the window) for every pixel of every window.
template <class F>
void for_pixels(const PoolShape& s, F f) {
  for (std::int64_t n = 0; n < s.n; ++n) {
    for (std::int64_t i = 0; i < s.oh; ++i) {
      for (std::int64_t j = 0; j < s.ow; ++j) {
        const Window rows = rows_of(s, i);
        const Window columns = columns_of(s, j);
        for (std::int64_t k = 0; k < rows.size; ++k) {
          for (std::int64_t l = 0; l < columns.size; ++l) {
            for (std::int64_t c = 0; c < s.c; ++c) {
              f(((n * s.oh + i) * s.ow + j) * s.c + c,
                ((n * s.h + rows.begin + k) * s.w + columns.begin + l) * s.c + c,
                (rows.skip + k) * s.attrs.size_w + columns.skip + l);
            }
          }
        }
      }
    }
  }
}

Shape output_shape(const PoolShape& s) { return {s.n, s.oh, s.ow, s.c}; }

PoolShape infer_pool(const Pool2dAttrs& attrs, std::span<const ValueType> inputs) {
  using In = MaxPool2dOp::In;
  require(inputs.size() == 1 && inputs[In::x].dtype == DType::f32 &&
              inputs[In::x].shape.rank() == 4,
          "expected images (N, H, W, C); got {}", to_string({"x"}, {inputs.begin(), inputs.end()}));
  return pool_shape(attrs, inputs[In::x].shape);
}

std::vector<ValueType> infer_gradient(const Pool2dGradAttrs& attrs,
                                      std::span<const ValueType> inputs, bool winner) {
  using In = MaxPool2dGradOp::In;
  const std::vector<ValueType> types(inputs.begin(), inputs.end());
  require(inputs.size() == (winner ? 2U : 1U) && inputs[In::dy].dtype == DType::f32 &&
              inputs[In::dy].shape.rank() == 4,
          "expected dy (N, OH, OW, C); got {}", to_string({"dy", "winner"}, types));
  const PoolShape s = pool_shape(attrs, inputs[In::dy].shape);
  require(inputs[In::dy].shape == output_shape(s) &&
              (!winner ||
               inputs[In::winner] == ValueType{winner_type(attrs.pool), inputs[In::dy].shape}),
          "expected dy={}; got {}", to_string(output_shape(s)), to_string({"dy", "winner"}, types));
  return {{DType::f32, Shape{s.n, s.h, s.w, s.c}}};
}

Pool2dGradAttrs gradient_attributes(const Pool2dAttrs& attrs, const Shape& x) {
  return {attrs, x[1], x[2]};
}

}  // namespace

PoolShape pool_shape(const Pool2dAttrs& a, const Shape& x) {
  constexpr std::int64_t kLargest = 1 << 15;  // winners are counted in 32 bits
  require(a.size_h >= 1 && a.size_w >= 1 && a.size_h <= kLargest && a.size_w <= kLargest &&
              a.stride_h >= 1 && a.stride_w >= 1,
          "expected a window from 1 to {} and strides of at least 1; got ({}, {}) and ({}, {})",
          kLargest, a.size_h, a.size_w, a.stride_h, a.stride_w);
  require(
      a.pad_top >= 0 && a.pad_bottom >= 0 && a.pad_left >= 0 && a.pad_right >= 0 &&
          a.pad_top < a.size_h && a.pad_bottom < a.size_h && a.pad_left < a.size_w &&
          a.pad_right < a.size_w,
      "expected padding smaller than the window ({}, {}); got top {}, bottom {}, left {}, right "
      "{}",
      a.size_h, a.size_w, a.pad_top, a.pad_bottom, a.pad_left, a.pad_right);
  const std::int64_t height = x[1] + a.pad_top + a.pad_bottom;
  const std::int64_t width = x[2] + a.pad_left + a.pad_right;
  require(x[1] >= 1 && x[2] >= 1 && a.size_h <= height && a.size_w <= width,
          "window ({}, {}) is larger than the padded input ({}, {}); got x={}", a.size_h, a.size_w,
          height, width, to_string(x));
  return {.n = x[0],
          .h = x[1],
          .w = x[2],
          .c = x[3],
          .oh = (height - a.size_h) / a.stride_h + 1,
          .ow = (width - a.size_w) / a.stride_w + 1,
          .attrs = a};
}

PoolShape pool_shape(const Pool2dGradAttrs& attrs, const Shape& dy) {
  return pool_shape(attrs.pool, {dy[0], attrs.in_h, attrs.in_w, dy[3]});
}

std::vector<ValueType> MaxPool2dOp::infer(std::span<const ValueType> inputs) const {
  const Shape y = output_shape(infer_pool(attrs(), inputs));
  return {{DType::f32, y}, {winner_type(attrs()), y}};
}

std::vector<Value> MaxPool2dOp::gradient(const GradientArgs& args) const {
  const Shape x = args.graph.shape(args.node.inputs[In::x]);
  return {args.graph.emit(MaxPool2dGradOp(gradient_attributes(attrs(), x)),
                          {args.output_gradients[Out::y], args.node.outputs[Out::winner]},
                          args.node.name)};
}

void MaxPool2dOp::reference(const ReferenceArgs& args) const {
  const PoolShape s = pool_shape(attrs(), args.in(In::x).shape);
  for (double& y : args.out(Out::y).data) y = -INFINITY;
  for (double& winner : args.out(Out::winner).data) winner = -1;
  for_pixels(s, [&](std::int64_t out, std::int64_t in, std::int64_t position) {
    const double x = args.in(In::x)[in];
    const double best = args.out(Out::y)[out];
    if (args.out(Out::winner)[out] >= 0 && !(x > best) && !(std::isnan(x) && !std::isnan(best)))
      return;
    args.out(Out::y)[out] = x;
    args.out(Out::winner)[out] = static_cast<double>(position);
  });
}

std::vector<ValueType> AvgPool2dOp::infer(std::span<const ValueType> inputs) const {
  return {{DType::f32, output_shape(infer_pool(attrs(), inputs))}};
}

std::vector<Value> AvgPool2dOp::gradient(const GradientArgs& args) const {
  const Shape x = args.graph.shape(args.node.inputs[In::x]);
  return {args.graph.emit(AvgPool2dGradOp(gradient_attributes(attrs(), x)),
                          {args.output_gradients[Out::y]}, args.node.name)};
}

void AvgPool2dOp::reference(const ReferenceArgs& args) const {
  const PoolShape s = pool_shape(attrs(), args.in(In::x).shape);
  for (double& y : args.out(Out::y).data) y = 0;
  for_pixels(s, [&](std::int64_t out, std::int64_t in, std::int64_t) {
    args.out(Out::y)[out] +=
        args.in(In::x)[in] / static_cast<double>(attrs().size_h * attrs().size_w);
  });
}

std::vector<ValueType> MaxPool2dGradOp::infer(std::span<const ValueType> inputs) const {
  return infer_gradient(attrs(), inputs, true);
}

void MaxPool2dGradOp::reference(const ReferenceArgs& args) const {
  for (double& dx : args.out(Out::dx).data) dx = 0;
  for_pixels(pool_shape(attrs(), args.in(In::dy).shape),
             [&](std::int64_t out, std::int64_t in, std::int64_t position) {
               if (args.in(In::winner)[out] == static_cast<double>(position)) {
                 args.out(Out::dx)[in] += args.in(In::dy)[out];
               }
             });
}

std::vector<ValueType> AvgPool2dGradOp::infer(std::span<const ValueType> inputs) const {
  return infer_gradient(attrs(), inputs, false);
}

std::vector<Value> AvgPool2dGradOp::gradient(const GradientArgs& args) const {
  return {
      args.graph.emit(AvgPool2dOp(attrs().pool), {args.output_gradients[Out::dx]}, args.node.name)};
}

void AvgPool2dGradOp::reference(const ReferenceArgs& args) const {
  const Pool2dAttrs& pool = attrs().pool;
  for (double& dx : args.out(Out::dx).data) dx = 0;
  for_pixels(pool_shape(attrs(), args.in(In::dy).shape), [&](std::int64_t out, std::int64_t in,
                                                             std::int64_t) {
    args.out(Out::dx)[in] += args.in(In::dy)[out] / static_cast<double>(pool.size_h * pool.size_w);
  });
}

void register_pool2d(OpRegistry& registry) {
  registry.add<MaxPool2dOp>();
  registry.add<AvgPool2dOp>();
  registry.add<MaxPool2dGradOp>();
  registry.add<AvgPool2dGradOp>();
}

}  // namespace linnet
