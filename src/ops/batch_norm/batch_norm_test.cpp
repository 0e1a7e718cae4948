// SPDX-License-Identifier: Apache-2.0
#include "ops/batch_norm/batch_norm.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "graph/interpreter.h"
#include "op_harness.h"

namespace linnet::testing {
namespace {

std::vector<ValueType> operands(Shape x) {
  const Shape channels{x[-1]};
  return {f32(std::move(x)), f32(channels), f32(channels), f32(channels), f32(channels)};
}

const std::vector<Fill> kFills{{-2, 3}, {0.5, 1.5}, {-1, 1}, {-1, 1}, {0.5, 2}};
const std::vector<bool> kTrained{true, true, true, false, false};
const std::vector<bool> kRoots{true, false, false};

TEST(BatchNorm, AgreesWithTheReference) {
  const OpPtr op = make_op(BatchNormOp({.epsilon = 1e-3, .momentum = 0.3}));
  check({"batch_norm images", op, operands({3, 2, 5, 4}), kFills, true, kTrained, kRoots});
  check({"batch_norm features", op, operands({7, 3}), kFills, true, kTrained, kRoots});
  check({"batch_norm one channel", op, operands({5, 1}), kFills, true, kTrained, kRoots});
  check({"batch_norm one row", op, operands({1, 4}), kFills, false});
  check({"batch_norm no sample", op, operands({0, 4}), kFills, false});
  check({"batch_norm many tasks", op, operands({40, 31, 17, 13}), kFills, false});
  check({"batch_norm far mean",
         op,
         operands({64, 3}),
         {{1000, 1001}, {0.5, 1.5}},
         false,
         {},
         {},
         2e-4});
}

std::vector<ValueType> with_residual(Shape x) {
  std::vector<ValueType> types = operands(x);
  types.push_back(f32(std::move(x)));
  return types;
}

const std::vector<Fill> kFillsWithResidual{{-2, 3}, {0.5, 1.5}, {-1, 1},
                                           {-1, 1}, {0.5, 2},   {-2, 2}};
const std::vector<bool> kTrainedWithResidual{true, true, true, false, false, true};

const BatchNormAttrs kRelu{.epsilon = 1e-3, .activation = Activation::relu};
const BatchNormAttrs kAdd{.epsilon = 1e-3, .residual = true};
const BatchNormAttrs kAddRelu{.epsilon = 1e-3, .residual = true, .activation = Activation::relu};

TEST(BatchNorm, AddsAResidualAndActivates) {
  for (const Shape& x : {Shape{3, 2, 5, 4}, Shape{7, 3}}) {
    const std::string shape = to_string(x);
    check({"batch_norm relu " + shape, make_op(BatchNormOp(kRelu)), operands(x), kFills, true,
           kTrained, kRoots});
    check({"batch_norm add " + shape, make_op(BatchNormOp(kAdd)), with_residual(x),
           kFillsWithResidual, true, kTrainedWithResidual, kRoots});
    check({"batch_norm add relu " + shape, make_op(BatchNormOp(kAddRelu)), with_residual(x),
           kFillsWithResidual, true, kTrainedWithResidual, kRoots});
    check({"batch_norm add relu, residual not trained " + shape, make_op(BatchNormOp(kAddRelu)),
           with_residual(x), kFillsWithResidual, true, kTrained, kRoots});
  }
  // The larger ones keep eight rows a thread in registers, or read them twice.
  for (const Shape& x : {Shape{0, 4}, Shape{600, 32}, Shape{1100, 8}, Shape{1300, 6},
                         Shape{9000, 16}, Shape{20000, 8}}) {
    const std::string shape = to_string(x);
    check({"batch_norm relu " + shape, make_op(BatchNormOp(kRelu)), operands(x), kFills, false});
    check({"batch_norm add relu " + shape, make_op(BatchNormOp(kAddRelu)), with_residual(x),
           kFillsWithResidual, false});
  }
}

/// The harness gives every operand memory of its own; here they lie in the arena.
TEST(BatchNorm, ResultsMayTakeOverOperands) {
  const Shape x{1200, 8};
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
  const auto moved = [&](Value v, const char* name) {
    return graph.emit(ActivationOp({Activation::relu}), {v}, name);
  };
  const Value gamma = input({8}, 0.5);
  const Value mean = input({8}, -1);
  const Value variance = input({8}, 0.5);
  for (bool residual : {false, true}) {
    const Value here = moved(input(x, -1), "x");
    const Value beside = moved(input(x, -0.75), "residual");
    BatchNormAttrs attrs = residual ? kAddRelu : kRelu;
    std::vector<Value> operands{here, gamma, mean, mean, variance};
    if (residual) operands.push_back(beside);
    const Value y = graph.emit(BatchNormInferenceOp(attrs), operands, "inference");
    graph.emit(ActivationOp({Activation::tanh}), {y}, "last");
    const Value dy = moved(input(x, -1.25), "dy");
    const Value x_again = moved(input(x, -1), "x");
    const Value z = moved(input(x, -0.5), "y");
    const std::vector<Value> made =
        graph.add(make_op(BatchNormGradOp({.residual = residual, .activation = Activation::relu})),
                  {dy, x_again, gamma, mean, variance, z}, "gradient");
    graph.emit(ActivationOp({Activation::tanh}), {made[0]}, "last");
  }
  std::vector<Value> outputs;
  for (const Node& node : graph.nodes()) {
    if (node.name == "last") outputs.push_back(node.outputs.front());
  }
  compare_with_reference(graph, inputs, data, outputs);
}

std::vector<ValueType> gradient_operands(const Shape& x) {
  const Shape c{x[-1]};
  return {f32(x), f32(x), f32(c), f32(c), f32(c), f32(x)};
}
const std::vector<Fill> kGradientFills{{-2, 3}, {-2, 3}, {0.5, 1.5}, {-1, 1}, {0.5, 1}, {-1, 1}};

TEST(BatchNorm, GradientAtManyTasks) {
  const Shape x{40, 31, 17, 13};
  const Shape channels{13};
  check({"batch_norm_grad",
         make_op(BatchNormGradOp()),
         {f32(x), f32(x), f32(channels), f32(channels), f32(channels)},
         kFills,
         false});
  for (const Shape& shape : {Shape{1500, 64}, Shape{1100, 5}, Shape{5000, 16}, Shape{9000, 16}}) {
    for (bool residual : {true, false}) {
      check({"batch_norm_grad relu " + to_string(shape),
             make_op(BatchNormGradOp({.residual = residual, .activation = Activation::relu})),
             gradient_operands(shape), kGradientFills, false});
    }
  }
}

/// Kernels that only the CPU has.
void check_on_cpu(const std::string& name, OpPtr op, std::vector<ValueType> inputs) {
  OpCase op_case{name, std::move(op), std::move(inputs), kFillsWithResidual, false};
  op_case.devices = {"CPU"};
  check(op_case);
}

TEST(BatchNorm, ReadsTheFirstChannelsOfWiderRows) {
  for (const auto& [rows, channels, wide] :
       {std::array{7, 3, 5}, std::array{1500, 64, 96}, std::array{1100, 5, 21}}) {
    const std::string name = std::to_string(rows) + " of " + std::to_string(channels);
    std::vector<ValueType> types = operands({rows, channels});
    types[0] = f32({rows, wide});
    check({"batch_norm wide " + name, make_op(BatchNormOp(kRelu)), types, kFills, false});
    check_on_cpu("batch_norm_again wide " + name,
                 make_op(BatchNormAgainOp({.activation = Activation::relu})), types);
    types.push_back(f32({rows, channels}));
    check_on_cpu("batch_norm_again residual " + name,
                 make_op(BatchNormAgainOp({.residual = true, .activation = Activation::relu})),
                 types);
    types = gradient_operands({rows, channels});
    types[1] = f32({rows, wide});
    check({"batch_norm_grad wide " + name,
           make_op(BatchNormGradOp({.activation = Activation::relu})), types, kGradientFills,
           false});
    types[5] = f32({channels});
    check_on_cpu("batch_norm_grad wide from input " + name,
                 make_op(BatchNormGradOp({.activation = Activation::relu, .from_input = true})),
                 types);
  }
  EXPECT_EQ(inference_error(make_op(BatchNormInferenceOp()),
                            {f32({2, 5}), f32({3}), f32({3}), f32({3}), f32({3})}),
            "[batch_norm_inference 'layer'] expected statistics of 5 channels; got x=(2, 5), "
            "gamma=(3), beta=(3), running_mean=(3), running_var=(3)");
}

/// What the backward pass computes again, and what it finds in wider rows, are the same bits.
TEST(BatchNorm, OtherWaysToTheSameBits) {
  constexpr std::int64_t kWide = 70;
  for (const std::int64_t channels : {5, 33, 66}) {
    const std::int64_t rows = 1100;
    Graph graph;
    std::vector<Value> inputs;
    std::vector<std::vector<double>> data;
    const auto input = [&](const Shape& shape, auto at) {
      inputs.push_back(graph.add_value("input", f32(shape), Storage::external, inputs.size()));
      data.emplace_back();
      for (std::int64_t i = 0; i < shape.elements(); ++i) data.back().push_back(at(i));
      return inputs.back();
    };
    const auto number = [](std::int64_t i) { return std::sin(static_cast<double>(i * i % 4099)); };
    const Shape c{channels};
    const Value narrow = input({rows, channels}, [&](std::int64_t i) {
      return number(i / channels * kWide + i % channels);
    });
    const Value wide = input({rows, kWide}, number);
    const Value gamma = input(c, [](std::int64_t i) { return static_cast<double>(i % 7) - 2.5; });
    const Value beta = input(c, [](std::int64_t i) { return 0.1 * static_cast<double>(i % 3); });
    const Value running = input(c, [](std::int64_t) { return 1.0; });
    const Value dy = input({rows, channels}, [&](std::int64_t i) { return number(3 * i + 1); });
    const auto norm = [&](Value x) {
      return graph.add(make_op(BatchNormOp(kRelu)), {x, gamma, beta, running, running}, "norm");
    };
    const auto gradient = [&](Value x, Value last, bool from_input, const std::vector<Value>& of) {
      return graph.add(make_op(BatchNormGradOp(
                           {.activation = Activation::relu, .from_input = from_input})),
                       {dy, x, gamma, of[1], of[2], last}, "gradient");
    };
    const std::vector<Value> plain = norm(narrow);
    const std::vector<Value> other = norm(wide);
    const BatchNormAgainAttrs again{.activation = Activation::relu};
    std::vector<std::vector<Value>> same{
        {plain[0], other[0],
         graph.emit(BatchNormAgainOp(again), {wide, gamma, beta, plain[1], plain[2]}, "again")},
        {plain[1], other[1]},
        {plain[2], other[2]}};
    const std::vector<Value> by_output = gradient(narrow, plain[0], false, plain);
    const std::vector<Value> by_input = gradient(wide, beta, true, other);
    for (std::size_t i = 0; i < by_output.size(); ++i) same.push_back({by_output[i], by_input[i]});
    std::vector<Value> outputs;
    for (const auto& group : same) outputs.insert(outputs.end(), group.begin(), group.end());
    const auto results = run(graph, inputs, data, outputs);
    std::size_t at = 0;
    for (const auto& group : same) {
      for (std::size_t i = 1; i < group.size(); ++i) {
        EXPECT_EQ(results[at + i], results[at]) << channels << " channels, output " << at + i;
      }
      at += group.size();
    }
  }
}

/// Large enough for the CPU to add both sums in one pass of several tasks.
TEST(BatchNorm, GradientSumsInOnePass) {
  Graph graph;
  std::vector<Value> inputs;
  std::vector<std::vector<double>> data;
  for (const ValueType& type : gradient_operands({70, 16, 16, 64})) {
    inputs.push_back(graph.add_value("input", type, Storage::external));
    data.emplace_back();
    const std::int64_t elements = type.shape.elements();
    for (std::int64_t i = 0; i < elements; ++i) {
      data.back().push_back(static_cast<double>(i * 37 % 101 + i % 7) / 64 - 0.75);
    }
  }
  const std::vector<Value> outputs =
      graph.add(make_op(BatchNormGradOp({.residual = true, .activation = Activation::relu})),
                inputs, "norm");
  Interpreter interpreter(graph);
  for (std::size_t i = 0; i < inputs.size(); ++i) interpreter[inputs[i]].data = data[i];
  interpreter.run({});
  const std::vector<std::vector<double>> values = run(graph, inputs, data, outputs);
  for (std::size_t o = 0; o < outputs.size(); ++o) {
    const std::vector<double>& expected = interpreter[outputs[o]].data;
    double scale = 0;
    double error = 0;
    for (std::size_t i = 0; i < expected.size(); ++i) {
      scale = std::max(scale, std::abs(expected[i]));
      error = std::max(error, std::abs(values[o][i] - expected[i]));
    }
    EXPECT_LE(error, 2e-5 * scale) << "output " << o;
  }
}

/// On the CPU moments are taken block by block and task by task: here all of them differ.
TEST(BatchNorm, MergesMomentsOfRowsThatDrift) {
  const Shape x{6007, 24};
  Graph graph;
  std::vector<Value> inputs;
  std::vector<std::vector<double>> data;
  for (const ValueType& type : operands(x)) {
    inputs.push_back(graph.add_value("input", type, Storage::external));
    data.emplace_back(static_cast<std::size_t>(type.shape.elements()), 0.5);
  }
  for (std::size_t i = 0; i < data[0].size(); ++i) {
    data[0][i] = 50 + static_cast<double>(i / 24) / 512 + static_cast<double>(i * 37 % 101) / 64;
  }
  const std::vector<Value> made = graph.add(make_op(BatchNormOp()), inputs, "norm");
  compare_with_reference(graph, inputs, data, made);
}

TEST(BatchNorm, ReluKeepsNaN) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (bool inference : {false, true}) {
    Graph graph;
    std::vector<Value> inputs;
    for (const ValueType& type : operands({4, 2})) {
      inputs.push_back(graph.add_value("input", type, Storage::external));
    }
    const BatchNormAttrs attrs{.activation = Activation::relu};
    const OpPtr op = inference ? make_op(BatchNormInferenceOp(attrs)) : make_op(BatchNormOp(attrs));
    const Value y = graph.add(op, inputs, "norm")[0];
    const std::vector<double> values =
        run(graph, inputs, {{1, nan, 2, 1, 3, 2, 4, 3}, {1, 1}, {0, 0}, {0, 0}, {1, 1}}, {y})[0];
    EXPECT_TRUE(std::isnan(values[1]));
    EXPECT_GT(values[6], 1);
  }
}

TEST(BatchNormInference, AgreesWithTheReference) {
  const OpPtr op = make_op(BatchNormInferenceOp({.epsilon = 1e-3}));
  check({"batch_norm_inference", op, operands({3, 2, 5, 4}), kFills, false});
  check({"batch_norm_inference no sample", op, operands({0, 4}), kFills, false});
  check({"batch_norm_inference many tasks", op, operands({40, 31, 17, 13}), kFills, false});
  const OpPtr relu = make_op(BatchNormInferenceOp(kRelu));
  const OpPtr add = make_op(BatchNormInferenceOp(kAdd));
  const OpPtr both = make_op(BatchNormInferenceOp(kAddRelu));
  for (const Shape& x : {Shape{3, 2, 5, 4}, Shape{9, 3}, Shape{2000, 9}, Shape{300, 64}}) {
    const std::string shape = to_string(x);
    check({"batch_norm_inference relu " + shape, relu, operands(x), kFills, false});
    check({"batch_norm_inference add " + shape, add, with_residual(x), kFillsWithResidual, false});
    check({"batch_norm_inference add relu " + shape, both, with_residual(x), kFillsWithResidual,
           false});
  }
}

/// What a frozen batch norm needs in training.
TEST(BatchNormInference, HasGradientsByXAndTheResidual) {
  for (const BatchNormAttrs& attrs : {BatchNormAttrs{.epsilon = 1e-3}, kRelu, kAdd, kAddRelu}) {
    OpCase c{"batch_norm_inference gradient", make_op(BatchNormInferenceOp(attrs)),
             attrs.residual ? with_residual({5, 2, 3}) : operands({5, 2, 3}),
             attrs.residual ? kFillsWithResidual : kFills};
    c.differentiable = {true, false, false, false, false};
    if (attrs.residual) c.differentiable.push_back(true);
    check(c);
  }
}

TEST(BatchNorm, KeepsItsAttributesAtInference) {
  const OpPtr op = make_op(BatchNormOp(
      {.epsilon = 0.25, .momentum = 0.5, .residual = true, .activation = Activation::relu}));
  EXPECT_EQ(op->at_inference(op)->attributes(), op->attributes());
}

TEST(BatchNorm, NamesTheLayerAndTheShapes) {
  std::vector<ValueType> types = operands({3, 4});
  types[1] = f32({3});
  EXPECT_EQ(inference_error(make_op(BatchNormOp()), types, "norm"),
            "[batch_norm 'norm'] expected statistics of 4 channels; got x=(3, 4), gamma=(3), "
            "beta=(4), running_mean=(4), running_var=(4)");
  EXPECT_EQ(inference_error(make_op(BatchNormOp({.momentum = 1.5})), operands({3, 4}), "norm"),
            "[batch_norm 'norm'] expected epsilon > 0 and momentum in [0, 1]; got 1e-05 and 1.5");
  EXPECT_EQ(inference_error(make_op(BatchNormOp({.activation = Activation::tanh})),
                            operands({3, 4}), "a"),
            "[batch_norm 'a'] expected the activation none or relu; got tanh");
  types = with_residual({3, 4});
  types[5] = f32({2, 4});
  EXPECT_EQ(inference_error(make_op(BatchNormOp({.residual = true})), types, "norm"),
            "[batch_norm 'norm'] expected a residual of x's shape; got x=(3, 4), gamma=(4), "
            "beta=(4), running_mean=(4), running_var=(4), residual=(2, 4)");
}

}  // namespace
}  // namespace linnet::testing
