// SPDX-License-Identifier: Apache-2.0
// Names and shapes of other libraries' weights (tests/fixtures/make_weight_names.py) against the
// rules: each has exactly one place.
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "convert/known_networks.h"
#include "convert/layouts.h"
#include "convert/name_rules.h"
#include "convert/network_layers.h"

namespace linnet {
namespace {

using Shapes = std::map<std::string, std::string>;

nlohmann::json listed_weights() {
  std::ifstream file(LINNET_WEIGHT_NAMES);
  return nlohmann::json::parse(file);
}

NetworkSizes published_sizes(const KnownNetwork& known, WeightNames names) {
  NetworkSizes sizes{.names = names};
  sizes.image = {known.side, known.side};
  sizes.classes = known.side > 0 ? 1000 : 3;
  sizes.steps = 7;
  sizes.vocabulary = 30;
  sizes.features = 5;
  sizes.units = 4;
  return sizes;
}

/// Returns what the rules say that a network's weights are there.
Shapes expected(const KnownNetwork& known, WeightNames names) {
  const Family& family = family_named(known.family);
  const Network network = known.make(published_sizes(known, names));
  const std::string separator = names == WeightNames::keras ? "/" : ".";
  Shapes shapes;
  for (const WeightLayer& layer : weight_layers(network.definition())) {
    const auto there = their_name(family, names, layer.name);
    if (!there) {
      ADD_FAILURE() << "no name for " << layer.name;
      continue;
    }
    for (const TheirTensor& tensor : their_tensors(layer, names, *there->rule, false)) {
      shapes[tensor_name(there->name, separator, tensor.role)] = to_string(tensor.shape);
    }
    const bool bias = names == WeightNames::keras && !there->rule->bias_into.empty();
    if (bias && !layer.has("bias")) {
      shapes[there->name + separator + "bias"] = to_string(Shape{layer.weights.at("weight")[0]});
    }
    // And back: what they call it is read as ours.
    const std::vector<std::string> ours = our_names(family, names, there->name);
    EXPECT_NE(std::ranges::find(ours, layer.name), ours.end()) << there->name;
  }
  return shapes;
}

TEST(WeightNames, AreThoseOfTheOtherLibraries) {
  int compared = 0;
  for (const nlohmann::json& entry : listed_weights()) {
    const auto name = entry.at("network").get<std::string>();
    Shapes listed;
    for (const auto& [weight, dims] : entry.at("weights").items()) {
      if (weight.ends_with("seed_generator_state")) continue;
      const std::string whole = "sequential/";  // of Keras's Sequential
      const std::size_t drop = weight.starts_with(whole) ? whole.size() : 0;
      listed[weight.substr(drop)] = to_string(Shape(dims.get<std::vector<std::int64_t>>()));
    }
    for (const nlohmann::json& library : entry.at("names")) {
      const std::vector<std::string> all = weight_names();
      const auto place = std::ranges::find(all, library.get<std::string>());
      const auto names = static_cast<WeightNames>(place - all.begin());
      SCOPED_TRACE(name + " of " + *place);
      EXPECT_EQ(expected(known_network(name), names), listed);
      ++compared;
    }
  }
  // torchvision, timm, texts of PyTorch and Keras, Keras
  EXPECT_EQ(compared, 18 + 20 + 2 + 2 + 5);
}

TEST(WeightNames, PatternsCarryNumbersOver) {
  EXPECT_EQ(renamed("conv3_block12_2_conv", "conv{s+1}_block{b+1}_{k}_conv",
                    "layer{s}.{b}.conv{k}"),
            "layer2.11.conv2");
  EXPECT_EQ(renamed("layer2.11.conv2", "layer{s}.{b}.conv{k}", "conv{s+1}_block{b+1}_{k}_conv"),
            "conv3_block12_2_conv");
  EXPECT_EQ(renamed("layer2.11.conv", "layer{s}.{b}.conv{k}", "x"), std::nullopt);
  EXPECT_EQ(renamed("layer2.-1.conv1", "layer{s}.{b}.conv{k}", "x"), std::nullopt);
  EXPECT_EQ(renamed("layer2.1.conv1.more", "layer{s}.{b}.conv{k}", "x"), std::nullopt);
  EXPECT_EQ(renamed("conv0_block1_1_conv", "conv{s+2}_block{b+1}_{k}_conv", "layer{s}.{b}.conv{k}"),
            std::nullopt);
}

}  // namespace
}  // namespace linnet
