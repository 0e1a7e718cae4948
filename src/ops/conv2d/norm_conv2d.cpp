// SPDX-License-Identifier: Apache-2.0
#include "ops/conv2d/norm_conv2d.h"

#include <algorithm>
#include <cmath>

#include "ops/batch_norm/from_sums.h"

namespace linnet {

std::vector<ValueType> NormConv2dOp::infer(std::span<const ValueType> inputs) const {
  const std::string got =
      to_string({"x", "w", "x_sums", "gamma", "beta"}, {inputs.begin(), inputs.end()});
  const std::size_t count = attrs().norm ? 5 : 2;
  require(inputs.size() == count, "expected {} operands; got {}", count, got);
  std::vector<ValueType> outputs = Conv2dOp(attrs().conv.plain()).infer(inputs.first(2));
  const std::int64_t channels = inputs[In::x].shape[-1];
  const auto sums_of = [](std::int64_t c) { return ValueType{DType::f32, Shape{2, c}}; };
  const ValueType vector{DType::f32, Shape{channels}};
  require(!attrs().norm || (inputs[In::x_sums] == sums_of(channels) &&
                            inputs[In::gamma] == vector && inputs[In::beta] == vector),
          "expected two sums, gamma and beta of {} channels; got {}", channels, got);
  require(attrs().activation == Activation::none ||
              (attrs().norm && attrs().activation == Activation::relu),
          "expected the activation none or, after a norm, relu");
  if (attrs().sums) outputs.push_back(sums_of(outputs[Out::y].shape[-1]));
  return outputs;
}

void NormConv2dOp::reference(const ReferenceArgs& args) const {
  ReferenceTensor x = args.in(In::x);
  const std::int64_t channels = x.shape[-1];
  const double rows = static_cast<double>(x.shape.elements() / channels);
  for (std::int64_t i = 0; attrs().norm && i < x.shape.elements(); ++i) {
    const std::int64_t c = i % channels;
    const ChannelMoments moments(args.in(In::x_sums), c, rows);
    const double normal = (x[i] - moments.mean) / std::sqrt(moments.variance + attrs().epsilon);
    x[i] = activate(attrs().activation, normal * args.in(In::gamma)[c] + args.in(In::beta)[c]);
  }
  std::vector<ReferenceTensor*> operands{&x, &args.in(In::w)};
  Conv2dOp(attrs().conv.plain()).reference({operands, args.outputs.first(1), args.step});
  if (!attrs().sums) return;
  const ReferenceTensor& y = args.out(Out::y);
  ReferenceTensor& sums = args.out(Out::sums);
  std::ranges::fill(sums.data, 0.0);
  for (std::int64_t i = 0; i < y.shape.elements(); ++i) {
    sums[i % y.shape[-1]] += y[i];
    sums[y.shape[-1] + i % y.shape[-1]] += y[i] * y[i];
  }
}

Cost NormConv2dOp::cost(std::span<const ValueType> inputs,
                        std::span<const ValueType> outputs) const {
  Cost cost = Conv2dOp(attrs().conv.plain()).cost(inputs.first(2), outputs.first(1));
  const auto each = static_cast<double>(inputs[In::x].shape.elements());
  if (attrs().norm) cost.flops += 5.0 * each;
  if (attrs().sums) cost.flops += 3.0 * static_cast<double>(outputs[Out::y].shape.elements());
  return cost;
}

}  // namespace linnet
