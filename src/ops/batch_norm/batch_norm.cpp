// SPDX-License-Identifier: Apache-2.0
#include "ops/batch_norm/batch_norm.h"

#include <algorithm>
#include <cmath>

#include "core/dims.h"
#include "graph/registry.h"
#include "ops/arithmetic/arithmetic.h"
#include "ops/batch_norm/joined.h"
#include "ops/batch_norm/statistics.h"
#include "ops/unary/unary.h"

namespace linnet {
namespace {

void require_fusable(Activation activation) {
  require(activation == Activation::none || activation == Activation::relu,
          "expected the activation none or relu; got {}",
          enum_names(activation)[static_cast<std::size_t>(activation)]);
}

/// Which operands may have more channels than count.
enum class Width : std::uint8_t { equal, wider };

/// Returns the type of the rows' first channels.
ValueType narrowed(const ValueType& x, std::int64_t channels) {
  std::vector<std::int64_t> dims = dims_of(x.shape);
  dims.back() = channels;
  return {x.dtype, Shape(dims)};
}

std::vector<ValueType> infer_norm(const BatchNormAttrs& attrs, std::span<const ValueType> inputs,
                                  Width width) {
  using In = BatchNormOp::In;
  const std::string got =
      to_string({"x", "gamma", "beta", "running_mean", "running_var", "residual"},
                {inputs.begin(), inputs.end()});
  require(inputs.size() == (attrs.residual ? 6U : 5U) && inputs[In::x].dtype == DType::f32 &&
              inputs[In::x].shape.rank() >= 2,
          "expected x (..., C) and four statistics (C){}; got {}",
          attrs.residual ? " and a residual" : "", got);
  std::int64_t channels = inputs[In::x].shape[-1];
  const Shape& gamma = inputs[In::gamma].shape;
  const std::span<const ValueType> statistics = inputs.subspan(In::gamma, 4);
  const bool agree = std::count(statistics.begin(), statistics.end(), statistics[0]) == 4;
  if (width == Width::wider && agree && gamma.rank() == 1) channels = std::min(channels, gamma[0]);
  for (const ValueType& statistic : statistics) {
    require(statistic == ValueType{DType::f32, Shape{channels}},
            "expected statistics of {} channels; got {}", channels, got);
  }
  const ValueType y = narrowed(inputs[In::x], channels);
  require(!attrs.residual || inputs[In::residual] == y, "expected a residual of x's shape; got {}",
          got);
  require_fusable(attrs.activation);
  require(attrs.epsilon > 0 && attrs.momentum >= 0 && attrs.momentum <= 1,
          "expected epsilon > 0 and momentum in [0, 1]; got {} and {}", attrs.epsilon,
          attrs.momentum);
  return {y};
}

/// Returns where element i of rows of `channels` lies in x, whose rows may be wider.
std::int64_t place_in(const ReferenceTensor& x, std::int64_t i, std::int64_t channels) {
  return i / channels * x.shape[-1] + i % channels;
}

/// Sums f(element, channel) over the rows, by channel.
template <class F>
std::vector<double> sum_rows(const Shape& x, F f) {
  const std::int64_t elements = x.elements();
  const std::int64_t channels = x[-1];
  std::vector<double> sums(static_cast<std::size_t>(channels), 0.0);
  for (std::int64_t i = 0; i < elements; ++i) {
    sums[static_cast<std::size_t>(i % channels)] += f(i, i % channels);
  }
  return sums;
}

/// What follows the norm of element i.
double finish(const BatchNormAttrs& attrs, const ReferenceArgs& args, std::int64_t i, double norm) {
  return activate(attrs.activation,
                  attrs.residual ? norm + args.in(BatchNormOp::In::residual)[i] : norm);
}

}  // namespace

std::vector<ValueType> BatchNormOp::infer(std::span<const ValueType> inputs) const {
  const ValueType y = infer_norm(attrs(), inputs, Width::wider)[0];
  return {y, inputs[In::gamma], inputs[In::gamma]};
}

std::vector<Value> BatchNormOp::gradient(const GradientArgs& args) const {
  const Node& node = args.node;
  const Value dy = args.output_gradients[Out::y];
  const bool masked = attrs().activation == Activation::relu;
  const bool residual = attrs().residual && args.needed[In::residual];
  std::vector<Value> operands{dy, node.inputs[In::x], node.inputs[In::gamma],
                              node.outputs[Out::mean], node.outputs[Out::inv_std]};
  if (masked) operands.push_back(node.outputs[Out::y]);
  const BatchNormGradAttrs grad{.residual = residual && masked,
                                .activation = attrs().activation,
                                .sync = attrs().sync};
  const std::vector<Value> made =
      args.graph.add(std::make_shared<BatchNormGradOp>(grad), std::move(operands), node.name);
  std::vector<Value> gradients(node.inputs.size());
  std::copy_n(made.begin(), 3, gradients.begin());
  if (residual) gradients[In::residual] = masked ? made[BatchNormGradOp::Out::dresidual] : dy;
  return gradients;
}

void BatchNormOp::reference(const ReferenceArgs& args) const {
  const ReferenceTensor& from = args.in(In::x);
  const Shape& shape = args.out(Out::y).shape;
  const std::int64_t channels = shape[-1];
  const std::int64_t elements = shape.elements();
  const auto x = [&](std::int64_t i) { return from[place_in(from, i, channels)]; };
  const std::int64_t rows = channels > 0 ? elements / channels : 0;
  const auto count = static_cast<double>(std::max<std::int64_t>(rows, 1));
  const std::vector<double> sums =
      sum_rows(shape, [&](std::int64_t i, std::int64_t) { return x(i); });
  for (std::int64_t c = 0; c < channels; ++c) {
    args.out(Out::mean)[c] = sums[static_cast<std::size_t>(c)] / count;
  }
  const std::vector<double> squares = sum_rows(shape, [&](std::int64_t i, std::int64_t c) {
    const double d = x(i) - args.out(Out::mean)[c];
    return d * d;
  });
  for (std::int64_t c = 0; c < channels; ++c) {
    const double sum = squares[static_cast<std::size_t>(c)];
    args.out(Out::inv_std)[c] = 1 / std::sqrt(sum / count + attrs().epsilon);
    if (rows == 0) continue;
    const double m = attrs().momentum;
    args.in(In::running_mean)[c] =
        (1 - m) * args.in(In::running_mean)[c] + m * args.out(Out::mean)[c];
    args.in(In::running_var)[c] =
        (1 - m) * args.in(In::running_var)[c] + m * sum / std::max(count - 1, 1.0);
  }
  for (std::int64_t i = 0; i < elements; ++i) {
    const std::int64_t c = i % channels;
    const double norm =
        (x(i) - args.out(Out::mean)[c]) * args.out(Out::inv_std)[c] * args.in(In::gamma)[c] +
        args.in(In::beta)[c];
    args.out(Out::y)[i] = finish(attrs(), args, i, norm);
  }
}

Cost BatchNormOp::cost(std::span<const ValueType> /*inputs*/,
                       std::span<const ValueType> outputs) const {
  const double added =
      (attrs().residual ? 1 : 0) + (attrs().activation == Activation::none ? 0 : 1);
  return {.flops = (8.0 + added) * static_cast<double>(outputs[Out::y].shape.elements()),
          .bytes = (attrs().residual ? 4.0 : 3.0) * static_cast<double>(outputs[Out::y].bytes())};
}

std::vector<int> BatchNormOp::in_place() const {
  return attrs().residual ? std::vector<int>{In::residual} : std::vector<int>{};
}

std::shared_ptr<const Op> BatchNormOp::at_inference(std::shared_ptr<const Op> /*self*/) const {
  return std::make_shared<BatchNormInferenceOp>(attrs());
}

std::vector<ValueType> BatchNormAgainOp::infer(std::span<const ValueType> inputs) const {
  return infer_norm({.residual = attrs().residual, .activation = attrs().activation}, inputs,
                    Width::wider);
}

void BatchNormAgainOp::reference(const ReferenceArgs& args) const {
  const BatchNormAttrs norm{.residual = attrs().residual, .activation = attrs().activation};
  const ReferenceTensor& x = args.in(In::x);
  const std::int64_t channels = args.out(Out::y).shape[-1];
  for (std::int64_t i = 0; i < args.out(Out::y).shape.elements(); ++i) {
    const std::int64_t c = i % channels;
    const double scale = args.in(In::inv_std)[c] * args.in(In::gamma)[c];
    const double value =
        (x[place_in(x, i, channels)] - args.in(In::mean)[c]) * scale + args.in(In::beta)[c];
    args.out(Out::y)[i] = finish(norm, args, i, value);
  }
}

Cost BatchNormAgainOp::cost(std::span<const ValueType> /*inputs*/,
                            std::span<const ValueType> outputs) const {
  return {.flops = 4.0 * static_cast<double>(outputs[Out::y].shape.elements()),
          .bytes = (attrs().residual ? 3.0 : 2.0) * static_cast<double>(outputs[Out::y].bytes())};
}

std::vector<int> BatchNormAgainOp::in_place() const {
  return attrs().residual ? std::vector<int>{In::residual} : std::vector<int>{};
}

std::vector<ValueType> BatchNormInferenceOp::infer(std::span<const ValueType> inputs) const {
  return infer_norm(attrs(), inputs, Width::equal);
}

std::vector<Value> BatchNormInferenceOp::gradient(const GradientArgs& args) const {
  const Node& node = args.node;
  for (std::size_t i = 1; i < 5; ++i) {
    require(!args.needed[i],
            "expected gradients by x and the residual alone; got one of operand {}", i);
  }
  std::vector<Value> gradients(node.inputs.size());
  const Value dz =
      activation_gradient_from_output(args.graph, attrs().activation, args.output_gradients[Out::y],
                                      node.outputs[Out::y], node.name);
  if (args.needed[In::x]) {
    const auto emit = [&](auto op, std::vector<Value> operands) {
      return args.graph.emit(std::move(op), std::move(operands), node.name);
    };
    const Value variance =
        emit(ScaleOp({.alpha = 1, .beta = attrs().epsilon}), {node.inputs[In::running_var]});
    const Value inv_std = emit(UnaryOp({.kind = Unary::rsqrt}), {variance});
    const ArithmeticOp multiply({.kind = Arithmetic::multiply});
    gradients[In::x] = emit(multiply, {dz, emit(multiply, {inv_std, node.inputs[In::gamma]})});
  }
  if (attrs().residual && args.needed[In::residual]) gradients[In::residual] = dz;
  return gradients;
}

void BatchNormInferenceOp::reference(const ReferenceArgs& args) const {
  const std::int64_t channels = args.in(In::x).shape[-1];
  const std::int64_t elements = args.in(In::x).shape.elements();
  for (std::int64_t i = 0; i < elements; ++i) {
    const std::int64_t c = i % channels;
    const double inv_std = 1 / std::sqrt(args.in(In::running_var)[c] + attrs().epsilon);
    const double norm =
        (args.in(In::x)[i] - args.in(In::running_mean)[c]) * inv_std * args.in(In::gamma)[c] +
        args.in(In::beta)[c];
    args.out(Out::y)[i] = finish(attrs(), args, i, norm);
  }
}

std::vector<int> BatchNormInferenceOp::in_place() const {
  return attrs().residual ? std::vector<int>{In::x, In::residual} : std::vector<int>{In::x};
}

std::vector<ValueType> BatchNormGradOp::infer(std::span<const ValueType> inputs) const {
  const bool residual = attrs().residual;
  const bool from_input = attrs().from_input;
  const Activation activation = attrs().activation;
  const bool masked = activation == Activation::relu;
  require_fusable(activation);
  require(masked || !residual, "expected a residual's gradient after a relu alone");
  require(!from_input || (masked && !residual),
          "expected a relu without residual to follow from x");
  const bool fits = inputs.size() == (masked ? 6U : 5U) && inputs[In::dy].shape.rank() >= 2 &&
                    inputs[In::x].shape.rank() >= 2 &&
                    inputs[In::dy].shape[-1] <= inputs[In::x].shape[-1] &&
                    inputs[In::dy] == narrowed(inputs[In::x], inputs[In::dy].shape[-1]);
  const char* last = from_input ? "beta" : "y";
  require(fits && (!masked || inputs[In::y] == inputs[from_input ? In::gamma : In::dy]),
          "expected dy, x, gamma, mean{} inv_std{}{}; got {}", masked ? "," : " and",
          masked ? " and " : "", masked ? last : "",
          to_string({"dy", "x", "gamma", "mean", "inv_std", last}, {inputs.begin(), inputs.end()}));
  for (const ValueType& statistic : inputs.subspan(2, 3)) {
    require(statistic == ValueType{DType::f32, Shape{inputs[In::dy].shape[-1]}},
            "expected statistics of {} channels; got {}", inputs[In::dy].shape[-1],
            to_string(statistic));
  }
  require_f32(inputs);
  std::vector<ValueType> outputs{inputs[In::dy], inputs[In::gamma], inputs[In::gamma]};
  if (residual) outputs.push_back(inputs[In::dy]);
  return outputs;
}

void BatchNormGradOp::reference(const ReferenceArgs& args) const {
  const Shape& shape = args.in(In::dy).shape;
  const std::int64_t channels = shape[-1];
  const std::int64_t elements = shape.elements();
  const std::int64_t rows = channels > 0 ? elements / channels : 0;
  const auto normal = [&](std::int64_t i, std::int64_t c) {
    const ReferenceTensor& x = args.in(In::x);
    return (x[place_in(x, i, channels)] - args.in(In::mean)[c]) * args.in(In::inv_std)[c];
  };
  const auto y = [&](std::int64_t i) {
    if (!attrs().from_input) return args.in(In::y)[i];
    const std::int64_t c = i % channels;
    return normal(i, c) * args.in(In::gamma)[c] + args.in(In::beta)[c];
  };
  const auto dz = [&](std::int64_t i) {
    return attrs().activation == Activation::relu && !(y(i) > 0) ? 0 : args.in(In::dy)[i];
  };
  args.out(Out::dgamma).data =
      sum_rows(shape, [&](std::int64_t i, std::int64_t c) { return dz(i) * normal(i, c); });
  args.out(Out::dbeta).data = sum_rows(shape, [&](std::int64_t i, std::int64_t) { return dz(i); });
  for (std::int64_t i = 0; i < elements; ++i) {
    const std::int64_t c = i % channels;
    const double centred =
        dz(i) - (args.out(Out::dbeta)[c] + normal(i, c) * args.out(Out::dgamma)[c]) /
                    static_cast<double>(rows);
    args.out(Out::dx)[i] = args.in(In::gamma)[c] * args.in(In::inv_std)[c] * centred;
    if (attrs().residual) args.out(Out::dresidual)[i] = dz(i);
  }
}

Cost BatchNormGradOp::cost(std::span<const ValueType> inputs,
                           std::span<const ValueType> outputs) const {
  const double each = attrs().activation == Activation::none ? 11.0 : 12.0;
  Cost cost{.flops = each * static_cast<double>(inputs[In::dy].shape.elements()),
            .bytes = 3.0 * static_cast<double>(inputs[In::dy].bytes())};  // dy and x are read twice
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (i != In::x) cost.bytes += static_cast<double>(inputs[i].bytes());
  }
  for (const ValueType& type : outputs) cost.bytes += static_cast<double>(type.bytes());
  return cost;
}

/// Each element of dy, x and y is read for the last time right before the same one of dx is
/// written: y not at all by then where the masked dy is kept.
std::vector<int> BatchNormGradOp::in_place() const {
  const bool has_y = attrs().activation == Activation::relu && !attrs().from_input;
  return has_y ? std::vector<int>{In::dy, In::x, In::y} : std::vector<int>{In::dy, In::x};
}

void register_batch_norm(OpRegistry& registry) {
  registry.add<BatchNormOp>();
  registry.add<BatchNormStatisticsOp>();
  registry.add<BatchNormAgainOp>();
  registry.add<BatchNormInferenceOp>();
  registry.add<BatchNormGradOp>();
  registry.add<BatchNormJoinedOp>();
  registry.add<BatchNormGradJoinedOp>();
}

}  // namespace linnet
