// SPDX-License-Identifier: Apache-2.0
#include "ops/batch_norm/batch_norm.h"

#include <algorithm>
#include <cmath>

#include "graph/registry.h"

namespace linnet {
namespace {

std::vector<ValueType> infer_norm(const BatchNormAttrs& attrs, std::span<const ValueType> inputs) {
  const std::string got = to_string({"x", "gamma", "beta", "running_mean", "running_var"},
                                    {inputs.begin(), inputs.end()});
  require(inputs.size() == 5 && inputs[0].dtype == DType::f32 && inputs[0].shape.rank() >= 2,
          "expected x (..., C) and four statistics (C); got {}", got);
  const std::int64_t channels = inputs[0].shape[-1];
  for (const ValueType& statistic : inputs.subspan(1)) {
    require(statistic == ValueType{DType::f32, Shape{channels}},
            "expected statistics of {} channels; got {}", channels, got);
  }
  require(attrs.epsilon > 0 && attrs.momentum >= 0 && attrs.momentum <= 1,
          "expected epsilon > 0 and momentum in [0, 1]; got {} and {}", attrs.epsilon,
          attrs.momentum);
  return {inputs[0]};
}

/// Sums f(element, channel) over the rows, by channel.
template <class F>
std::vector<double> sum_rows(const Shape& x, F f) {
  std::vector<double> sums(static_cast<std::size_t>(x[-1]), 0.0);
  for (std::int64_t i = 0; i < x.elements(); ++i) {
    sums[static_cast<std::size_t>(i % x[-1])] += f(i, i % x[-1]);
  }
  return sums;
}

}  // namespace

std::vector<ValueType> BatchNormOp::infer(std::span<const ValueType> inputs) const {
  const ValueType y = infer_norm(attrs(), inputs)[0];
  return {y, inputs[1], inputs[1]};
}

std::vector<Value> BatchNormOp::gradient(const GradientArgs& args) const {
  const Node& node = args.node;
  const std::vector<Value> gradients =
      args.graph.add(std::make_shared<BatchNormGradOp>(),
                     {args.output_gradients[0], node.inputs[0], node.inputs[1], node.outputs[1],
                      node.outputs[2]},
                     node.name);
  return {gradients[0], gradients[1], gradients[2], Value{}, Value{}};
}

void BatchNormOp::reference(const ReferenceArgs& args) const {
  const ReferenceTensor& x = args.in(0);
  const std::int64_t channels = x.shape[-1];
  const std::int64_t rows = channels > 0 ? x.shape.elements() / channels : 0;
  const auto count = static_cast<double>(std::max<std::int64_t>(rows, 1));
  const std::vector<double> sums =
      sum_rows(x.shape, [&](std::int64_t i, std::int64_t) { return x[i]; });
  for (std::int64_t c = 0; c < channels; ++c) {
    args.out(1)[c] = sums[static_cast<std::size_t>(c)] / count;
  }
  const std::vector<double> squares = sum_rows(x.shape, [&](std::int64_t i, std::int64_t c) {
    const double d = x[i] - args.out(1)[c];
    return d * d;
  });
  for (std::int64_t c = 0; c < channels; ++c) {
    const double sum = squares[static_cast<std::size_t>(c)];
    args.out(2)[c] = 1 / std::sqrt(sum / count + attrs().epsilon);
    if (rows == 0) continue;
    const double m = attrs().momentum;
    args.in(3)[c] = (1 - m) * args.in(3)[c] + m * args.out(1)[c];
    args.in(4)[c] = (1 - m) * args.in(4)[c] + m * sum / std::max(count - 1, 1.0);
  }
  for (std::int64_t i = 0; i < x.shape.elements(); ++i) {
    const std::int64_t c = i % channels;
    args.out(0)[i] = (x[i] - args.out(1)[c]) * args.out(2)[c] * args.in(1)[c] + args.in(2)[c];
  }
}

Cost BatchNormOp::cost(std::span<const ValueType> inputs,
                       std::span<const ValueType> /*outputs*/) const {
  return {.flops = 8.0 * static_cast<double>(inputs[0].shape.elements()),
          .bytes = 3.0 * static_cast<double>(inputs[0].bytes())};
}

std::shared_ptr<const Op> BatchNormOp::at_inference(std::shared_ptr<const Op> /*self*/) const {
  return std::make_shared<BatchNormInferenceOp>(attrs());
}

std::vector<ValueType> BatchNormInferenceOp::infer(std::span<const ValueType> inputs) const {
  return infer_norm(attrs(), inputs);
}

void BatchNormInferenceOp::reference(const ReferenceArgs& args) const {
  const std::int64_t channels = args.in(0).shape[-1];
  for (std::int64_t i = 0; i < args.in(0).shape.elements(); ++i) {
    const std::int64_t c = i % channels;
    const double inv_std = 1 / std::sqrt(args.in(4)[c] + attrs().epsilon);
    args.out(0)[i] = (args.in(0)[i] - args.in(3)[c]) * inv_std * args.in(1)[c] + args.in(2)[c];
  }
}

std::vector<ValueType> BatchNormGradOp::infer(std::span<const ValueType> inputs) const {
  require(inputs.size() == 5 && inputs[0] == inputs[1] && inputs[0].shape.rank() >= 2,
          "expected dy, x, gamma, mean and inv_std; got {}",
          to_string({"dy", "x", "gamma", "mean", "inv_std"}, {inputs.begin(), inputs.end()}));
  for (const ValueType& statistic : inputs.subspan(2)) {
    require(statistic == ValueType{DType::f32, Shape{inputs[0].shape[-1]}},
            "expected statistics of {} channels; got {}", inputs[0].shape[-1],
            to_string(statistic));
  }
  return {inputs[0], inputs[2], inputs[2]};
}

void BatchNormGradOp::reference(const ReferenceArgs& args) const {
  const ReferenceTensor& dy = args.in(0);
  const std::int64_t channels = dy.shape[-1];
  const std::int64_t rows = channels > 0 ? dy.shape.elements() / channels : 0;
  const auto normal = [&](std::int64_t i, std::int64_t c) {
    return (args.in(1)[i] - args.in(3)[c]) * args.in(4)[c];
  };
  args.out(1).data =
      sum_rows(dy.shape, [&](std::int64_t i, std::int64_t c) { return dy[i] * normal(i, c); });
  args.out(2).data = sum_rows(dy.shape, [&](std::int64_t i, std::int64_t) { return dy[i]; });
  for (std::int64_t i = 0; i < dy.shape.elements(); ++i) {
    const std::int64_t c = i % channels;
    const double centred =
        dy[i] - (args.out(2)[c] + normal(i, c) * args.out(1)[c]) / static_cast<double>(rows);
    args.out(0)[i] = args.in(2)[c] * args.in(4)[c] * centred;
  }
}

void register_batch_norm(OpRegistry& registry) {
  registry.add<BatchNormOp>();
  registry.add<BatchNormInferenceOp>();
  registry.add<BatchNormGradOp>();
}

}  // namespace linnet
