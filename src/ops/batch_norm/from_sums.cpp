// SPDX-License-Identifier: Apache-2.0
#include "ops/batch_norm/from_sums.h"

#include <algorithm>
#include <cmath>

#include "ops/slice/axis.h"

namespace linnet {
namespace {

/// Returns the first channels of a tensor.
ReferenceTensor narrowed(const ReferenceTensor& wide, std::int64_t channels) {
  const int last = static_cast<int>(wide.shape.rank()) - 1;
  ReferenceTensor narrow{with_dim(wide.shape, last, channels), {}};
  for (std::int64_t i = 0; i < narrow.shape.elements(); ++i) {
    narrow.data.push_back(wide[i / channels * wide.shape[-1] + i % channels]);
  }
  return narrow;
}

double rows_of(const Shape& shape) {
  return static_cast<double>(shape.elements() / std::max<std::int64_t>(shape[-1], 1));
}

}  // namespace

ChannelMoments::ChannelMoments(const ReferenceTensor& sums, std::int64_t channel, double rows)
    : mean(sums[channel] / rows),
      variance(std::max(sums[sums.shape[-1] + channel] / rows - mean * mean, 0.0)) {}

bool are_sums(const ValueType& type, std::int64_t channels) {
  return type.dtype == DType::f32 && type.shape.rank() == 2 && type.shape[0] == 2 &&
         type.shape[1] >= channels;
}

std::vector<ValueType> WidenWithSumsOp::infer(std::span<const ValueType> inputs) const {
  const ValueType x = inputs.size() == 1 ? inputs[In::x] : ValueType{};
  require(x.dtype == DType::f32 && x.shape.rank() > 1 && x.shape[-1] <= attrs().channels,
          "expected f32 of at most {} channels; got {}", attrs().channels,
          to_string({"x"}, {inputs.begin(), inputs.end()}));
  const int last = static_cast<int>(x.shape.rank()) - 1;
  return {{DType::f32, with_dim(x.shape, last, attrs().channels)},
          {DType::f32, Shape{2, attrs().channels}}};
}

void WidenWithSumsOp::reference(const ReferenceArgs& args) const {
  const ReferenceTensor& x = args.in(In::x);
  ReferenceTensor& wide = args.out(Out::wide);
  ReferenceTensor& sums = args.out(Out::sums);
  std::ranges::fill(wide.data, 0.0);
  std::ranges::fill(sums.data, 0.0);
  for (std::int64_t i = 0; i < x.shape.elements(); ++i) {
    const std::int64_t c = i % x.shape[-1];
    wide[i / x.shape[-1] * attrs().channels + c] = x[i];
    sums[c] += x[i];
    sums[attrs().channels + c] += x[i] * x[i];
  }
}

Cost WidenWithSumsOp::cost(std::span<const ValueType> inputs,
                           std::span<const ValueType> outputs) const {
  return {.flops = 3.0 * static_cast<double>(inputs[In::x].shape.elements()),
          .bytes = static_cast<double>(inputs[In::x].bytes() + outputs[Out::wide].bytes())};
}

std::vector<ValueType> BatchNormFromSumsOp::infer(std::span<const ValueType> inputs) const {
  require(!inputs.empty(), "expected a batch norm's operands and sums; got none");
  const std::vector<ValueType> outputs =
      BatchNormOp(attrs()).infer(inputs.first(inputs.size() - 1));
  const ValueType& y = outputs[Out::y];
  require(are_sums(inputs.back(), y.shape[-1]),
          "expected two sums for each of {} channels; got x={}, {}", y.shape[-1],
          to_string(inputs[In::x]), to_string(inputs.back()));
  return outputs;
}

void BatchNormFromSumsOp::reference(const ReferenceArgs& args) const {
  const double rows = rows_of(args.out(Out::y).shape);
  const ReferenceTensor& sums = *args.inputs.back();
  const double m = attrs().momentum;
  for (std::int64_t c = 0; c < args.out(Out::y).shape[-1]; ++c) {
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
  require(inputs.size() == attrs().whole_at() + (attrs().into ? 1 : 0),
          "expected dy, x, four statistics, sums, those of dy and a whole; got {}", got);
  const std::vector<ValueType> norm =
      BatchNormOp({.epsilon = attrs().epsilon, .activation = attrs().activation})
          .infer(inputs.subspan(In::x, 5));
  const ValueType image = norm[BatchNormOp::Out::y];
  require(inputs[In::dy] == image && are_sums(inputs[In::sums], image.shape[-1]),
          "expected dy and x of one shape and two sums for each channel; got {}", got);
  require(!attrs().summed ||
              inputs[In::dy_sums] == ValueType{DType::f32, Shape{2, image.shape[-1]}},
          "expected two sums of dy for each channel; got {}", got);
  std::vector<ValueType> operands{inputs[In::dy], inputs[In::x], inputs[In::gamma],
                                  inputs[In::gamma], inputs[In::gamma]};
  if (attrs().activation == Activation::relu) operands.push_back(image);
  if (attrs().into) operands.push_back(inputs[attrs().whole_at()]);
  std::vector<ValueType> outputs = BatchNormGradJoinedOp(attrs().joined()).infer(operands);
  outputs.insert(outputs.begin() + Out::y, image);
  return outputs;
}

void BatchNormGradFromSumsOp::reference(const ReferenceArgs& args) const {
  ReferenceTensor mean = args.in(In::gamma);
  ReferenceTensor inv_std = args.in(In::gamma);
  ReferenceTensor& y = args.out(Out::y);
  ReferenceTensor x = narrowed(args.in(In::x), y.shape[-1]);
  std::vector<ReferenceTensor*> norm{&y, &mean, &inv_std};
  std::vector<ReferenceTensor*> operands(args.inputs.begin() + In::x,
                                         args.inputs.begin() + In::dy_sums);
  operands.front() = &x;
  BatchNormFromSumsOp({.epsilon = attrs().epsilon, .momentum = 1, .activation = attrs().activation})
      .reference({operands, norm, args.step});
  ReferenceTensor dx = args.in(In::dy);
  if (attrs().summed) {
    const std::int64_t c = y.shape[-1];
    args.out(Out::dbeta).data = {args.in(In::dy_sums).data.begin(),
                                 args.in(In::dy_sums).data.begin() + c};
    args.out(Out::dgamma).data = {args.in(In::dy_sums).data.begin() + c,
                                  args.in(In::dy_sums).data.end()};
    for (std::int64_t i = 0; i < dx.shape.elements(); ++i) {
      const std::int64_t k = i % c;
      const double normal = (x[i] - mean[k]) * inv_std[k];
      const double part = args.out(Out::dbeta)[k] + normal * args.out(Out::dgamma)[k];
      dx[i] = args.in(In::gamma)[k] * inv_std[k] * (dx[i] - part / rows_of(dx.shape));
    }
  } else {
    operands = {&args.in(In::dy), &x, &args.in(In::gamma), &mean, &inv_std};
    if (attrs().activation == Activation::relu) operands.push_back(&y);
    std::vector<ReferenceTensor*> outputs{&dx, &args.out(Out::dgamma), &args.out(Out::dbeta)};
    BatchNormGradOp({.activation = attrs().activation}).reference({operands, outputs, args.step});
  }
  place_gradient(dx, attrs().into ? &args.in(attrs().whole_at()) : nullptr, args.out(Out::dx),
                 attrs().piece > 0 ? &args.out(Out::piece) : nullptr);
}

/// dy and x are read twice, or once.
Cost BatchNormGradFromSumsOp::cost(std::span<const ValueType> inputs,
                                   std::span<const ValueType> /*outputs*/) const {
  const ValueType& image = inputs[In::dy];
  return {.flops = 15.0 * static_cast<double>(image.shape.elements()),
          .bytes = ((attrs().into ? 7.0 : 6.0) - (attrs().summed ? 2.0 : 0.0)) *
                   static_cast<double>(image.bytes())};
}

}  // namespace linnet
