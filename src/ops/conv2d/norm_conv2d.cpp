// SPDX-License-Identifier: Apache-2.0
#include "ops/conv2d/norm_conv2d.h"

#include <algorithm>
#include <cmath>

#include "ops/batch_norm/from_sums.h"
#include "ops/slice/axis.h"

namespace linnet {

std::vector<ValueType> NormConv2dOp::conv_types(std::span<const ValueType> inputs) const {
  std::vector<ValueType> types(inputs.begin(), inputs.begin() + 2);
  Shape& x = types[In::x].shape;
  if (attrs().norm && x.rank() == 4 && inputs[In::gamma].shape.rank() == 1) {
    x = with_dim(x, 3, std::min(x[3], inputs[In::gamma].shape[0]));
  }
  types.push_back(Conv2dOp(attrs().conv.plain()).infer(types).front());
  return types;
}

std::vector<ValueType> NormConv2dOp::infer(std::span<const ValueType> inputs) const {
  const NormConv2dAttrs& a = attrs();
  const std::string got =
      to_string(a.norm ? std::vector<std::string>{"x", "w", "x_sums", "gamma", "beta", "whole",
                                                  "whole_sums"}
                       : std::vector<std::string>{"x", "w", "whole", "whole_sums"},
                {inputs.begin(), inputs.end()});
  const std::size_t count = a.whole_at() + (a.into ? 2 : 0);
  require(inputs.size() == count, "expected {} operands; got {}", count, got);
  const std::vector<ValueType> types = conv_types(inputs);
  const ValueType& conv = types.back();
  const std::int64_t channels = types[In::x].shape[-1];
  const auto sums_of = [](std::int64_t c) { return ValueType{DType::f32, Shape{2, c}}; };
  const ValueType vector{DType::f32, Shape{channels}};
  require(!a.norm || (are_sums(inputs[In::x_sums], channels) && inputs[In::gamma] == vector &&
                      inputs[In::beta] == vector),
          "expected two sums, gamma and beta of {} channels; got {}", channels, got);
  require(a.activation == Activation::none || (a.norm && a.activation == Activation::relu),
          "expected the activation none or, after a norm, relu");
  if (!a.into) return a.sums ? std::vector{conv, sums_of(conv.shape[-1])} : std::vector{conv};
  const ValueType& whole = inputs[a.whole_at()];
  const std::int64_t wide = whole.shape.rank() == 4 ? whole.shape[3] : 0;
  require(a.sums && whole == ValueType{conv.dtype, with_dim(conv.shape, 3, wide)} &&
              inputs[a.whole_sums_at()] == sums_of(wide) && a.begin >= 0 &&
              a.begin + conv.shape[-1] <= wide,
          "expected an image with the channels from {} to {} and two sums for each; got {}",
          a.begin, a.begin + conv.shape[-1], got);
  return {whole};
}

void NormConv2dOp::reference(const ReferenceArgs& args) const {
  const NormConv2dAttrs& a = attrs();
  const ReferenceTensor& from = args.in(In::x);
  const std::int64_t channels = a.norm ? args.in(In::gamma).shape[-1] : from.shape[-1];
  ReferenceTensor x{with_dim(from.shape, 3, channels), {}};
  const double rows = static_cast<double>(from.shape.elements() / from.shape[-1]);
  for (std::int64_t i = 0; i < x.shape.elements(); ++i) {
    const std::int64_t c = i % channels;
    double value = from[i / channels * from.shape[-1] + c];
    if (a.norm) {
      const ChannelMoments moments(args.in(In::x_sums), c, rows);
      value = (value - moments.mean) / std::sqrt(moments.variance + a.epsilon);
      value = activate(a.activation, value * args.in(In::gamma)[c] + args.in(In::beta)[c]);
    }
    x.data.push_back(value);
  }
  ReferenceTensor& result = args.out(Out::y);
  const std::int64_t filters = args.in(In::w).shape[0];
  ReferenceTensor y{with_dim(result.shape, 3, filters), {}};
  y.data.resize(static_cast<std::size_t>(y.shape.elements()));
  std::vector<ReferenceTensor*> operands{&x, &args.in(In::w)};
  std::vector<ReferenceTensor*> results{&y};
  Conv2dOp(a.conv.plain()).reference({operands, results, args.step});
  result.data = a.into ? args.in(a.whole_at()).data : y.data;
  const std::int64_t wide = result.shape[-1];
  for (std::int64_t i = 0; a.into && i < y.shape.elements(); ++i) {
    result[i / filters * wide + a.begin + i % filters] = y[i];
  }
  if (!a.sums) return;
  ReferenceTensor& sums = a.into ? args.in(a.whole_sums_at()) : args.out(Out::sums);
  for (std::int64_t c = 0; c < filters; ++c) {
    double& sum = sums[a.begin + c] = 0;
    double& squares = sums[wide + a.begin + c] = 0;
    for (std::int64_t i = c; i < y.shape.elements(); i += filters) {
      sum += y[i];
      squares += y[i] * y[i];
    }
  }
}

Cost NormConv2dOp::cost(std::span<const ValueType> inputs,
                        std::span<const ValueType> /*outputs*/) const {
  const std::vector<ValueType> types = conv_types(inputs);
  Cost cost =
      Conv2dOp(attrs().conv.plain()).cost(std::span(types).first(2), std::span(types).subspan(2));
  if (attrs().norm) cost.flops += 5.0 * static_cast<double>(types[In::x].shape.elements());
  if (attrs().sums) cost.flops += 3.0 * static_cast<double>(types.back().shape.elements());
  return cost;
}

std::vector<ValueType> NormConv2dGradInputOp::infer(std::span<const ValueType> inputs) const {
  const std::string got =
      to_string({"dz", "w", "x", "x_sums", "gamma", "beta"}, {inputs.begin(), inputs.end()});
  require(inputs.size() == 6, "expected six operands; got {}", got);
  const ValueType dy = Conv2dGradInputOp(attrs().conv).infer(inputs.first(2)).front();
  const std::int64_t c = dy.shape[-1];
  const ValueType& image = inputs[In::x];
  require(image.shape.rank() == 4 && image.shape[3] >= c &&
              ValueType{image.dtype, with_dim(image.shape, 3, c)} == dy &&
              are_sums(inputs[In::x_sums], c) && inputs[In::gamma].shape == Shape{c} &&
              inputs[In::beta].shape == Shape{c},
          "expected x of {}, two sums, gamma and beta; got {}", to_string(dy), got);
  return {dy, {DType::f32, Shape{2, c}}};
}

void NormConv2dGradInputOp::reference(const ReferenceArgs& args) const {
  Conv2dGradInputOp(attrs().conv)
      .reference({args.inputs.first(2), args.outputs.first(1), args.step});
  ReferenceTensor& dy = args.out(Out::dy);
  ReferenceTensor& sums = args.out(Out::sums);
  const ReferenceTensor& from = args.in(In::x);
  const std::int64_t channels = dy.shape[-1];
  const double rows = static_cast<double>(dy.shape.elements() / channels);
  std::ranges::fill(sums.data, 0.0);
  for (std::int64_t i = 0; i < dy.shape.elements(); ++i) {
    const std::int64_t c = i % channels;
    const ChannelMoments moments(args.in(In::x_sums), c, rows);
    const double normal = (from[i / channels * from.shape[-1] + c] - moments.mean) /
                          std::sqrt(moments.variance + attrs().epsilon);
    const bool passes = normal * args.in(In::gamma)[c] + args.in(In::beta)[c] > 0;
    if (attrs().activation == Activation::relu && !passes) dy[i] = 0;
    sums[c] += dy[i];
    sums[channels + c] += dy[i] * normal;
  }
}

Cost NormConv2dGradInputOp::cost(std::span<const ValueType> inputs,
                                 std::span<const ValueType> outputs) const {
  Cost cost = Conv2dGradInputOp(attrs().conv).cost(inputs.first(2), outputs.first(1));
  cost.flops += 10.0 * static_cast<double>(outputs[Out::dy].shape.elements());
  cost.bytes += static_cast<double>(outputs[Out::dy].bytes());
  return cost;
}

}  // namespace linnet
