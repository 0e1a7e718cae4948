// SPDX-License-Identifier: Apache-2.0
#include "ops/upsample2d/upsample2d.h"

#include "graph/registry.h"
#include "ops/upsample2d/resampled_axis.h"

namespace linnet {
namespace {

constexpr std::int64_t kMostPixels = std::int64_t{1}
                                     << 24;  // along an axis: indices don't overflow

void require_images(std::span<const ValueType> inputs, const char* operand, std::int64_t h,
                    std::int64_t w) {
  const auto in_range = [](std::int64_t pixels) { return pixels >= 1 && pixels <= kMostPixels; };
  require(inputs.size() == 1 && inputs[Upsample2dOp::In::x].dtype == DType::f32 &&
              inputs[Upsample2dOp::In::x].shape.rank() == 4 &&
              in_range(inputs[Upsample2dOp::In::x].shape[1]) &&
              in_range(inputs[Upsample2dOp::In::x].shape[2]),
          "expected f32 images (N, H, W, C); got {}",
          to_string({operand}, {inputs.begin(), inputs.end()}));
  require(in_range(h) && in_range(w), "expected a size of 1 to {} pixels; got ({}, {})",
          kMostPixels, h, w);
}

/// Calls f(at of x, at of y, weight) for each pixel of y and each that it reads, per channel.
template <class F>
void for_each_tap(const Shape& x, const Shape& y, Upsampling mode, F f) {
  const bool bilinear = mode == Upsampling::bilinear;
  const ResampledAxis rows{x[1], y[1], bilinear};
  const ResampledAxis columns{x[2], y[2], bilinear};
  for (std::int64_t at = 0; at < y.elements(); ++at) {
    const std::int64_t c = at % y[3];
    const Taps<double> column = columns.taps<double>(at / y[3] % y[2]);
    const Taps<double> row = rows.taps<double>(at / y[3] / y[2] % y[1]);
    const std::int64_t n = at / y[3] / y[2] / y[1];
    for (const auto& [h, of_row] :
         {std::pair(row.first, 1 - row.weight), std::pair(row.second, row.weight)}) {
      for (const auto& [w, of_column] :
           {std::pair(column.first, 1 - column.weight), std::pair(column.second, column.weight)}) {
        f(((n * x[1] + h) * x[2] + w) * x[3] + c, at, of_row * of_column);
      }
    }
  }
}

}  // namespace

std::vector<ValueType> Upsample2dOp::infer(std::span<const ValueType> inputs) const {
  require_images(inputs, "x", attrs().out_h, attrs().out_w);
  const Shape& x = inputs[In::x].shape;
  return {{DType::f32, Shape{x[0], attrs().out_h, attrs().out_w, x[3]}}};
}

std::vector<Value> Upsample2dOp::gradient(const GradientArgs& args) const {
  const Shape x = args.graph.shape(args.node.inputs[In::x]);
  return {args.graph.emit(Upsample2dGradOp({.mode = attrs().mode, .in_h = x[1], .in_w = x[2]}),
                          {args.output_gradients[Out::y]}, args.node.name)};
}

void Upsample2dOp::reference(const ReferenceArgs& args) const {
  for (double& y : args.out(Out::y).data) y = 0;
  for_each_tap(args.in(In::x).shape, args.out(Out::y).shape, attrs().mode,
               [&](std::int64_t x, std::int64_t y, double weight) {
                 args.out(Out::y)[y] += weight * args.in(In::x)[x];
               });
}

Cost Upsample2dOp::cost(std::span<const ValueType> inputs,
                        std::span<const ValueType> outputs) const {
  Cost cost = Op::cost(inputs, outputs);
  if (attrs().mode == Upsampling::bilinear) cost.flops *= 8;
  return cost;
}

std::vector<ValueType> Upsample2dGradOp::infer(std::span<const ValueType> inputs) const {
  require_images(inputs, "dy", attrs().in_h, attrs().in_w);
  const Shape& dy = inputs[In::dy].shape;
  return {{DType::f32, Shape{dy[0], attrs().in_h, attrs().in_w, dy[3]}}};
}

std::vector<Value> Upsample2dGradOp::gradient(const GradientArgs& args) const {
  const Shape dy = args.graph.shape(args.node.inputs[In::dy]);
  return {args.graph.emit(Upsample2dOp({.mode = attrs().mode, .out_h = dy[1], .out_w = dy[2]}),
                          {args.output_gradients[Out::dx]}, args.node.name)};
}

void Upsample2dGradOp::reference(const ReferenceArgs& args) const {
  for (double& dx : args.out(Out::dx).data) dx = 0;
  for_each_tap(args.out(Out::dx).shape, args.in(In::dy).shape, attrs().mode,
               [&](std::int64_t x, std::int64_t y, double weight) {
                 args.out(Out::dx)[x] += weight * args.in(In::dy)[y];
               });
}

void register_upsample2d(OpRegistry& registry) {
  registry.add<Upsample2dOp>();
  registry.add<Upsample2dGradOp>();
}

}  // namespace linnet
