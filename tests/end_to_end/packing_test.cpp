// SPDX-License-Identifier: Apache-2.0
// How well the planner packs the arena of every network of the zoo.
#include <gtest/gtest.h>
#include <linnet/zoo.h>

#include <algorithm>
#include <array>
#include <map>
#include <string_view>

#include "fixtures.h"
#include "model/model_state.h"
#include "needed_passes.h"
#include "networks/networks.h"
#include "plan/least_arena.h"

namespace linnet::testing {
namespace {

struct Packed {
  std::string name;
  Network network;
};

std::vector<Packed> networks() {
  const zoo::ImageOptions small{.sample = {64, 64, 3}};
  const std::array<std::int64_t, 2> hidden{64, 32};
  std::vector<Packed> all{{"mlp", zoo::mlp(30, hidden, Tanh{}, 7)},
                          {"cifar_resnet", zoo::cifar_resnet(20)},
                          {"small_resnet", zoo::small_resnet()},
                          {"resnet18", zoo::resnet18()},
                          {"resnet34", zoo::resnet34()},
                          {"resnet50", zoo::resnet50()},
                          {"resnet101", zoo::resnet101()},
                          {"vgg11", zoo::vgg11({.batch_norm = true})},
                          {"vgg16", zoo::vgg16()},
                          {"densenet121", zoo::densenet121(small)},
                          {"densenet169", zoo::densenet169(small)},
                          {"gru_text", zoo::gru_text()},
                          {"lstm_text", zoo::lstm_text()}};
  return all;
}

/// Within 5 % of what is alive at the same time, training and predicting.
TEST(Packing, IsNearTheLeastForEveryNetworkOfTheZoo) {
  for (const Packed& packed : networks()) {
    const Model model(packed.network, {.device = "cpu", .threads = 1});
    Backend& backend = *model.state().backend;
    const NetworkDefinition& definition = packed.network.definition();
    const StepData data = assumed_data(definition, Loss::cross_entropy);
    const Supports supports = supports_of(backend);
    const auto check = [&](const char* what, Graph graph) {
      const auto program = backend.prepare(std::move(graph), {});
      const std::size_t arena = program->plan().bytes[static_cast<std::size_t>(Storage::arena)];
      const std::size_t least = least_arena_bytes(program->plan());
      EXPECT_GE(arena, least) << packed.name << ", " << what;
      EXPECT_LE(arena, least + least / 20) << packed.name << ", " << what;
    };
    check("training",
          training_step(definition, data, {.batch = 8, .optimizer = resolve({}, 1, 1)}, supports));
    check("predicting",
          prediction_step(definition, data.parts[0].record.dtype, 8, OutputForm::plain, supports));
  }
}

/// Activations lie over their operands, and gradients over dy, activations or what norms read.
TEST(Packing, ActivationsAndGradientsTakeTheirOperandsMemory) {
  LINNET_NEEDS_PASSES("fuse_batch_norm", "fuse_bias_grad");
  const Conv2d conv{.filters = 8, .padding = Padding2d::same()};
  const Network network({16, 16, 3}, {conv, BatchNorm{}, Tanh{}, conv, BatchNorm{}, ReLU{},
                                      Flatten{}, Dense{.units = 32}, GELU{}, Dense{.units = 5}});
  const Model model(network, {.device = "cpu", .threads = 1});
  Backend& backend = *model.state().backend;
  const StepData data = assumed_data(network.definition(), Loss::cross_entropy);
  const auto program = backend.prepare(training_step(network.definition(), data,
                                                     {.batch = 8, .optimizer = resolve({}, 1, 1)},
                                                     supports_of(backend)),
                                       {});
  const Plan& plan = program->plan();
  const auto root = [&](Value v) { return plan.values[static_cast<std::size_t>(v.id)].root; };
  std::map<std::string_view, std::array<int, 2>> found;  // of all, those in place
  for (const Node& node : plan.graph.nodes()) {
    if (node.op->in_place().empty()) continue;
    const int result = root(node.outputs.front());
    const bool taken = std::ranges::any_of(node.inputs, [&](Value v) { return root(v) == result; });
    ++found[node.op->name()][0];
    found[node.op->name()][1] += taken ? 1 : 0;
  }
  EXPECT_EQ(found["activation"], (std::array{2, 1}));  // GELU's gradient reads its operand
  for (const std::string_view name :
       {"activation_grad", "bias_activation_grad", "batch_norm_grad"}) {
    EXPECT_GT(found[name][0], 0) << name;
    EXPECT_EQ(found[name][1], found[name][0]) << name;
  }
}

}  // namespace
}  // namespace linnet::testing
