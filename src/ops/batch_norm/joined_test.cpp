// SPDX-License-Identifier: Apache-2.0
#include "ops/batch_norm/joined.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "op_harness.h"
#include "ops/activation/activation.h"

namespace linnet::testing {
namespace {

const BatchNormAttrs kRelu{.epsilon = 1e-3, .activation = Activation::relu};

void check_on(const std::string& device, const std::string& name, OpPtr op,
              std::vector<ValueType> inputs, std::vector<Fill> fills) {
  check({.name = name,
         .op = std::move(op),
         .inputs = std::move(inputs),
         .fills = std::move(fills),
         .gradient = false,
         .devices = {device}});
}

/// Rows, channels, those of the part or piece, those of the wider rows: rows of one launch,
/// and more.
constexpr std::array<std::array<std::int64_t, 4>, 5> kShapes{
    {{7, 6, 2, 9}, {300, 8, 4, 8}, {1500, 64, 32, 96}, {1100, 21, 5, 33}, {9000, 12, 8, 16}}};

TEST(BatchNormJoined, AgreesWithTheReference) {
  for (const auto& [rows, channels, part, wide] : kShapes) {
    const ValueType c = f32({channels});
    check_on("CUDA", "batch_norm_joined " + std::to_string(rows), make_op(BatchNormJoinedOp(kRelu)),
             {f32({rows, wide}), c, c, c, c, f32({rows, part})},
             {{-2, 3}, {0.5, 1.5}, {-1, 1}, {-1, 1}, {0.5, 2}, {-2, 2}});
  }
}

const std::vector<Fill> kGradientFills{{-2, 3}, {-2, 3}, {0.5, 1.5}, {-1, 1}, {0.5, 1}, {-1, 1}};

std::vector<ValueType> gradient_operands(const BatchNormGradJoinedAttrs& attrs, std::int64_t rows,
                                         std::int64_t channels, std::int64_t wide) {
  const ValueType c = f32({channels});
  const ValueType image = f32({rows, channels});
  std::vector<ValueType> types{image, attrs.into ? f32({rows, wide}) : image, c, c, c};
  if (attrs.activation == Activation::relu) types.push_back(attrs.from_input ? c : image);
  if (attrs.summand) types.push_back(image);
  if (attrs.into) types.push_back(f32({rows, wide}));
  return types;
}

TEST(BatchNormJoined, GradientAgreesWithTheReference) {
  const Activation relu = Activation::relu;
  for (const auto& [rows, channels, piece, wide] : kShapes) {
    for (const BatchNormGradJoinedAttrs& attrs :
         {BatchNormGradJoinedAttrs{.residual = true, .activation = relu, .summand = true},
          BatchNormGradJoinedAttrs{.summand = true},
          BatchNormGradJoinedAttrs{.activation = relu, .piece = piece},
          BatchNormGradJoinedAttrs{.activation = relu, .into = true, .piece = piece},
          BatchNormGradJoinedAttrs{.into = true, .piece = channels},
          BatchNormGradJoinedAttrs{.activation = relu, .summand = true, .into = true}}) {
      check_on("CUDA", "batch_norm_grad_joined " + std::to_string(rows),
               make_op(BatchNormGradJoinedOp(attrs)),
               gradient_operands(attrs, rows, channels, wide), kGradientFills);
    }
  }
}

TEST(BatchNormJoined, GradientAddsOnTheCpu) {
  const Activation relu = Activation::relu;
  for (const auto& [rows, channels, piece, wide] : kShapes) {
    for (const BatchNormGradJoinedAttrs& attrs :
         {BatchNormGradJoinedAttrs{.activation = relu, .from_input = true, .into = true},
          BatchNormGradJoinedAttrs{.activation = relu, .into = true, .piece = piece},
          BatchNormGradJoinedAttrs{.into = true, .piece = channels}}) {
      check_on("CPU", "batch_norm_grad_joined " + std::to_string(rows),
               make_op(BatchNormGradJoinedOp(attrs)),
               gradient_operands(attrs, rows, channels, wide), kGradientFills);
    }
  }
}

/// The harness gives every operand memory of its own; here they lie in the arena.
TEST(BatchNormJoined, ResultsTakeOverOperands) {
  constexpr std::int64_t kRows = 1200;
  Graph graph;
  std::vector<Value> inputs;
  std::vector<std::vector<double>> data;
  const auto input = [&](const Shape& shape, double low) {
    inputs.push_back(graph.add_value("input", f32(shape), Storage::external));
    data.emplace_back();
    for (std::int64_t i = 0; i < shape.elements(); ++i) {
      data.back().push_back(low + static_cast<double>(i * 37 % 64) / 32);
    }
    return inputs.back();
  };
  const auto moved = [&](std::int64_t channels, double low) {
    return graph.emit(ActivationOp({Activation::tanh}), {input({kRows, channels}, low)}, "moved");
  };
  std::vector<Value> outputs;
  const auto read = [&](const std::vector<Value>& values) {
    for (Value v : values) {
      outputs.push_back(graph.emit(ActivationOp({Activation::tanh}), {v}, "read"));
    }
  };
  const Value gamma = input({8}, 0.5);
  const Value mean = input({8}, -1);
  const Value variance = input({8}, 0.5);
  read(graph.add(make_op(BatchNormJoinedOp(kRelu)),
                 {moved(12, -1), gamma, mean, input({8}, 0), input({8}, 0.5), moved(4, -0.5)},
                 "norm"));
  const BatchNormGradJoinedAttrs attrs{.activation = Activation::relu,
                                       .summand = true,
                                       .into = true,
                                       .piece = 4};
  const Value x = moved(12, -1);
  read(graph.add(make_op(BatchNormGradJoinedOp(attrs)),
                 {moved(8, -1.25), x, gamma, mean, variance, moved(8, -0.5), moved(8, -1),
                  moved(12, -0.75)},
                 "gradient"));
  compare_with_reference(graph, inputs, data, outputs, 2e-5, {}, {"CUDA"});
}

TEST(BatchNormJoined, NamesTheShapes) {
  const ValueType c = f32({4});
  EXPECT_NE(inference_error(make_op(BatchNormJoinedOp(kRelu)),
                            {f32({6, 8}), c, c, c, c, f32({6, 5})})
                .find("expected a part of at most the channels of f32 (6, 4); got f32 (6, 5)"),
            std::string::npos);
  EXPECT_NE(inference_error(make_op(BatchNormGradJoinedOp({.into = true})),
                            {f32({6, 4}), f32({6, 4}), c, c, c, f32({6, 3})})
                .find("expected a sum of f32 (6, 4) or wider; got f32 (6, 3)"),
            std::string::npos);
}

}  // namespace
}  // namespace linnet::testing
