// SPDX-License-Identifier: Apache-2.0
#include "fusions/conv2d_norm/conv2d_norm.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "op_backends.h"
#include "op_bf16.h"
#include "op_harness.h"

namespace linnet::testing {
namespace {

/// As a GPU does, which rounds w gamma / std: every w becomes one for which that is the result of
/// `nearest`.
void round_weights(const Op& conv2d_norm, std::vector<std::vector<double>>& operands,
                   const std::function<double(double)>& nearest) {
  using Norm = BatchNormInferenceOp::In;
  const auto& op = static_cast<const Conv2dNormOp&>(conv2d_norm);
  std::vector<double>& w = operands[Conv2dNormOp::In::w];
  const std::vector<double>& gamma = operands[op.norm_input(Norm::gamma)];
  const std::vector<double>& var = operands[op.norm_input(Norm::running_var)];
  const std::size_t taps = w.size() / gamma.size();
  for (std::size_t i = 0; i < w.size(); ++i) {
    const double factor = gamma[i / taps] / std::sqrt(var[i / taps] + op.attrs().norm.epsilon);
    w[i] = nearest(w[i] * factor) / factor;
  }
}
const bool kRounds = folded_weights().emplace(Conv2dNormOp::kName, round_weights).second;

struct Case {
  std::string name;
  Shape x, w;
  Conv2dAttrs conv;
};

Conv2dAttrs padded(std::int64_t pad, std::int64_t stride = 1, std::int64_t groups = 1) {
  return {.stride_h = stride,
          .stride_w = stride,
          .groups = groups,
          .pad_top = pad,
          .pad_bottom = pad,
          .pad_left = pad,
          .pad_right = pad};
}

/// One for each engine that a forward convolution may run on.
const std::vector<Case> kCases{
    {"pointwise", {2, 5, 6, 12}, {20, 1, 1, 12}, {}},
    {"3x3 stride 2", {2, 7, 9, 6}, {10, 3, 3, 6}, padded(1, 2)},
    {"winograd", {8, 12, 12, 16}, {16, 3, 3, 16}, padded(1)},
    {"whole image", {16, 2, 2, 8}, {12, 3, 3, 8}, padded(1)},
    {"depthwise", {2, 6, 6, 16}, {16, 3, 3, 1}, padded(1, 1, 16)},
    {"groups", {2, 6, 6, 12}, {12, 3, 3, 4}, padded(1, 1, 3)},
    {"no sample", {0, 6, 6, 12}, {12, 1, 1, 12}, {}},
};

OpCase op_case(const Case& c, bool bias, bool residual, Activation activation) {
  Conv2dAttrs conv = c.conv;
  conv.bias = bias;
  const ConvShape s = conv_shape(conv, c.x, c.w, "");
  const ValueType channels = f32({s.co});
  std::vector<ValueType> inputs{f32(c.x), f32(c.w)};
  if (bias) inputs.push_back(channels);
  inputs.insert(inputs.end(), 4, channels);
  if (residual) inputs.push_back(f32({s.n, s.oh, s.ow, s.co}));
  std::vector<Fill> fills(inputs.size());
  fills[bias ? 6 : 5] = {0.2, 2};  // the variance
  return {.name = "conv2d_norm " + c.name,
          .op = make_op(Conv2dNormOp(
              {conv, {.epsilon = 1e-3, .residual = residual, .activation = activation}})),
          .inputs = std::move(inputs),
          .fills = std::move(fills),
          .gradient = false};
}

TEST(Conv2dNorm, AgreesWithTheReference) {
  for (const Case& c : kCases) {
    for (const bool bias : {false, true}) {
      for (const bool residual : {false, true}) {
        check(op_case(c, bias, residual, Activation::none));
        check(op_case(c, bias, residual, Activation::relu));
      }
    }
  }
}

TEST(Conv2dNorm, TakesNoActivationBetweenItsParts) {
  OpCase c = op_case(kCases[0], false, false, Activation::relu);
  const std::string message =
      inference_error(make_op(Conv2dNormOp({{.activation = Activation::tanh}, {}})), c.inputs);
  EXPECT_NE(message.find("expected no activation between the convolution and the norm; got tanh"),
            std::string::npos)
      << message;
  c.inputs.pop_back();
  EXPECT_NE(inference_error(c.op, c.inputs), "");
}

/// Operands are rounded as the convolution alone rounds them: no weight after it is scaled.
TEST(Conv2dNorm, EqualsItsPartsInBf16) {
  for (const Case& c : kCases) {
    const OpCase fused = op_case(c, true, true, Activation::relu);
    const auto& attrs = static_cast<const Conv2dNormOp&>(*fused.op).attrs();
    Graph graph;
    std::vector<Value> inputs;
    std::vector<std::vector<double>> data;
    std::mt19937 random(7);
    for (const ValueType& type : fused.inputs) {
      inputs.push_back(graph.add_value("operand", type, Storage::external, inputs.size()));
      std::uniform_real_distribution<float> uniform(inputs.size() == 7 ? 0.2F : -1.0F, 1.0F);
      data.emplace_back(static_cast<std::size_t>(type.shape.elements()));
      for (double& x : data.back()) x = uniform(random);
    }
    const Value y = graph.add(fused.op, inputs, "fused")[0];
    const Value z =
        graph.add(make_op(Conv2dOp(attrs.conv)), {inputs.begin(), inputs.begin() + 3}, "conv")[0];
    std::vector<Value> normed{z};
    normed.insert(normed.end(), inputs.begin() + 3, inputs.end());
    const Value parts = graph.add(make_op(BatchNormInferenceOp(attrs.norm)), normed, "norm")[0];
    for (const TestedDevice& device : tested_cpus_in_bf16()) {
      const auto results = run(*device.backends[0], graph, inputs, data, {y, parts}, {}, true);
      for (std::size_t i = 0; i < results[0].size(); ++i) {
        ASSERT_NEAR(results[0][i], results[1][i], 2e-5 * (1 + std::abs(results[1][i])))
            << c.name << " on " << device.name;
      }
      for (Backend* backend : device.backends) {
        EXPECT_EQ(run(*backend, graph, inputs, data, {y}, {}, false)[0], results[0])
            << c.name << " on " << device.name << " at " << backend->threads() << " threads";
      }
    }
  }
}

/// gamma / std is beyond binary16's largest number; no pixel differs from zero.
TEST(Conv2dNorm, LargeFactorsMakeNoNaNInFp16) {
  const OpCase c = op_case(kCases[0], false, false, Activation::none);
  Graph graph;
  std::vector<Value> inputs;
  std::vector<std::vector<double>> data;
  for (const ValueType& type : c.inputs) {
    inputs.push_back(graph.add_value("operand", type, Storage::external, inputs.size()));
    data.emplace_back(static_cast<std::size_t>(type.shape.elements()), 1.0);
  }
  using Norm = BatchNormInferenceOp::In;
  const auto& op = static_cast<const Conv2dNormOp&>(*c.op);
  std::ranges::fill(data[Conv2dNormOp::In::x], 0.0);
  std::ranges::fill(data[op.norm_input(Norm::gamma)], 1e6);
  std::ranges::fill(data[op.norm_input(Norm::running_mean)], 0.0);
  const Value y = graph.add(c.op, inputs, "folded")[0];
  for (const Value value : {inputs[Conv2dNormOp::In::x], y})
    graph.info(value).type.dtype = DType::f16;
  for (const TestedDevice& device : tested_in(DType::f16)) {
    const auto results = run(*device.backends[0], graph, inputs, data, {y}, {}, true);
    for (const double result : results[0]) ASSERT_EQ(result, 1.0) << device.name;
  }
}

}  // namespace
}  // namespace linnet::testing
