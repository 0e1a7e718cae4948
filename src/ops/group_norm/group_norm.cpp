// SPDX-License-Identifier: Apache-2.0
#include "ops/group_norm/group_norm.h"

#include <cmath>

#include "graph/registry.h"

namespace linnet {
namespace {

std::int64_t product(const Shape& shape, std::size_t begin, std::size_t end) {
  std::int64_t product = 1;
  for (std::size_t i = begin; i < end; ++i) product *= shape.dims()[i];
  return product;
}

Shape channel_shape(const GroupNormAttrs& attrs, const Shape& x) {
  return Shape(x.dims().last(static_cast<std::size_t>(attrs.channels)));
}

Shape statistics_shape(const GroupNormAttrs& attrs, const Shape& x) {
  std::vector<std::int64_t> dims(x.dims().begin(), x.dims().begin() + attrs.rows);
  dims.push_back(attrs.groups);
  return Shape(dims);
}

Cost element_cost(double flops, std::span<const ValueType> inputs,
                  std::span<const ValueType> outputs) {
  Cost cost{.flops = flops * static_cast<double>(inputs[kFirst].shape.elements())};
  for (const ValueType& type : inputs) cost.bytes += static_cast<double>(type.bytes());
  for (const ValueType& type : outputs) cost.bytes += static_cast<double>(type.bytes());
  return cost;
}

/// Calls f(row and group, channel, element) for every element.
template <class F>
void for_elements(const GroupNormShape& s, F f) {
  for (std::int64_t i = 0; i < s.rows * s.pixels * s.channels; ++i) {
    const std::int64_t channel = i % s.channels;
    f(i / (s.pixels * s.channels) * s.groups + channel / s.group_channels(), channel, i);
  }
}

}  // namespace

GroupNormShape group_norm_shape(const GroupNormAttrs& attrs, const Shape& x) {
  const auto rank = static_cast<std::int64_t>(x.rank());
  require(attrs.rows >= 1 && attrs.channels >= 1 && attrs.rows <= rank &&
              attrs.channels <= rank - attrs.rows,
          "expected at least {} axes of rows and {} of channels; got x={}", attrs.rows,
          attrs.channels, to_string(x));
  const auto first = static_cast<std::size_t>(attrs.rows);
  const auto last = x.rank() - static_cast<std::size_t>(attrs.channels);
  const GroupNormShape s{.rows = product(x, 0, first),
                         .pixels = product(x, first, last),
                         .channels = product(x, last, x.rank()),
                         .groups = attrs.groups};
  require(s.pixels > 0 && s.channels > 0, "expected rows with elements; got x={}", to_string(x));
  require(s.groups >= 1 && s.channels % s.groups == 0,
          "expected groups that divide {} channels; got {}", s.channels, s.groups);
  return s;
}

std::vector<ValueType> GroupNormOp::infer(std::span<const ValueType> inputs) const {
  const std::string got = to_string({"x", "weight", "bias"}, {inputs.begin(), inputs.end()});
  require(inputs.size() == 3 && inputs[In::x].dtype == DType::f32,
          "expected x, weight and bias of f32; got {}", got);
  require(attrs().epsilon > 0, "expected an epsilon above 0; got {}", attrs().epsilon);
  const Shape& x = inputs[In::x].shape;
  group_norm_shape(attrs(), x);
  const ValueType channels{DType::f32, channel_shape(attrs(), x)};
  require(inputs[In::weight] == channels && inputs[In::bias] == channels,
          "expected a weight and a bias of {}; got {}", to_string(channels.shape), got);
  const ValueType statistics{DType::f32, statistics_shape(attrs(), x)};
  return {inputs[In::x], statistics, statistics};
}

std::vector<Value> GroupNormOp::gradient(const GradientArgs& args) const {
  const Node& node = args.node;
  return args.graph.add(std::make_shared<GroupNormGradOp>(GroupNormGradAttrs{attrs()}),
                        {args.output_gradients[Out::y], node.inputs[In::x], node.inputs[In::weight],
                         node.outputs[Out::mean], node.outputs[Out::inv_std]},
                        node.name);
}

void GroupNormOp::reference(const ReferenceArgs& args) const {
  const GroupNormShape s = group_norm_shape(attrs(), args.in(In::x).shape);
  const auto count = static_cast<double>(s.count());
  ReferenceTensor& mean = args.out(Out::mean);
  ReferenceTensor& inv_std = args.out(Out::inv_std);
  for (double& value : mean.data) value = 0;
  for (double& value : inv_std.data) value = 0;
  for_elements(s, [&](std::int64_t g, std::int64_t /*c*/, std::int64_t i) {
    mean[g] += args.in(In::x)[i] / count;
  });
  for_elements(s, [&](std::int64_t g, std::int64_t /*c*/, std::int64_t i) {
    const double from_mean = args.in(In::x)[i] - mean[g];
    inv_std[g] += from_mean * from_mean / count;
  });
  for (double& value : inv_std.data) value = 1 / std::sqrt(value + attrs().epsilon);
  for_elements(s, [&](std::int64_t g, std::int64_t c, std::int64_t i) {
    args.out(Out::y)[i] =
        (args.in(In::x)[i] - mean[g]) * inv_std[g] * args.in(In::weight)[c] + args.in(In::bias)[c];
  });
}

Cost GroupNormOp::cost(std::span<const ValueType> inputs,
                       std::span<const ValueType> outputs) const {
  return element_cost(7, inputs, outputs);
}

std::vector<ValueType> GroupNormGradOp::infer(std::span<const ValueType> inputs) const {
  const std::string got =
      to_string({"dy", "x", "weight", "mean", "inv_std"}, {inputs.begin(), inputs.end()});
  require(inputs.size() == 5 && inputs[In::dy] == inputs[In::x] &&
              inputs[In::dy].dtype == DType::f32,
          "expected dy and x of one shape, weight, mean and inv_std; got {}", got);
  const Shape& x = inputs[In::x].shape;
  group_norm_shape(attrs().norm, x);
  const ValueType channels{DType::f32, channel_shape(attrs().norm, x)};
  const ValueType statistics{DType::f32, statistics_shape(attrs().norm, x)};
  require(inputs[In::weight] == channels && inputs[In::mean] == statistics &&
              inputs[In::inv_std] == statistics,
          "expected weight={}, mean and inv_std={}; got {}", to_string(channels.shape),
          to_string(statistics.shape), got);
  return {inputs[In::dy], channels, channels};
}

void GroupNormGradOp::reference(const ReferenceArgs& args) const {
  const GroupNormShape s = group_norm_shape(attrs().norm, args.in(In::x).shape);
  const auto count = static_cast<double>(s.count());
  for (std::size_t output : {Out::dweight, Out::dbias}) {
    for (double& sum : args.out(output).data) sum = 0;
  }
  const auto groups = static_cast<std::size_t>(s.rows * s.groups);
  std::vector<double> sums(groups);      // of dy * weight
  std::vector<double> products(groups);  // of dy * weight * x's normalised value
  const auto normalised = [&](std::int64_t g, std::int64_t i) {
    return (args.in(In::x)[i] - args.in(In::mean)[g]) * args.in(In::inv_std)[g];
  };
  for_elements(s, [&](std::int64_t g, std::int64_t c, std::int64_t i) {
    const double dy = args.in(In::dy)[i];
    args.out(Out::dweight)[c] += dy * normalised(g, i);
    args.out(Out::dbias)[c] += dy;
    sums[static_cast<std::size_t>(g)] += dy * args.in(In::weight)[c];
    products[static_cast<std::size_t>(g)] += dy * args.in(In::weight)[c] * normalised(g, i);
  });
  for_elements(s, [&](std::int64_t g, std::int64_t c, std::int64_t i) {
    const auto at = static_cast<std::size_t>(g);
    args.out(Out::dx)[i] =
        args.in(In::inv_std)[g] * (args.in(In::dy)[i] * args.in(In::weight)[c] - sums[at] / count -
                                   normalised(g, i) * products[at] / count);
  });
}

Cost GroupNormGradOp::cost(std::span<const ValueType> inputs,
                           std::span<const ValueType> outputs) const {
  return element_cost(12, inputs, outputs);
}

void register_group_norm(OpRegistry& registry) {
  registry.add<GroupNormOp>();
  registry.add<GroupNormGradOp>();
}

}  // namespace linnet
