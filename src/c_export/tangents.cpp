// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "base/check.h"
#include "c_export/operator_file.h"
#include "c_export/writers.h"
#include "ops/activation/activation.h"
#include "ops/arithmetic/arithmetic.h"
#include "ops/batch_norm/batch_norm.h"
#include "ops/bias_add/bias_add.h"
#include "ops/bin_mean2d/bin_mean2d.h"
#include "ops/channel_scale/channel_scale.h"
#include "ops/concat/concat.h"
#include "ops/conv2d/conv2d.h"
#include "ops/dense/dense.h"
#include "ops/expand/expand.h"
#include "ops/global_pool/global_pool.h"
#include "ops/group_norm/group_norm.h"
#include "ops/pool2d/pool2d.h"
#include "ops/reduce/reduce.h"
#include "ops/reshape/reshape.h"
#include "ops/slice/slice.h"
#include "ops/softmax/softmax.h"
#include "ops/unary/unary.h"

namespace linnet {
namespace {

std::int64_t size_of(const OperatorFile& file, Value value) {
  return file.graph().shape(value).elements();
}

[[noreturn]] void refuse_derivative(const OperatorFile& file, const Node& node,
                                    std::string_view what) {
  fail("[{} '{}'] has no derivative in {}: {}", node.op->name(), node.name, file.language(), what);
}

/// A derivative that needs the operands comes first: the result may take over their memory.
void before(OperatorFile& file, const Node& node, const std::string& slope) {
  const Value x = node.inputs[0];
  file.each_tangent(size_of(file, x), {{.value = x}, {.name = 't', .value = x, .is_tangent = true}},
                    node.outputs[0], fmt::format("t * ({})", slope));
  write_operator(file, node);
}

/// One that follows from the result comes after it.
void after(OperatorFile& file, const Node& node, const std::string& slope) {
  const Value y = node.outputs[0];
  write_operator(file, node);
  file.each_tangent(size_of(file, y),
                    {{.name = 'y', .value = y},
                     {.name = 't', .value = node.inputs[0], .is_tangent = true}},
                    y, fmt::format("t * ({})", slope));
}

void flat(OperatorFile& file, const Node& node) {
  write_operator(file, node);
  file.each_tangent(size_of(file, node.outputs[0]), {}, node.outputs[0], "0.0f");
}

void linear(OperatorFile& file, const Node& node) {
  for (std::size_t i = 1; i < node.inputs.size(); ++i) {
    if (file.has_tangent(node.inputs[i])) refuse_derivative(file, node, "its weights are computed");
  }
  file.write_tangents(node);
  write_operator(file, node);
}

void of_concat(OperatorFile& file, const Node& node) {
  for (const Value input : node.inputs) {
    if (!file.has_tangent(input))
      refuse_derivative(file, node, "one of its operands is a constant");
  }
  file.write_tangents(node);
  write_operator(file, node);
}

void of_reduce(OperatorFile& file, const Node& node) {
  const Reduction kind = static_cast<const ReduceOp&>(*node.op).attrs().kind;
  if (kind != Reduction::sum && kind != Reduction::mean) {
    refuse_derivative(file, node, "expected a sum or a mean");
  }
  linear(file, node);
}

/// Needs the operand, too: the result may take over its memory.
void of_group_norm(OperatorFile& file, const Node& node) {
  const GroupNormAttrs& a = static_cast<const GroupNormOp&>(*node.op).attrs();
  const Value x = node.inputs[GroupNormOp::x];
  const GroupNormShape shape = group_norm_shape(a, file.graph().shape(x));
  for (const Value weight : {node.inputs[GroupNormOp::weight], node.inputs[GroupNormOp::bias]}) {
    if (file.has_tangent(weight)) refuse_derivative(file, node, "its weights are computed");
  }
  file.call("group_norm_tangent",
            fmt::format("{}, {}, {}, {}, {}, {}, {}, {}, {}f", file.at(x), file.tangent_at(x),
                        file.at(node.inputs[GroupNormOp::weight]),
                        file.tangent_at(node.outputs[GroupNormOp::y]), shape.rows, shape.pixels,
                        shape.channels, shape.groups, a.epsilon));
  write_operator(file, node);
}

void of_softmax(OperatorFile& file, const Node& node) {
  write_operator(file, node);
  const Value y = node.outputs[0];
  const std::int64_t width = file.graph().shape(y)[-1];
  file.call(node.op->name() == SoftmaxOp::kName ? "softmax_tangent" : "log_softmax_tangent",
            fmt::format("{}, {}, {}, {}, {}", file.at(y), file.tangent_at(node.inputs[0]),
                        file.tangent_at(y), size_of(file, y) / width, width));
}

void of_activation(OperatorFile& file, const Node& node) {
  const Activation kind = static_cast<const ActivationOp&>(*node.op).attrs().kind;
  if (kind == Activation::none) return linear(file, node);
  (slope_from_output(kind) ? after : before)(file, node, activation_slope(kind));
}

}  // namespace

std::string activation_slope(Activation kind) {
  switch (kind) {
    case Activation::none: break;
    case Activation::relu: return "y > 0.0f ? 1.0f : 0.0f";
    case Activation::tanh: return "1.0f - y * y";
    case Activation::sigmoid: return "y * (1.0f - y)";
    case Activation::gelu:
      return "0.5f * (1.0f + erff(x * 0.70710678118654752f)) + "
             "x * 0.39894228040143268f * expf(-0.5f * x * x)";
  }
  return "1.0f";
}

std::string unary_slope(OperatorFile& file, const UnaryAttrs& a) {
  const std::string alpha = c_number(a.alpha);
  switch (a.kind) {
    case Unary::exp:
    case Unary::expm1: return "expf(x)";
    case Unary::log: return file.quotient("1.0f", "x");
    case Unary::log1p: return file.quotient("1.0f", "(1.0f + x)");
    case Unary::sqrt: return file.quotient("0.5f", "sqrtf(x)");
    case Unary::rsqrt: return file.quotient("-0.5f", "(x * sqrtf(x))");
    case Unary::square: return "2.0f * x";
    case Unary::abs: return "x > 0.0f ? 1.0f : x < 0.0f ? -1.0f : 0.0f";
    case Unary::sin: return "cosf(x)";
    case Unary::cos: return "-sinf(x)";
    case Unary::reciprocal: return file.quotient("-1.0f", "(x * x)");
    case Unary::pow:
      if (a.alpha == 0) return "";
      return fmt::format("{} * powf(x, {})", alpha, c_number(a.alpha - 1));
    case Unary::clip:
      return fmt::format("x <= {} || x >= {} ? 0.0f : 1.0f", alpha, c_number(a.beta));
    case Unary::leaky_relu: return fmt::format("x > 0.0f ? 1.0f : {}", alpha);
    case Unary::elu: return fmt::format("x > 0.0f ? 1.0f : {} * expf(x)", alpha);
    case Unary::selu:
      return fmt::format("{} * (x > 0.0f ? 1.0f : {} * expf(x))", c_number(kSeluScale),
                         c_number(kSeluAlpha));
    case Unary::silu: return "(1.0f + x / (1.0f + expf(x))) / (1.0f + expf(-x))";
    case Unary::softplus: return fmt::format("1.0f / (1.0f + expf(-{} * x))", alpha);
    case Unary::hard_sigmoid: return "x > -3.0f && x < 3.0f ? 1.0f / 6.0f : 0.0f";
    case Unary::hard_swish: return "x < -3.0f ? 0.0f : x < 3.0f ? x / 3.0f + 0.5f : 1.0f";
    case Unary::gelu_tanh: file.need("gelu_tanh_slope"); return "gelu_tanh_slope(x)";
    case Unary::erf: return "1.1283791670955126f * expf(-x * x)";
    case Unary::sign:
    case Unary::floor:
    case Unary::ceil:
    case Unary::round: return "";
  }
  return "";
}

namespace {

void of_unary(OperatorFile& file, const Node& node) {
  const std::string slope = unary_slope(file, static_cast<const UnaryOp&>(*node.op).attrs());
  slope.empty() ? flat(file, node) : before(file, node, slope);
}

void of_arithmetic(OperatorFile& file, const Node& node) {
  const auto larger = [](std::string_view a, std::string_view b) {
    return fmt::format("({0} > {1} ? 1.0f : {0} == {1} ? 0.5f : 0.0f)", a, b);
  };
  // Derivatives by a and by b, where these have tangents s and t.
  const auto [by_a, by_b] = [&]() -> std::pair<std::string, std::string> {
    switch (static_cast<const ArithmeticOp&>(*node.op).attrs().kind) {
      case Arithmetic::add: return {"1.0f", "1.0f"};
      case Arithmetic::subtract: return {"1.0f", "-1.0f"};
      case Arithmetic::multiply: return {"b", "a"};
      case Arithmetic::divide: return {file.quotient("1.0f", "b"), file.quotient("-a", "(b * b)")};
      case Arithmetic::maximum: return {larger("a", "b"), larger("b", "a")};
      case Arithmetic::minimum: return {larger("b", "a"), larger("a", "b")};
      case Arithmetic::exceeds: return {};
    }
    return {};
  }();
  const Value a = node.inputs[0];
  const Value b = node.inputs[1];
  const std::string index = index_of_b(file.graph().shape(a), file.graph().shape(b));
  std::vector<std::string> terms;
  if (!by_a.empty() && file.has_tangent(a)) terms.push_back(fmt::format("s * ({})", by_a));
  if (!by_b.empty() && file.has_tangent(b)) terms.push_back(fmt::format("t * ({})", by_b));
  if (terms.empty()) return flat(file, node);
  const std::string formula = fmt::format("{}", fmt::join(terms, " + "));
  std::vector<FormulaOperand> operands{
      {.name = 'a', .value = a},
      {.name = 'b', .value = b, .index = index},
      {.name = 's', .value = a, .is_tangent = true},
      {.name = 't', .value = b, .index = index, .is_tangent = true}};
  std::erase_if(operands, [&](const FormulaOperand& operand) {
    return formula.find(operand.name) == std::string::npos;
  });
  file.each_tangent(size_of(file, node.outputs[0]), operands, node.outputs[0], formula);
  write_operator(file, node);
}

using TangentWriter = void (*)(OperatorFile& file, const Node& node);

const std::map<std::string_view, TangentWriter>& tangent_writers() {
  static const std::map<std::string_view, TangentWriter> kWriters{
      {ActivationOp::kName, of_activation},
      {ArithmeticOp::kName, of_arithmetic},
      {AvgPool2dOp::kName, linear},
      {BatchNormInferenceOp::kName, linear},
      {BiasAddOp::kName, linear},
      {BinMean2dOp::kName, linear},
      {ChannelScaleOp::kName, linear},
      {ConcatOp::kName, of_concat},
      {Conv2dOp::kName, linear},
      {CopyOp::kName, linear},
      {DenseOp::kName, linear},
      {ExpandOp::kName, linear},
      {GlobalAvgPoolOp::kName, linear},
      {GroupNormOp::kName, of_group_norm},
      {LogSoftmaxOp::kName, of_softmax},
      {ReduceOp::kName, of_reduce},
      {ScaleOp::kName, linear},
      {SliceOp::kName, linear},
      {SoftmaxOp::kName, of_softmax},
      {UnaryOp::kName, of_unary},
  };
  return kWriters;
}

}  // namespace

void write_with_tangents(OperatorFile& file, const Node& node) {
  if (file.graph().type(node.outputs[0]).dtype != DType::f32) {
    refuse_derivative(file, node, "its results are ids");
  }
  if (std::ranges::none_of(node.inputs, [&](Value input) { return file.has_tangent(input); })) {
    return flat(file, node);
  }
  const auto writer = tangent_writers().find(node.op->name());
  if (writer == tangent_writers().end()) {
    std::vector<std::string_view> known;
    for (const auto& [name, function] : tangent_writers()) known.push_back(name);
    refuse_derivative(file, node, fmt::format("expected one of {}", fmt::join(known, ", ")));
  }
  writer->second(file, node);
}

}  // namespace linnet
