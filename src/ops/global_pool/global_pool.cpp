// SPDX-License-Identifier: Apache-2.0
#include "ops/global_pool/global_pool.h"

#include <cmath>

#include "graph/registry.h"

namespace linnet {
namespace {

Shape infer_channels(std::span<const ValueType> inputs) {
  using In = GlobalAvgPoolOp::In;
  require(inputs.size() == 1 && inputs[In::x].dtype == DType::f32 &&
              inputs[In::x].shape.rank() == 4 && inputs[In::x].shape[1] >= 1 &&
              inputs[In::x].shape[2] >= 1,
          "expected images (N, H, W, C) with pixels; got {}",
          to_string({"x"}, {inputs.begin(), inputs.end()}));
  return {inputs[In::x].shape[0], inputs[In::x].shape[3]};
}

std::vector<ValueType> infer_images(const GlobalPoolGradAttrs& attrs,
                                    std::span<const ValueType> inputs, std::size_t operands) {
  using In = GlobalMaxPoolGradOp::In;
  require(inputs.size() == operands && inputs[In::dy].dtype == DType::f32 &&
              inputs[In::dy].shape.rank() == 2 && attrs.in_h >= 1 && attrs.in_w >= 1 &&
              (operands < 2 || inputs[In::winner] == ValueType{DType::i32, inputs[In::dy].shape}),
          "expected dy (N, C); got {}",
          to_string({"dy", "winner"}, {inputs.begin(), inputs.end()}));
  return {{DType::f32,
           Shape{inputs[In::dy].shape[0], attrs.in_h, attrs.in_w, inputs[In::dy].shape[1]}}};
}

GlobalPoolGradAttrs gradient_attributes(const GradientArgs& args) {
  const Shape& x = args.graph.shape(args.node.inputs[GlobalAvgPoolOp::In::x]);
  return {x[1], x[2]};
}

/// Calls f(index in (N, C), index in (N, H, W, C), pixel) for every element of images.
template <class F>
void for_elements(const Shape& images, F f) {
  const std::int64_t pixels = images[1] * images[2];
  const std::int64_t channels = images[3];
  for (std::int64_t n = 0; n < images[0]; ++n) {
    for (std::int64_t p = 0; p < pixels; ++p) {
      for (std::int64_t c = 0; c < channels; ++c) {
        f(n * channels + c, (n * pixels + p) * channels + c, p);
      }
    }
  }
}

}  // namespace

std::vector<ValueType> GlobalAvgPoolOp::infer(std::span<const ValueType> inputs) const {
  return {{DType::f32, infer_channels(inputs)}};
}

std::vector<Value> GlobalAvgPoolOp::gradient(const GradientArgs& args) const {
  return {args.graph.emit(GlobalAvgPoolGradOp(gradient_attributes(args)),
                          {args.output_gradients[Out::y]}, args.node.name)};
}

void GlobalAvgPoolOp::reference(const ReferenceArgs& args) const {
  const Shape& x = args.in(In::x).shape;
  for (double& y : args.out(Out::y).data) y = 0;
  for_elements(x, [&](std::int64_t out, std::int64_t in, std::int64_t) {
    args.out(Out::y)[out] += args.in(In::x)[in] / static_cast<double>(x[1] * x[2]);
  });
}

std::vector<ValueType> GlobalMaxPoolOp::infer(std::span<const ValueType> inputs) const {
  const Shape y = infer_channels(inputs);
  return {{DType::f32, y}, {DType::i32, y}};
}

std::vector<Value> GlobalMaxPoolOp::gradient(const GradientArgs& args) const {
  return {args.graph.emit(GlobalMaxPoolGradOp(gradient_attributes(args)),
                          {args.output_gradients[Out::y], args.node.outputs[Out::winner]},
                          args.node.name)};
}

void GlobalMaxPoolOp::reference(const ReferenceArgs& args) const {
  for_elements(args.in(In::x).shape, [&](std::int64_t out, std::int64_t in, std::int64_t pixel) {
    const double x = args.in(In::x)[in];
    const double best = args.out(Out::y)[out];
    if (pixel > 0 && !(x > best) && !(std::isnan(x) && !std::isnan(best))) return;
    args.out(Out::y)[out] = x;
    args.out(Out::winner)[out] = static_cast<double>(pixel);
  });
}

std::vector<ValueType> GlobalAvgPoolGradOp::infer(std::span<const ValueType> inputs) const {
  return infer_images(attrs(), inputs, 1);
}

std::vector<Value> GlobalAvgPoolGradOp::gradient(const GradientArgs& args) const {
  return {args.graph.emit(GlobalAvgPoolOp(), {args.output_gradients[Out::dx]}, args.node.name)};
}

void GlobalAvgPoolGradOp::reference(const ReferenceArgs& args) const {
  const Shape& x = args.out(Out::dx).shape;
  for_elements(x, [&](std::int64_t out, std::int64_t in, std::int64_t) {
    args.out(Out::dx)[in] = args.in(In::dy)[out] / static_cast<double>(x[1] * x[2]);
  });
}

std::vector<ValueType> GlobalMaxPoolGradOp::infer(std::span<const ValueType> inputs) const {
  return infer_images(attrs(), inputs, 2);
}

void GlobalMaxPoolGradOp::reference(const ReferenceArgs& args) const {
  for_elements(args.out(Out::dx).shape, [&](std::int64_t out, std::int64_t in, std::int64_t pixel) {
    const bool won = args.in(In::winner)[out] == static_cast<double>(pixel);
    args.out(Out::dx)[in] = won ? args.in(In::dy)[out] : 0;
  });
}

void register_global_pool(OpRegistry& registry) {
  registry.add<GlobalAvgPoolOp>();
  registry.add<GlobalMaxPoolOp>();
  registry.add<GlobalAvgPoolGradOp>();
  registry.add<GlobalMaxPoolGradOp>();
}

}  // namespace linnet
