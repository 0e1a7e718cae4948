// SPDX-License-Identifier: Apache-2.0
#include "plan/passes/passes.h"

#include <gtest/gtest.h>

#include <fmt/ranges.h>

#include <cmath>

#include "built_graph.h"
#include "fusions/fusions.h"
#include "needed_passes.h"
#include "networks/networks.h"
#include "ops/arithmetic/arithmetic.h"
#include "step_operators.h"

namespace linnet::testing {
namespace {

/// Layer by layer, the whole training step of mnist-cnn is thirteen operators.
TEST(Passes, MnistCnnIsFusedLayerByLayer) {
  LINNET_NEEDS_PASSES("fuse_conv2d_pool", "fuse_epilogue", "fuse_gather_scale",
                      "fuse_softmax_cross_entropy");
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
  if (pass == "cancel_reshapes") {
    const Conv1d steps{.filters = 4, .kernel = 3};
    return Network({28, 28, 1}, {Rescale{}, Reshape{{28, 28}}, steps, ReLU{}, steps, Flatten{},
                                 Dense{.units = 10}});
  }
  if (pass == "fuse_attention") {
    return Network({28, 28, 1}, {Rescale{}, Reshape{{28, 28}}, MultiHeadAttention{.heads = 4},
                                 MultiHeadAttention{.heads = 2, .causal = true, .dropout = 0.2},
                                 Flatten{}, Dense{.units = 10}});
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
  LINNET_NEEDS_PASSES("fuse_epilogue");
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
  LINNET_NEEDS_PASSES("fuse_batch_norm", "join_norms", "fuse_norm_conv2d");
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
  LINNET_NEEDS_PASSES("fuse_batch_norm");
  const Dataset digits = datasets::digits(64, 0, 4).train;
  const std::vector<float> all = weights_after(dense_blocks(), digits, {.steps = 3});
  ASSERT_NE(all, weights_after(dense_blocks(), digits, {.steps = 0}));  // it trains
  int compared = 0;
  for (const TrainingPass& pass : all_passes().of_training()) {
    const std::vector<std::string> disabled{std::string(pass.name)};
    if (cpu_operators(dense_blocks(), {}) == cpu_operators(dense_blocks(), disabled)) continue;
    ++compared;
    EXPECT_EQ(weights_after(dense_blocks(), digits, {.steps = 3, .disabled_passes = disabled}), all)
        << pass.name;
  }
  EXPECT_GE(compared, 3);
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

TEST(Passes, AChainThatNobodyReadsIsRemovedWhole) {
  Graph graph;
  const Value y = product(graph);
  keep(graph, y, 2);
  const Value unread = graph.emit(ScaleOp({.alpha = 2}), {y}, "first");
  graph.emit(ScaleOp({.alpha = 2}), {unread}, "second");
  remove_dead(graph, kEverything);
  EXPECT_EQ(operators(graph), (std::vector<std::string>{"dense"}));
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
