// SPDX-License-Identifier: Apache-2.0
#include "plan/passes/passes.h"

#include <gtest/gtest.h>

#include <fmt/ranges.h>

#include <cmath>

#include "fusions/fusions.h"
#include "networks/networks.h"
#include "ops/activation/activation.h"
#include "ops/arithmetic/arithmetic.h"
#include "ops/batch_norm/statistics.h"
#include "ops/bias_add/bias_add.h"
#include "ops/cross_entropy/cross_entropy.h"
#include "ops/dense/dense.h"
#include "ops/softmax/softmax.h"
#include "step_operators.h"

namespace linnet::testing {
namespace {

bool no_pooled_convolution(const Op& op) { return op.name() != "conv2d_pool"; }

/// Layer by layer, the whole training step of mnist-cnn is thirteen operators.
TEST(Passes, MnistCnnIsFusedLayerByLayer) {
  const std::vector<std::string> expected{
      "gather_batch 'targets'",
      "gather_batch 'rescale_1'",
      "conv2d_pool 'max_pool2d_1'",
      "dense 'dense_1'",
      "softmax_cross_entropy 'loss'",
      "metrics 'metrics'",
      "softmax_cross_entropy_grad 'loss'",
      "bias_grad 'dense_1'",
      "dense_grad_weight 'dense_1'",
      "dense_grad_input 'dense_1'",
      "conv2d_pool_grad 'max_pool2d_1'",
      "finite_check 'finite'",
      "optimizer_update 'optimizer'",
  };
  EXPECT_EQ(launches(workloads::mnist_cnn(), layers), expected);
}

TEST(Passes, ABackendWithoutAFusionGetsItsParts) {
  const std::vector<std::string> run = launches(workloads::mnist_cnn(), no_pooled_convolution);
  EXPECT_NE(std::find(run.begin(), run.end(), "conv2d 'relu_1'"), run.end());
  EXPECT_NE(std::find(run.begin(), run.end(), "max_pool2d 'max_pool2d_1'"), run.end());
}

/// A network in which the pass finds something to do.
Network network_of(std::string_view pass) {
  if (pass == "remove_dead") {
    const CustomLayer wasteful{.kind = "wasteful",
                               .function = [](const Expression& x, LayerWeights&) {
                                 static_cast<void>(tanh(x) * 2.0);  // nobody reads it
                                 return x * 0.5;
                               }};
    return Network({28, 28, 1}, {Rescale{}, wasteful, Flatten{}, Dense{.units = 10}});
  }
  if (pass != "fuse_batch_norm") return workloads::mnist_cnn();
  return Network({28, 28, 1},
                 {Rescale{}, Conv2d{.filters = 4, .kernel = 5, .stride = 4}, BatchNorm{}, ReLU{},
                  Residual{
                      .body = {Conv2d{.filters = 4, .padding = Padding2d::same()}, BatchNorm{}}},
                  ReLU{}, GlobalAvgPool2d{}, Dense{.units = 10}});
}

std::vector<std::string> fusions() {
  std::vector<std::string> names;
  for (const Pass& pass : all_passes().of(Phase::forward)) {
    if (pass.name != "remove_dead") names.emplace_back(pass.name);
  }
  return names;
}

/// Two have nothing to do in a training step on the CPU, or on some processors:
/// their own tests compare them with their parts.
TEST(Passes, EachCanBeSwitchedOffAndMeansTheSame) {
  const Dataset digits = datasets::digits(64, 0, 4).train;
  std::vector<std::string> idle;
  for (const Pass& pass : all_passes().of(Phase::forward)) {
    // Passes that fuse remove what they leave: with them there is nothing else to remove.
    const std::vector<std::string> others =
        pass.name == "remove_dead" ? fusions() : std::vector<std::string>{};
    std::vector<std::string> disabled = others;
    disabled.emplace_back(pass.name);
    const Network network = network_of(pass.name);
    if (cpu_operators(network, others) == cpu_operators(network, disabled)) {
      idle.emplace_back(pass.name);
      continue;
    }
    const std::vector<float> with =
        weights_after(network, digits, {.steps = 3, .disabled_passes = others});
    const std::vector<float> without =
        weights_after(network, digits, {.steps = 3, .disabled_passes = disabled});
    ASSERT_EQ(without.size(), with.size());
    for (std::size_t i = 0; i < with.size(); ++i) {
      ASSERT_NEAR(without[i], with[i], 2e-4) << "without " << pass.name << " at " << i;
    }
  }
  EXPECT_LE(idle.size(), 2U) << fmt::format("{}", fmt::join(idle, ", "));
}

/// Two blocks of a DenseNet, of so many channels that 1x1 convolutions sum in the same order
/// whether a norm is part of them or not.
Network dense_blocks() {
  FunctionalNetwork functional;
  Expression x =
      functional.input("x", {28, 28, 1}) | Rescale{} | Conv2d{.filters = 16, .stride = 4};
  for (int block = 0; block < 2; ++block) {
    for (int i = 0; i < 3; ++i) {
      x = concat({x, x | BatchNorm{} | ReLU{} | Conv2d{.filters = 4, .padding = Padding2d::same()}},
                 2);
    }
    x = x | BatchNorm{} | ReLU{} | Conv2d{.filters = 16, .kernel = 1, .bias = false};
  }
  return functional.build({{"y", x | GlobalAvgPool2d{} | Dense{.units = 10}}});
}

TEST(Passes, BlocksOfConcatenationsShareABuffer) {
  const auto count = [&](const std::vector<std::string>& names, std::string_view of) {
    return std::count(names.begin(), names.end(), of);
  };
  const std::vector<std::string> shared = cpu_operators(dense_blocks(), {});
  EXPECT_EQ(count(shared, "concat"), 0);
  EXPECT_EQ(count(shared, "update_channels"), 2 * 3);         // pieces
  EXPECT_EQ(count(shared, "batch_norm_grad_joined"), 2 * 3);  // their gradients
  EXPECT_EQ(count(shared, "slice_grad"), 2);                  // the first operands, widened
  EXPECT_EQ(count(shared, "slice"), 2);                       // gradients that no norm writes apart
  EXPECT_EQ(count(shared, "batch_norm_again"), 2 * 3);
  EXPECT_EQ(count(shared, "norm_conv2d"), 2);  // between the blocks
  EXPECT_EQ(count(shared, "norm_conv2d_grad_weight"), 2);
  const std::vector<std::string> apart = cpu_operators(dense_blocks(), {"share_concats"});
  EXPECT_EQ(count(apart, "concat"), 2 * 3);
  EXPECT_EQ(count(apart, "update_channels"), 0);
}

/// All links of a chain are one value of the plan, and nothing is copied for it.
TEST(Passes, ASharedBufferIsUpdatedInPlace) {
  const Network network = dense_blocks();
  Model model(network, {.device = "cpu", .threads = 1});
  Backend& backend = *model.state().backend;
  const auto program = backend.prepare(
      training_step(network.definition(), assumed_data(network.definition(), Loss::cross_entropy),
                    {.batch = 4, .optimizer = resolve({}, 1, 1)}, supports_of(backend)),
      {});
  const Plan& plan = program->plan();
  int updates = 0;
  for (const Node& node : plan.graph.nodes()) {
    const bool joined = node.op->name() == "batch_norm_grad_joined";
    if (node.op->name() != "update_channels" && !joined) continue;
    const auto root = [&](Value v) { return plan.values[static_cast<std::size_t>(v.id)].root; };
    const Value updated = joined ? node.inputs.back() : node.inputs.front();
    EXPECT_EQ(root(node.outputs[0]), root(updated)) << node.name;
    ++updates;
  }
  EXPECT_EQ(updates, 12);
}

TEST(Passes, TrainingPassesCanBeSwitchedOffAndGiveTheSameBits) {
  const Dataset digits = datasets::digits(64, 0, 4).train;
  const std::vector<float> all = weights_after(dense_blocks(), digits, {.steps = 3});
  ASSERT_NE(all, weights_after(dense_blocks(), digits, {.steps = 0}));  // it trains
  for (const TrainingPass& pass : all_passes().of_training()) {
    // Below: they add in another order; of concatenations that form no chain.
    if (pass.name == "fuse_bias_grad" || pass.name == "fuse_pool_grads" ||
        pass.name == "slice_concats") {
      continue;
    }
    const std::vector<std::string> disabled{std::string(pass.name)};
    ASSERT_NE(cpu_operators(dense_blocks(), {}), cpu_operators(dense_blocks(), disabled));
    EXPECT_EQ(weights_after(dense_blocks(), digits, {.steps = 3, .disabled_passes = disabled}), all)
        << pass.name;
  }
}

/// A concatenation's norm finds the statistics of the channels alone that were added last, which
/// rounds otherwise: Adam makes steps of the few gradients that are nothing but rounding.
TEST(Passes, NormsOfConcatenationsReadWhatIsNew) {
  const Conv2d pointwise{.filters = 32, .kernel = 1, .bias = false};
  const Conv2d same{.filters = 16, .padding = Padding2d::same(), .bias = false};
  FunctionalNetwork functional;
  Expression x = functional.input("x", {28, 28, 1}) | Rescale{} |
                 Conv2d{.filters = 32, .stride = 4, .bias = false};
  for (int i = 0; i < 3; ++i) {
    x = concat({x, x | BatchNorm{} | ReLU{} | pointwise | BatchNorm{} | ReLU{} | same}, 2);
  }
  x = x | BatchNorm{} | ReLU{} | pointwise | GlobalAvgPool2d{} | Dense{.units = 10};
  const Network network = functional.build({{"y", x}});
  Model model(network, {.device = "cpu", .threads = 1});
  const Graph graph =
      training_step(network.definition(), assumed_data(network.definition(), Loss::cross_entropy),
                    {.batch = 4, .optimizer = resolve({}, 1, 1)},
                    supports_of(*model.state().backend));
  std::vector<std::int64_t> known;
  for (const Node& node : graph.nodes()) {
    const auto* statistics = dynamic_cast<const BatchNormStatisticsOp*>(node.op.get());
    if (statistics != nullptr) known.push_back(statistics->attrs().known);
  }
  EXPECT_EQ(known, (std::vector<std::int64_t>{0, 0, 48, 64}));
  const Dataset digits = datasets::digits(64, 0, 4).train;
  const std::vector<float> fused = weights_after(network, digits, {.steps = 1});
  const std::vector<float> parts =
      weights_after(network, digits, {.steps = 1, .disabled_passes = {"fuse_norm_conv2d"}});
  ASSERT_EQ(parts.size(), fused.size());
  std::size_t apart = 0;
  for (std::size_t i = 0; i < fused.size(); ++i) {
    if (!(std::abs(parts[i] - fused[i]) <= 1e-5)) ++apart;
  }
  EXPECT_LT(apart, fused.size() / 1000);
}

TEST(Passes, GradientsOfActivationsAndBiasesInOneLoopMeanTheSame) {
  const Dataset digits = datasets::digits(64, 0, 4).train;
  // A dense layer of one unit hands an outer product back, one of three a product.
  const Network network({28, 28, 1}, {Rescale{}, Flatten{}, Dense{.units = 12}, Tanh{},
                                      Dense{.units = 1}, Tanh{}, Dense{.units = 10}});
  const std::vector<std::string> off{"fuse_bias_grad"};
  const std::vector<std::string> with = cpu_operators(network, {});
  EXPECT_EQ(std::count(with.begin(), with.end(), "bias_activation_grad"), 2);
  const std::vector<std::string> without = cpu_operators(network, off);
  EXPECT_EQ(std::count(without.begin(), without.end(), "bias_activation_grad"), 0);
  const std::vector<float> fused = weights_after(network, digits, {.steps = 3});
  const std::vector<float> parts =
      weights_after(network, digits, {.steps = 3, .disabled_passes = off});
  ASSERT_EQ(parts.size(), fused.size());
  for (std::size_t i = 0; i < fused.size(); ++i) ASSERT_NEAR(parts[i], fused[i], 1e-5) << i;
}

TEST(Passes, GradientsOfWinnersAloneMeanTheSame) {
  const Dataset digits = datasets::digits(64, 0, 4).train;
  const Network network(
      {28, 28, 1},
      {Rescale{}, Conv2d{.filters = 16}, MaxPool2d{}, Conv2d{.filters = 16, .kernel = 5}, ReLU{},
       MaxPool2d{}, Conv2d{.filters = 8, .kernel = 5, .padding = Padding2d::same(), .bias = false},
       MaxPool2d{}, Flatten{}, Dense{.units = 10}});
  const std::vector<std::string> off{"fuse_pool_grads"};
  const std::vector<std::string> with = cpu_operators(network, {});
  if (std::ranges::find(with, "conv2d_pool_grad_input") == with.end()) {
    GTEST_SKIP() << "this processor has no loops for many channels";
  }
  const std::vector<std::string> without = cpu_operators(network, off);
  EXPECT_EQ(std::ranges::count(without, "conv2d_pool_grad_input"), 0);
  const std::vector<float> fused = weights_after(network, digits, {.steps = 3});
  const std::vector<float> parts =
      weights_after(network, digits, {.steps = 3, .disabled_passes = off});
  ASSERT_EQ(parts.size(), fused.size());
  for (std::size_t i = 0; i < fused.size(); ++i) ASSERT_NEAR(parts[i], fused[i], 1e-5) << i;
}

/// A sum of two convolutions is pooled: the gradient by input is one's, that by weights the
/// other's.
TEST(Passes, GradientsOfWinnersMayBelongToTwoConvolutions) {
  const Dataset digits = datasets::digits(16, 0, 4).train;
  const auto conv = [&](const Padding2d& padding, const std::string& name) {
    return Conv2d{.filters = 16, .kernel = 5, .padding = padding, .bias = false, .name = name};
  };
  FunctionalNetwork functional;
  const Expression x = functional.input("x", {28, 28, 1}) | Rescale{};
  const Padding2d same = Padding2d::same();
  const Expression a = x | conv(same, "stem") | ReLU{} | conv(same, "frozen");
  const Expression b = x | conv(same, "fixed") | conv({Padding2d::Mode::fixed, 1, 3, 3, 1}, "side");
  const Network network =
      functional.build({{"y", (a + b) | MaxPool2d{} | Flatten{} | Dense{.units = 10}}});
  const auto gradients = [&](const std::vector<std::string>& disabled) {
    Trainer trainer(Model(network, {.device = "cpu", .seed = 3}),
                    {.trains = {{.name = "stem.*"}, {.name = "side.*"}, {.name = "dense*"}}},
                    {.disabled_passes = disabled});
    std::vector<float> all;
    for (const Batch& batch : trainer.batches(digits, {.size = 16})) {
      for (const auto& [name, value] : trainer.gradients(batch)) {
        const std::vector<float> values = vector_of(value);
        all.insert(all.end(), values.begin(), values.end());
      }
    }
    return all;
  };
  const std::vector<float> fused = gradients({});
  const std::vector<float> parts = gradients({"fuse_pool_grads"});
  ASSERT_FALSE(fused.empty());
  for (std::size_t i = 0; i < fused.size(); ++i) ASSERT_NEAR(parts[i], fused[i], 1e-5) << i;
}

TEST(Passes, PooledConvolutionsOfAllKindsTrain) {
  const Dataset digits = datasets::digits(16, 0, 4).train;
  for (const Conv2d& conv :
       {Conv2d{.filters = 4, .groups = 2}, Conv2d{.filters = 4, .groups = 4},
        Conv2d{.filters = 4, .stride = 2}, Conv2d{.filters = 4, .dilation = 2}}) {
    const Network network({28, 28, 1}, {Rescale{}, Conv2d{.filters = 4}, conv, MaxPool2d{},
                                        Flatten{}, Dense{.units = 10}});
    EXPECT_EQ(weights_after(network, digits, {.steps = 1}),
              weights_after(network, digits, {.steps = 1, .disabled_passes = {"fuse_pool_grads"}}));
  }
}

/// What fuses wrongly would compute something else: activations in a row, one whose gradient needs
/// its input, two rescales, a strided and a dilated convolution before pooling, probabilities.
TEST(Passes, AwkwardNeighboursMeanTheSame) {
  const Dataset digits = datasets::digits(64, 0, 4).train;
  const Network dense({28, 28, 1}, {Rescale{.scale = 1.0 / 255, .shift = -0.5},
                                    Rescale{.scale = 2, .shift = 0.25}, Flatten{},
                                    Dense{.units = 12}, ReLU{}, Sigmoid{}, Dense{.units = 8},
                                    GELU{}, Dense{.units = 10}, Tanh{}, Softmax{}});
  const Network images({28, 28, 1}, {Rescale{}, Conv2d{.filters = 8, .stride = 2}, ReLU{},
                                     MaxPool2d{}, Conv2d{.filters = 8, .dilation = 2}, Sigmoid{},
                                     MaxPool2d{}, Flatten{}, Dense{.units = 10}, LogSoftmax{}});
  for (const Network& network : {dense, images}) {
    const std::vector<float> fused = weights_after(network, digits, {.steps = 2});
    const std::vector<float> plain =
        weights_after(network, digits, {.steps = 2, .disabled_passes = fusions()});
    ASSERT_EQ(plain.size(), fused.size());
    for (std::size_t i = 0; i < fused.size(); ++i) ASSERT_NEAR(plain[i], fused[i], 1e-3) << i;
  }
}

const Supports kEverything = [](const Op&, std::span<const ValueType>, std::span<const ValueType>) {
  return true;
};

/// x W into an arena value, from which a test goes on.
Value product(Graph& graph) {
  const Value x = graph.add_value("x", {DType::f32, {4, 3}}, Storage::external, 0);
  const Value w = graph.add_value("w", {DType::f32, {5, 3}}, Storage::external, 1);
  return graph.emit(DenseOp(), {x, w}, "dense");
}

void keep(Graph& graph, Value value, std::size_t slot) {
  graph.info(value).storage = Storage::external;
  graph.info(value).offset = slot;
}

TEST(Passes, WhatOthersReadIsNotFused) {
  Graph twice;
  const Value z = product(twice);
  keep(twice, twice.emit(ActivationOp({Activation::relu}), {z}, "relu"), 2);
  keep(twice, twice.emit(ScaleOp({.alpha = 2}), {z}, "scale"), 3);
  fuse_epilogue(twice, kEverything);
  EXPECT_EQ(operators(twice), (std::vector<std::string>{"dense", "activation", "scale"}));
  Graph result;
  const Value y = product(result);
  keep(result, y, 2);
  keep(result, result.emit(ActivationOp({Activation::relu}), {y}, "relu"), 3);
  fuse_epilogue(result, kEverything);
  EXPECT_EQ(operators(result), (std::vector<std::string>{"dense", "activation"}));
}

TEST(Passes, ABiasAfterAnActivationIsNotFused) {
  Graph graph;
  const Value y = graph.emit(ActivationOp({Activation::relu}), {product(graph)}, "relu");
  const Value b = graph.add_value("b", {DType::f32, {5}}, Storage::external, 2);
  keep(graph, graph.emit(BiasAddOp(), {y, b}, "bias"), 3);
  fuse_epilogue(graph, kEverything);
  EXPECT_EQ(operators(graph), (std::vector<std::string>{"dense", "bias_add"}));
}

TEST(Passes, ABackendWithoutAnEpilogueGetsItsParts) {
  Graph graph;
  keep(graph, graph.emit(ActivationOp({Activation::relu}), {product(graph)}, "relu"), 2);
  fuse_epilogue(graph, [](const Op&, std::span<const ValueType>, std::span<const ValueType>) {
    return false;
  });
  EXPECT_EQ(operators(graph), (std::vector<std::string>{"dense", "activation"}));
}

TEST(Passes, ProbabilitiesThatAreReadBeforeTheLossStay) {
  Graph graph;
  const Value read = graph.emit(SoftmaxOp(), {product(graph)}, "softmax");
  const Value targets = graph.add_value("labels", {DType::i32, {4}}, Storage::external, 2);
  keep(graph, graph.emit(ScaleOp({.alpha = 2}), {read}, "scale"), 3);
  keep(graph,
       graph.emit(CrossEntropyOp({CrossEntropyInput::probabilities}), {read, targets}, "loss"), 4);
  fuse_softmax_cross_entropy(graph, kEverything);
  graph.verify();
  EXPECT_EQ(operators(graph),
            (std::vector<std::string>{"dense", "softmax", "scale", "softmax_cross_entropy"}));
  Graph result;  // nobody reads them, but they are asked for
  const Value p = result.emit(SoftmaxOp(), {product(result)}, "softmax");
  const Value labels = result.add_value("labels", {DType::i32, {4}}, Storage::external, 2);
  keep(result, p, 3);
  keep(result, result.emit(CrossEntropyOp({CrossEntropyInput::probabilities}), {p, labels}, "loss"),
       4);
  fuse_softmax_cross_entropy(result, kEverything);
  EXPECT_EQ(operators(result),
            (std::vector<std::string>{"dense", "softmax", "softmax_cross_entropy"}));
}

TEST(Passes, ALossOfTheWrongScoresIsNotFused) {
  Graph graph;
  const Value p = graph.emit(SoftmaxOp(), {product(graph)}, "softmax");
  const Value labels = graph.add_value("labels", {DType::i32, {4}}, Storage::external, 2);
  keep(graph,
       graph.emit(CrossEntropyOp({CrossEntropyInput::log_probabilities}), {p, labels}, "loss"), 3);
  fuse_softmax_cross_entropy(graph, kEverything);
  EXPECT_EQ(operators(graph), (std::vector<std::string>{"dense", "softmax", "cross_entropy"}));
}

TEST(Passes, LogProbabilitiesThatAreReadAfterTheLossStay) {
  Graph graph;
  const Value scores = graph.emit(LogSoftmaxOp(), {product(graph)}, "scores");
  const Value labels = graph.add_value("labels", {DType::i32, {4}}, Storage::external, 2);
  keep(graph,
       graph.emit(CrossEntropyOp({CrossEntropyInput::log_probabilities}), {scores, labels}, "loss"),
       3);
  keep(graph, graph.emit(ScaleOp({.alpha = 2}), {scores}, "scale"), 4);
  fuse_softmax_cross_entropy(graph, kEverything);
  EXPECT_EQ(operators(graph),
            (std::vector<std::string>{"dense", "log_softmax", "softmax_cross_entropy", "scale"}));
}

TEST(Passes, AChainThatNobodyReadsIsRemovedWhole) {
  Graph graph;
  const Value y = product(graph);
  keep(graph, y, 2);
  const Value unread = graph.emit(ScaleOp({.alpha = 2}), {y}, "first");
  graph.emit(ScaleOp({.alpha = 2}), {unread}, "second");
  remove_dead(graph, kEverything);
  EXPECT_EQ(operators(graph), (std::vector<std::string>{"dense"}));
}

TEST(Passes, AGroupedConvolutionKeepsItsOwnGradient) {
  const Network network({8, 8, 2}, {Conv2d{.filters = 8, .groups = 2}, ReLU{}, MaxPool2d{},
                                    Flatten{}, Dense{.units = 3}});
  const std::vector<std::string> run = launches(network, layers);
  EXPECT_NE(std::find(run.begin(), run.end(), "conv2d_grad_weight 'max_pool2d_1'"), run.end());
}

/// Whoever has both of a pooled convolution's gradients gets them; others the gradients of its
/// parts.
TEST(Passes, GradientsOfPooledConvolutionsAreFusedWhereTheBackendHasBoth) {
  const Network network({12, 12, 3},
                        {Conv2d{.filters = 8}, ReLU{}, MaxPool2d{}, Conv2d{.filters = 8}, ReLU{},
                         MaxPool2d{}, Flatten{}, Dense{.units = 3}});
  const auto backward = [&](NullBackend::Supported supported) {
    std::vector<std::string> run = launches(network, supported);
    std::erase_if(run, [](const std::string& name) {
      return name.find("grad") == std::string::npos || name.find("pool2d_2") == std::string::npos;
    });
    return run;
  };
  EXPECT_EQ(backward(layers), (std::vector<std::string>{"conv2d_pool_grad_input 'max_pool2d_2'",
                                                        "conv2d_pool_grad 'max_pool2d_2'"}));
  const std::vector<std::string> parts{"activation_grad 'max_pool2d_2'",
                                       "max_pool2d_grad 'max_pool2d_2'",
                                       "conv2d_grad_input 'max_pool2d_2'",
                                       "conv2d_grad_weight 'max_pool2d_2'",
                                       "bias_grad 'max_pool2d_2'"};
  EXPECT_EQ(backward(
                [](const Op& op) { return layers(op) && op.name() != "conv2d_pool_grad_input"; }),
            parts);
  EXPECT_EQ(backward([](const Op& op) { return layers(op) && op.name() != "conv2d_pool_grad"; }),
            parts);
}

TEST(Passes, AnUnknownNameIsAnError) {
  try {
    launches(workloads::mnist_cnn(), everything, {"fuse_all"});
    FAIL();
  } catch (const Error& error) {
    const std::string text = error.what();
    EXPECT_TRUE(text.starts_with("unknown pass 'fuse_all'; expected one of ")) << text;
    for (const std::string_view name :
         {"remove_dead", "share_concats", "store_f16", "overlap_sums"}) {
      EXPECT_NE(text.find(name), std::string::npos) << name;
    }
  }
}

}  // namespace
}  // namespace linnet::testing
