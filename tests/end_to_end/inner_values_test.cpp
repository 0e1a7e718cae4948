// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>

#include "counting_backend.h"
#include "data_sets.h"
#include "fixtures.h"
#include "message_of.h"
#include "model/model_state.h"

namespace linnet::testing {
namespace {

Network images_network() {
  return Network({6, 6, 2}, {Conv2d{.filters = 4}, BatchNorm{}, ReLU{}, MaxPool2d{}, Flatten{},
                             Dropout{.rate = 0.5}, Dense{.units = 5}, Tanh{}, Dense{.units = 3}});
}

Dataset images(std::int64_t count) {
  std::vector<float> values;
  for (std::int64_t i = 0; i < count * 72; ++i) {
    values.push_back(static_cast<float>(std::sin(0.37 * static_cast<double>(i))));
  }
  return Dataset({{"x", records(std::move(values), {6, 6, 2})}}, {});
}

/// With running statistics that are not those of the beginning.
Model images_model(const std::shared_ptr<Counts>& counts = std::make_shared<Counts>()) {
  Model model(make_state(
      images_network(),
      std::make_unique<CountingBackend>(open_backend({.device = "cpu", .threads = 2}), counts), 7));
  set_parameter(model, "batch_norm_1.running_mean", {0.1F, -0.2F, 0.05F, 0.3F});
  set_parameter(model, "batch_norm_1.running_var", {0.5F, 1.5F, 0.8F, 1.2F});
  return model;
}

TEST(ValueOf, IsWhatTheLayersUpToItGive) {
  Model model = images_model();
  const Dataset data = images(10);
  const std::vector<Layer> layers = {Conv2d{.filters = 4}, BatchNorm{}, ReLU{},
                                     MaxPool2d{},          Flatten{},   Dropout{.rate = 0.5},
                                     Dense{.units = 5},    Tanh{},      Dense{.units = 3}};
  const std::vector<std::string> names = {"conv2d_1",     "batch_norm_1", "relu_1",
                                          "max_pool2d_1", "flatten_1",    "dropout_1",
                                          "dense_1",      "tanh_1",       "dense_2"};
  for (std::size_t count = 1; count <= layers.size(); ++count) {
    Model first(Network({6, 6, 2}, {layers.begin(), layers.begin() + std::ptrdiff_t(count)}),
                {.device = "cpu"});
    for (const std::string& name : first.parameter_names()) {
      first.set_parameter(name, model.parameter(name));
    }
    const Tensor expected = first.predict(data, 4);
    const Tensor actual = model.value_of(names[count - 1], data, 4);
    ASSERT_EQ(actual.shape(), expected.shape()) << names[count - 1];
    for (std::size_t i = 0; i < actual.as<float>().size(); ++i) {
      ASSERT_NEAR(actual.as<float>()[i], expected.as<float>()[i], 1e-5) << names[count - 1];
    }
  }
  EXPECT_EQ(vector_of(model.value_of("dense_2", data, 10)), vector_of(model.predict(data, 10)));
}

TEST(ValueOf, OfALayerOfLayersIsItsLastOnes) {
  Model model(Network({3}, {Residual{.body = {Dense{.units = 3}, Tanh{}}}, Dense{.units = 2}}),
              {.device = "cpu"});
  const Dataset data({{"x", records(std::vector<float>{1, 2, 3, -1, 0, 2}, {3})}}, {});
  const Tensor inner = model.value_of("residual_1.tanh_1", data);
  const Tensor sum = model.value_of("residual_1", data);
  for (std::size_t i = 0; i < 6; ++i) {
    EXPECT_FLOAT_EQ(sum.as<float>()[i],
                    inner.as<float>()[i] + data.column("x").data.as<float>()[i]);
  }
}

TEST(ValueOf, OfARecurrentLayerIsWhatItReturns) {
  for (const bool sequences : {false, true}) {
    const Network network({2, 3}, {GRU{.units = 4, .return_sequences = sequences}, Tanh{}});
    Model model(network, {.device = "cpu", .seed = 3});
    const Dataset data({{"x", records(std::vector<float>{1, 2, 3, -1, 0, 2}, {2, 3})}}, {});
    const Tensor states = model.value_of("gru_1", data);
    const Tensor outputs = model.predict(data);
    EXPECT_EQ(states.shape(), outputs.shape());
    for (std::size_t i = 0; i < outputs.as<float>().size(); ++i) {
      EXPECT_NEAR(std::tanh(states.as<float>()[i]), outputs.as<float>()[i], 1e-6);
    }
    const NetworkSummary summary = summarize(network, 1, {}, {.device = "cpu"});
    EXPECT_EQ(summary.layers[0].output, network.output_shape());
  }
}

TEST(ValueOf, NamesLayersLikeIt) {
  Model model = images_model();
  EXPECT_EQ(message_of([&] { model.value_of("dense_3", images(1)); }),
            "the network has no layer 'dense_3'; it has 'dense_1', 'dense_2'");
  EXPECT_EQ(message_of([&] { model.value_of("head", images(1)); }),
            "the network has no layer 'head'; it has 'conv2d_1', 'batch_norm_1', 'relu_1', "
            "'max_pool2d_1', 'flatten_1', 'dropout_1', 'dense_1', 'tanh_1', ...");
}

/// Smooth, so that differences are gradients.
TEST(InputGradient, AgreesWithDifferences) {
  Model model(Network({6, 6, 2}, {Conv2d{.filters = 4}, BatchNorm{}, Tanh{}, AvgPool2d{}, Flatten{},
                                  Dropout{.rate = 0.5}, Dense{.units = 3}}),
              {.device = "cpu", .seed = 7});
  set_parameter(model, "batch_norm_1.running_mean", {0.1F, -0.2F, 0.05F, 0.3F});
  set_parameter(model, "batch_norm_1.running_var", {0.5F, 1.5F, 0.8F, 1.2F});
  const Dataset data = images(5);
  const Tensor gradient = model.input_gradient(data, {.index = 1}, 2);
  ASSERT_EQ(gradient.shape(), Shape({5, 6, 6, 2}));
  const double h = 1e-2;
  double worst = 0;
  double largest = 0;
  for (std::int64_t at = 0; at < 360; at += 7) {
    const auto moved = [&](double by) {
      Tensor x = data.column("x").data.clone();
      x.as_writable<float>()[static_cast<std::size_t>(at)] += static_cast<float>(by);
      const Tensor y = model.predict(Dataset({{"x", x}}, {}));
      return static_cast<double>(y.as<float>()[static_cast<std::size_t>(at / 72 * 3 + 1)]);
    };
    const double g = gradient.as<float>()[static_cast<std::size_t>(at)];
    worst = std::max(worst, std::abs((moved(h) - moved(-h)) / (2 * h) - g));
    largest = std::max(largest, std::abs(g));
  }
  EXPECT_LT(worst, 2e-3 * largest + 1e-4);
  EXPECT_GT(largest, 0.05);
}

/// y = tanh(3 a - 2 b) and z = a.
Model two_inputs_model() {
  FunctionalNetwork functional;
  const Expression a = functional.input("a", {1});
  const Expression b = functional.input("b", {1});
  return Model(functional.build({{"y", tanh(3 * a - 2 * b)}, {"z", a * 1}}), {.device = "cpu"});
}

TEST(InputGradient, IsByTheNamedInputOfTheNamedOutput) {
  Model model = two_inputs_model();
  // Bytes become floats, as in a prediction.
  const Dataset data({{"a", records(std::vector<std::uint8_t>{0, 1, 2}, {1})},
                      {"b", records(std::vector<float>{0, 1.5F, 2.75F}, {1})}},
                     {});
  const Tensor by_b = model.input_gradient(data, {.by = "b", .of = "y"});
  const Tensor by_a = model.input_gradient(data, {.by = "a", .of = "y"});
  for (std::size_t i = 0; i < 3; ++i) {
    const double a = data.column("a").data.as<std::uint8_t>()[i];
    const double t = std::tanh(3 * a - 2 * data.column("b").data.as<float>()[i]);
    EXPECT_NEAR(by_b.as<float>()[i], -2 * (1 - t * t), 1e-6);
    EXPECT_NEAR(by_a.as<float>()[i], 3 * (1 - t * t), 1e-6);
  }
  EXPECT_EQ(vector_of(model.input_gradient(data, {.by = "a", .of = "z"})),
            (std::vector<float>{1, 1, 1}));
  EXPECT_EQ(message_of([&] { model.input_gradient(data, {.by = "b", .of = "z"}); }),
            "the output 'z' does not depend on the input 'b'");
  EXPECT_EQ(message_of([&] { model.input_gradient(data, {.by = "c"}); }),
            "the network has no input 'c'; it has 'a', 'b'");
  EXPECT_EQ(message_of([&] { model.input_gradient(data, {.index = 1}); }),
            "expected an index below 1 for the output 'y'; got 1");
}

TEST(InnerValues, ASecondCallCompilesAndAllocatesNothing) {
  const auto counts = std::make_shared<Counts>();
  Model model = images_model(counts);
  const Dataset data = images(5);
  const auto calls = [&](std::int64_t index) {
    model.value_of("relu_1", data, 4);
    model.input_gradient(data, {.index = index}, 4);
  };
  *counts = {};
  calls(0);
  EXPECT_EQ(counts->programs, 4U);
  *counts = {};
  calls(2);
  EXPECT_EQ(*counts, Counts{});
}

TEST(InnerValues, SeeWeightsThatChange) {
  Model model = images_model();
  const Dataset data = images(4);
  const std::vector<float> value = vector_of(model.value_of("dense_1", data));
  const std::vector<float> gradient = vector_of(model.input_gradient(data));
  set_parameter(model, "dense_1.bias", {1, 2, 3, 4, 5});
  EXPECT_NE(vector_of(model.value_of("dense_1", data)), value);
  EXPECT_NE(vector_of(model.input_gradient(data)), gradient);
}

}  // namespace
}  // namespace linnet::testing
