// SPDX-License-Identifier: Apache-2.0
// Model files of older formats, and what today's know of their layers.
#include <gtest/gtest.h>
#include <linnet/expression.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "../message_of.h"
#include "fixtures.h"

namespace linnet::testing {
namespace {

using Json = nlohmann::ordered_json;

const std::filesystem::path kFixture = LINNET_FORMAT_FIXTURES;

/// tests/fixtures/format2/network.toml, by which a command of format 2 made the file.
Network as_described() {
  const Initializer he_normal{Initializer::Kind::he_normal};
  return Network(
      {28, 28, 1},
      {Normalize{.mean = {0.1}, .std = {0.5}},
       Conv2d{.filters = 4,
              .stride = 2,
              .padding = Padding2d::same(),
              .bias = false,
              .weight_init = he_normal},
       BatchNorm{},
       LeakyReLU{},
       SeparableConv2d{.filters = 6,
                       .stride = 2,
                       .padding = Padding2d::all(1),
                       .weight_init = {Initializer::Kind::glorot_normal}},
       GroupNorm{.groups = 2},
       SiLU{},
       MaxPool2d{.size = 2, .stride = 1},
       ConvTranspose2d{.filters = 4,
                       .stride = {2, 1},
                       .weight_init = {Initializer::Kind::he_uniform},
                       .bias_init = {Initializer::Kind::constant, 0.5}},
       ELU{},
       AvgPool2d{.size = 3, .stride = 2, .padding = Padding2d::all(1), .count_include_pad = false},
       AdaptiveAvgPool2d{.output = 4},
       Reshape{.sample = {16, 4}},
       PositionalEmbedding{},
       Conv1d{.filters = 4, .padding = Padding2d::same()},
       MaxPool1d{.size = 2},
       TransformerEncoderLayer{.heads = 2,
                               .feed_forward = 6,
                               .dropout = 0.1,
                               .activation = GELU{},
                               .norm_first = true,
                               .name = "transformer_encoder_1"},
       LayerNorm{},
       Bidirectional{.layer = GRU{.units = 3, .return_sequences = true}},
       MultiHeadAttention{.heads = 3, .causal = true},
       Dense{.units = 5},
       Softplus{.beta = 2},
       LSTM{.units = 4, .return_sequences = true, .reverse = true},
       SimpleRNN{.units = 4, .activation = SimpleRNN::Activation::relu, .return_sequences = true},
       AvgPool1d{},
       Dropout{.rate = 0.2},
       HardSwish{},
       Flatten{},
       Dense{.units = 8, .name = "middle"},
       HardTanh{.low = -3, .high = 3},
       Dense{.units = 10, .name = "scores"},
       LogSoftmax{}});
}

Dataset two_images() {
  std::vector<std::uint8_t> pixels;
  for (int i = 0; i < 2 * 28 * 28; ++i)
    pixels.push_back(static_cast<std::uint8_t>((i * 7 + 3) % 251));
  return Dataset({{"image", Tensor(std::move(pixels), {2, 28, 28, 1})}});
}

TEST(ModelFormat, Format2PredictsTheSameBits) {
  Model old = Model::load(kFixture / "model.safetensors", {.device = "cpu"});
  EXPECT_TRUE(old.network().definition().layers.empty());
  Model today(as_described(), {.device = "cpu"});
  ASSERT_EQ(today.parameter_names(), old.parameter_names());
  today.set_weights(old.weights());
  const Dataset images = two_images();
  const Tensor predicted = old.predict(images);
  EXPECT_EQ(vector_of(predicted), vector_of(today.predict(images)));
  // What the command of format 2 predicted, on whatever processor.
  const Tensor then = read_npy(kFixture / "predictions.npy");
  const std::vector<float> probabilities = vector_of(old.predict_probabilities(images));
  ASSERT_EQ(then.shape(), (Shape{2, 10}));
  for (std::size_t i = 0; i < probabilities.size(); ++i) {
    EXPECT_NEAR(probabilities[i], then.as<float>()[i], 1e-5) << i;
  }
  // And it is written as a file of today.
  const Network again = Network::from_json(old.network().to_json());
  EXPECT_EQ(again.to_json(), old.network().to_json());
}

Json layers_of(const Network& network) { return Json::parse(network.to_json())["layers"]; }

TEST(ModelFormat, RecordsNameEveryLayerWithAllItsFields) {
  const Network network(
      {6, 6, 3},
      {Residual{.body = {Conv2d{.filters = 3, .padding = Padding2d::same(), .name = "c"}, ReLU{}}},
       Concat{.branches = {{}, {Residual{.body = {ReLU{}}}}}}, Flatten{}, Dense{.units = 2}});
  const Json layers = layers_of(network);
  ASSERT_EQ(layers.size(), 4U);
  EXPECT_EQ(layers[0]["name"], "residual_1");
  EXPECT_EQ(layers[0]["type"], "residual");
  EXPECT_EQ(layers[0]["body"][0]["name"], "residual_1.c");
  EXPECT_EQ(layers[0]["body"][0]["padding"], "same");
  EXPECT_EQ(layers[0]["body"][0]["weight_init"], "glorot_uniform");
  EXPECT_EQ(layers[0]["body"][1]["name"], "residual_1.relu_1");
  EXPECT_EQ(layers[0]["shortcut"], Json::array());
  EXPECT_EQ(layers[1]["branches"][1][0]["body"][0]["name"], "concat_1.residual_1.relu_1");
  EXPECT_EQ(layers[3].dump(), R"({"name":"dense_1","type":"dense","units":2,"bias":true,)"
                              R"("weight_init":"glorot_uniform","bias_init":0.0})");
  EXPECT_EQ(layers_of(Network::from_json(network.to_json())), layers);
}

TEST(ModelFormat, RecordsKnowBlocksAndLayersOfTheUsers) {
  FunctionalNetwork functional;
  const Block shared = block("d", {Dense{.units = 3}, ReLU{}});
  const CustomLayer own{.kind = "double", .function = [](const Expression& x, LayerWeights&) {
                          return (x | Dense{.units = 3}) * 2;
                        }};
  const Expression x = functional.input("x", {3});
  const Network network = functional.build({{"y", shared(shared(x) | own)}});
  const Json layers = layers_of(network);
  ASSERT_EQ(layers.size(), 3U);
  EXPECT_EQ(layers[0]["type"], "block");
  EXPECT_EQ(layers[0]["layers"][0]["name"], "d.dense_1");
  EXPECT_EQ(layers[1]["type"], "custom");
  EXPECT_EQ(layers[1]["name"], "double_1");
  EXPECT_EQ(layers[1]["layers"][0]["type"], "dense");
  EXPECT_EQ(layers[2]["name"], "d_2");
  EXPECT_EQ(layers[2]["weights"], "d");
  EXPECT_EQ(layers_of(Network::from_json(network.to_json())), layers);
}

TEST(ModelFormat, RecordsFollowAnotherHead) {
  const Network network({3}, {Residual{.body = {Dense{.units = 3, .name = "fc"}}, .name = "r"}});
  const Json layers = layers_of(network.with_head("r.fc", Dense{.units = 3, .bias = false}));
  ASSERT_EQ(layers.size(), 1U);
  EXPECT_EQ(layers[0]["body"][0]["name"], "r.fc");
  EXPECT_EQ(layers[0]["body"][0]["bias"], false);
}

TEST(ModelFormat, DamagedRecordsAreRefused) {
  const Json whole =
      Json::parse(Network({3}, {Dense{.units = 2}, Dropout{.rate = 0.25}}).to_json());
  const auto error = [&](const auto& change) {
    Json json = whole;
    change(json["layers"]);
    return message_of([&] { Network::from_json(json.dump()); });
  };
  const std::string damaged = "the network description is damaged: ";
  EXPECT_EQ(error([](Json& layers) { layers[0]["type"] = "dens"; }),
            damaged + "unknown layer type 'dens' in a layer's record; did you mean 'dense'?");
  EXPECT_EQ(error([](Json& layers) { layers[1]["rate"] = 2; }),
            damaged + "'rate' in a layer's record must be in [0, 1); got 2");
  EXPECT_EQ(error([](Json& layers) { layers[0]["units"] = "2"; }),
            damaged + "'units' in a layer's record must be an integer; got a string");
  EXPECT_EQ(error([](Json& layers) { layers[0]["more"] = 1; }),
            damaged +
                "unknown key 'more' in a layer's record; dense takes units, bias, "
                "weight_init, bias_init, name");
  EXPECT_EQ(error([](Json& layers) { layers = 3; }),
            damaged + "expected a list of layers; got a number");
  EXPECT_EQ(error([](Json& layers) { layers[0] = nullptr; }),
            damaged + "a layer's record must be a table such as {type = \"relu\"}");
  // The graph stays the truth: a record that is another layer changes nothing.
  Json other = whole;
  other["layers"][0]["units"] = 7;
  EXPECT_EQ(Network::from_json(other.dump()).output_shape(), Shape{2});
}

TEST(ModelFormat, DeepLayersAreCutAndRead) {
  std::vector<Layer> layers{ReLU{}};
  for (int i = 0; i < 40; ++i) layers = {Residual{.body = layers}};
  const std::string json = Network({3}, layers).to_json();
  EXPECT_EQ(Network::from_json(json).to_json(), json);
}

}  // namespace
}  // namespace linnet::testing
