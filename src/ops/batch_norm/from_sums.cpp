// SPDX-License-Identifier: Apache-2.0
#include "ops/batch_norm/from_sums.h"

#include <algorithm>
#include <cmath>

namespace linnet {

ChannelMoments::ChannelMoments(const ReferenceTensor& sums, std::int64_t channel, double rows)
    : mean(sums[channel] / rows),
      variance(std::max(sums[sums.shape[-1] + channel] / rows - mean * mean, 0.0)) {}

std::vector<ValueType> BatchNormFromSumsOp::infer(std::span<const ValueType> inputs) const {
  require(!inputs.empty(), "expected a batch norm's operands and sums; got none");
  const std::vector<ValueType> outputs =
      BatchNormOp(attrs()).infer(inputs.first(inputs.size() - 1));
  const ValueType& y = outputs[Out::y];
  require(inputs[In::x] == y && inputs.back() == ValueType{DType::f32, Shape{2, y.shape[-1]}},
          "expected two sums for each of {} channels; got x={}, {}", y.shape[-1],
          to_string(inputs[In::x]), to_string(inputs.back()));
  return outputs;
}

void BatchNormFromSumsOp::reference(const ReferenceArgs& args) const {
  const Shape& shape = args.in(In::x).shape;
  const std::int64_t channels = shape[-1];
  const auto rows = static_cast<double>(shape.elements() / std::max<std::int64_t>(channels, 1));
  const ReferenceTensor& sums = *args.inputs.back();
  const double m = attrs().momentum;
  for (std::int64_t c = 0; c < channels; ++c) {
    const ChannelMoments moments(sums, c, std::max(rows, 1.0));
    args.out(Out::mean)[c] = moments.mean;
    args.out(Out::inv_std)[c] = 1 / std::sqrt(moments.variance + attrs().epsilon);
    if (rows == 0) continue;
    const double unbiased = moments.variance * rows / std::max(rows - 1, 1.0);
    args.in(In::running_mean)[c] = (1 - m) * args.in(In::running_mean)[c] + m * moments.mean;
    args.in(In::running_var)[c] = (1 - m) * args.in(In::running_var)[c] + m * unbiased;
  }
  std::vector<ReferenceTensor*> operands(args.inputs.begin(), args.inputs.end() - 1);
  operands[BatchNormAgainOp::In::mean] = &args.out(Out::mean);
  operands[BatchNormAgainOp::In::inv_std] = &args.out(Out::inv_std);
  BatchNormAgainOp({.residual = attrs().residual, .activation = attrs().activation})
      .reference({operands, args.outputs.first(1), args.step});
}

Cost BatchNormFromSumsOp::cost(std::span<const ValueType> /*inputs*/,
                               std::span<const ValueType> outputs) const {
  return {.flops = 5.0 * static_cast<double>(outputs[Out::y].shape.elements()),
          .bytes = (attrs().residual ? 3.0 : 2.0) * static_cast<double>(outputs[Out::y].bytes())};
}

std::vector<ValueType> BatchNormGradFromSumsOp::infer(std::span<const ValueType> inputs) const {
  const std::string got =
      to_string({"dy", "x", "gamma", "beta", "running_mean", "running_var", "sums"},
                {inputs.begin(), inputs.end()});
  require(inputs.size() == 7, "expected dy, x, four statistics and sums; got {}", got);
  const std::vector<ValueType> norm =
      BatchNormOp({.epsilon = attrs().epsilon, .activation = attrs().activation})
          .infer(inputs.subspan(In::x, 5));
  const ValueType image = norm[BatchNormOp::Out::y];
  require(inputs[In::dy] == image && inputs[In::x] == image &&
              inputs[In::sums] == ValueType{DType::f32, Shape{2, image.shape[-1]}},
          "expected dy and x of one shape and two sums for each channel; got {}", got);
  return {image, inputs[In::gamma], inputs[In::gamma], image};
}

void BatchNormGradFromSumsOp::reference(const ReferenceArgs& args) const {
  ReferenceTensor mean = args.in(In::gamma);
  ReferenceTensor inv_std = args.in(In::gamma);
  ReferenceTensor& y = args.out(Out::y);
  std::vector<ReferenceTensor*> norm{&y, &mean, &inv_std};
  BatchNormFromSumsOp({.epsilon = attrs().epsilon, .momentum = 1, .activation = attrs().activation})
      .reference({args.inputs.subspan(In::x), norm, args.step});
  std::vector<ReferenceTensor*> operands{&args.in(In::dy), &args.in(In::x), &args.in(In::gamma),
                                         &mean, &inv_std};
  if (attrs().activation == Activation::relu) operands.push_back(&y);
  BatchNormGradOp({.activation = attrs().activation})
      .reference({operands, args.outputs.first(3), args.step});
}

/// dy and x are read twice.
Cost BatchNormGradFromSumsOp::cost(std::span<const ValueType> inputs,
                                   std::span<const ValueType> /*outputs*/) const {
  const ValueType& image = inputs[In::x];
  return {.flops = 15.0 * static_cast<double>(image.shape.elements()),
          .bytes = 6.0 * static_cast<double>(image.bytes())};
}

}  // namespace linnet
