// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>

#include "fixtures.h"
#include "model/model_state.h"

namespace linnet::testing {
namespace {

Network small_resnet() {
  const auto conv = [](std::int64_t filters) {
    return Conv2d{.filters = filters, .padding = Padding2d::same(), .bias = false};
  };
  return Network(
      {28, 28, 1},
      {Rescale{}, Conv2d{.filters = 8, .kernel = 4, .stride = 4, .bias = false}, BatchNorm{},
       ReLU{}, Residual{.body = {conv(8), BatchNorm{}, ReLU{}, conv(8), BatchNorm{}}}, ReLU{},
       Residual{.body = {conv(16), BatchNorm{}},
                .shortcut = {Conv2d{.filters = 16, .kernel = 1, .bias = false}, BatchNorm{}},
                .name = "wide"},
       ReLU{}, GlobalAvgPool2d{}, Dense{.units = 10}});
}

std::string network_error(std::vector<Layer> layers) {
  try {
    Network({8, 8, 4}, std::move(layers));
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(Residual, AddsItsBodyAndItsShortcut) {
  const Conv2d twice{.filters = 1,
                     .kernel = 1,
                     .weight_init = {Initializer::Kind::constant, 2},
                     .bias_init = {Initializer::Kind::constant, 0.5}};
  const Dataset data({{"x", records(std::vector<float>{1, -2, 3, -4}, {2, 2, 1})}});
  Model identity(Network({2, 2, 1}, {Residual{.body = {twice}}}), {.device = "cpu"});
  EXPECT_EQ(vector_of(identity.predict(data)), (std::vector<float>{3.5F, -5.5F, 9.5F, -11.5F}));
  Model both(Network({2, 2, 1}, {Residual{.body = {twice}, .shortcut = {ReLU{}, twice}}}),
             {.device = "cpu"});
  EXPECT_EQ(vector_of(both.predict(data)), (std::vector<float>{5, -3, 13, -7}));
}

TEST(Residual, NamesItsParametersByItsOwnNameAndTheLayers) {
  const Network network(
      {8, 8, 4}, {Conv2d{.filters = 4, .kernel = 1},
                  Residual{.body = {Conv2d{.filters = 4, .kernel = 1}, ReLU{},
                                    Residual{.body = {BatchNorm{}}, .name = "inner"},
                                    Conv2d{.filters = 4, .kernel = 1, .bias = false}},
                           .shortcut = {Conv2d{.filters = 4, .kernel = 1, .bias = false}}},
                  Residual{.body = {Conv2d{.filters = 4, .kernel = 1, .bias = false, .name = "a"}},
                           .name = "block"},
                  Conv2d{.filters = 4, .kernel = 1, .bias = false}});
  std::vector<std::string> names;
  for (const ParameterSpec& spec : network.definition().parameters) names.push_back(spec.name);
  EXPECT_EQ(names,
            (std::vector<std::string>{
                "conv2d_1.weight", "conv2d_1.bias", "residual_1.conv2d_1.weight",
                "residual_1.conv2d_1.bias", "residual_1.inner.batch_norm_1.weight",
                "residual_1.inner.batch_norm_1.bias", "residual_1.inner.batch_norm_1.running_mean",
                "residual_1.inner.batch_norm_1.running_var", "residual_1.conv2d_2.weight",
                "residual_1.shortcut.conv2d_1.weight", "block.a.weight", "conv2d_2.weight"}));
}

TEST(Residual, ErrorsNameTheLayerAndTheShapes) {
  EXPECT_EQ(network_error({Residual{.body = {Conv2d{.filters = 6}}, .name = "block"}}),
            "[residual 'block'] expected a body and a shortcut of one output shape; got body=(N, "
            "6, 6, 6), shortcut=(N, 8, 8, 4)");
  // The shapes of one dimension less would fit an addition that repeats its second operand.
  EXPECT_EQ(network_error({Residual{.body = {ReLU{}}, .shortcut = {Flatten{}}}}),
            "[residual 'residual_1'] expected a body and a shortcut of one output shape; got "
            "body=(N, 8, 8, 4), shortcut=(N, 256)");
  EXPECT_EQ(network_error({Residual{}}),
            "[residual 'residual_1'] expected a body of at least one layer");
  EXPECT_EQ(network_error({Residual{.body = {Conv2d{.filters = 6, .kernel = 9, .name = "c"}}}}),
            "[conv2d 'residual_1.c'] kernel (9, 9) is larger than the padded input (8, 8); got "
            "x=(N, 8, 8, 4), w=(6, 9, 9, 4)");
  EXPECT_EQ(network_error({Residual{.body = {ReLU{.name = "a"}, ReLU{.name = "a"}}}}),
            "[relu 'residual_1.a'] expected a name of its own; another layer has this name");
}

TEST(Residual, SurvivesJson) {
  const Network network = small_resnet();
  const Network read = Network::from_json(network.to_json());
  EXPECT_EQ(read.to_json(), network.to_json());
  const Dataset data = datasets::digits(4, 0, 1).train;
  Model first(network, {.device = "cpu", .seed = 4});
  Model second(read, {.device = "cpu", .seed = 4});
  EXPECT_EQ(vector_of(first.predict(data)), vector_of(second.predict(data)));
}

TEST(Residual, IsSummedUpLayerByLayer) {
  const NetworkSummary summary = summarize(small_resnet(), 16);
  EXPECT_EQ(summary.parameters, small_resnet().parameters());
  std::int64_t parameters = 0;
  std::vector<std::string> names;
  for (const LayerSummary& layer : summary.layers) {
    parameters += layer.parameters;
    names.push_back(layer.name);
  }
  EXPECT_EQ(parameters, summary.parameters);
  for (const char* name : {"residual_1.conv2d_2", "residual_1", "wide.shortcut.conv2d_1", "wide"}) {
    EXPECT_EQ(std::count(names.begin(), names.end(), name), 1) << name;
  }
}

TEST(Residual, Learns) {
  const Splits digits = datasets::digits(600, 200, 5);
  Model model(small_resnet(), {.device = "cpu"});
  const History history =
      train(model, digits.train,
            {.epochs = 8, .batch = 16, .optimizer = Adam{.learning_rate = 5e-3}}, &digits.test);
  EXPECT_LT(history.epochs.back().train.loss, 0.5 * history.epochs.front().train.loss);
  EXPECT_GT(history.epochs.back().test.accuracy, 0.8);
}

}  // namespace
}  // namespace linnet::testing
