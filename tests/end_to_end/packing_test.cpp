// SPDX-License-Identifier: Apache-2.0
// How well the planner packs the arena of every network of the zoo.
#include <gtest/gtest.h>
#include <linnet/zoo.h>

#include "fixtures.h"
#include "model/model_state.h"
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

}  // namespace
}  // namespace linnet::testing
