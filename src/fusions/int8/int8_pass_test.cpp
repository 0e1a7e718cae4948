// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <linnet/quantize.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "end_to_end/fixtures.h"
#include "end_to_end/needed_passes.h"
#include "end_to_end/run_prediction.h"
#include "fusions/int8/conv2d_int8.h"
#include "message_of.h"
#include "temporary_folder.h"

namespace linnet::testing {
namespace {

/// Every form that is computed on levels: a stem, a pooling, two kinds of residual, a mean, dense.
Network residual_network() {
  return Network(
      {28, 28, 1},
      {Rescale{}, Conv2d{.filters = 8, .kernel = 5, .stride = 2}, BatchNorm{}, ReLU{}, MaxPool2d{},
       Residual{.body = {Conv2d{.filters = 8, .padding = Padding2d::same()}, BatchNorm{}}}, ReLU{},
       Residual{.body = {Conv2d{.filters = 12, .padding = Padding2d::same()}, BatchNorm{}},
                .shortcut = {Conv2d{.filters = 12, .kernel = 1}, BatchNorm{}}},
       ReLU{}, GlobalAvgPool2d{}, Dense{.units = 16}, ReLU{}, Dense{.units = 10}});
}

Model trained(const Network& network, const Dataset& digits) {
  Model model(network, {.device = "cpu", .threads = 2});
  train(model, digits, {.epochs = 2, .batch = 16, .optimizer = Adam{.learning_rate = 1e-2}});
  return model;
}

/// The names of a prediction's operators; `refused`: one that the device does not have.
Graph prediction_of(const Model& model, std::string_view refused = "") {
  const Supports supports = supports_of(*model.state().backend);
  return prediction_step(model.state().definition(), DType::f32, 8, OutputForm::plain,
                         [&](const Op& op, auto inputs, auto outputs) {
                           return op.name() != refused && supports(op, inputs, outputs);
                         });
}

std::int64_t count(const Graph& graph, std::string_view name) {
  return std::ranges::count_if(graph.nodes(),
                               [&](const Node& node) { return node.op->name() == name; });
}

TEST(Quantize, EveryLayerComputesOnLevels) {
  LINNET_NEEDS_PASSES("fuse_epilogue", "fuse_batch_norm");
  const Dataset digits = datasets::digits(256, 0, 4).train;
  Model model = trained(residual_network(), digits);
  const Model int8 = quantize(model, digits, {.samples = 100});
  EXPECT_EQ(quantized_layers(model), 0);
  EXPECT_EQ(quantized_layers(int8), 6);
  const Graph graph = prediction_of(int8);
  EXPECT_EQ(count(graph, "conv2d_int8"), 6);
  EXPECT_EQ(count(graph, "max_pool_int8"), 1);
  EXPECT_EQ(count(graph, "global_avg_pool_int8"), 1);
  // The image's and the mean's; all others are written by what computes them.
  EXPECT_EQ(count(graph, "quantize"), 2);
  EXPECT_EQ(count(graph, "quantize_weights"), 0);
  const auto to_levels = std::ranges::count_if(graph.nodes(), [](const Node& node) {
    const auto* op = dynamic_cast<const Conv2dInt8Op*>(node.op.get());
    return op != nullptr && op->attrs().to_levels;
  });
  EXPECT_EQ(to_levels, 5);
}

TEST(Quantize, LayersOfAnyActivationComputeOnLevels) {
  const Dataset digits = datasets::digits(64, 0, 4).train;
  const Network network({28, 28, 1}, {Conv2d{.filters = 4}, GELU{}, Flatten{}, Dense{.units = 40},
                                      Tanh{}, Dense{.units = 10}});
  Model int8 = quantize(Model(network, {.device = "cpu"}), digits);
  const Graph graph = prediction_of(int8);
  EXPECT_EQ(count(graph, "conv2d_int8"), 3);
  EXPECT_EQ(count(graph, "quantize_weights"), 0);
  const std::vector<float> samples = vector_of(first_input(digits).rows(0, 8).to(DType::f32));
  const std::vector<float> emulated =
      run_prediction(int8, prediction_of(int8, "conv2d_int8"), samples);
  const std::vector<float> outputs = run_prediction(int8, graph, samples);
  for (std::size_t i = 0; i < outputs.size(); ++i) EXPECT_NEAR(outputs[i], emulated[i], 0.05) << i;
}

TEST(Quantize, PredictionsAreThoseOfRoundedNumbers) {
  const Dataset digits = datasets::digits(256, 0, 4).train;
  Model model = trained(residual_network(), digits);
  Model int8 = quantize(model, digits, {.samples = 256});
  const std::vector<float> samples = vector_of(first_input(digits).rows(0, 8).to(DType::f32));
  const std::vector<float> exact = run_prediction(model, prediction_of(model), samples);
  const Graph rounded = prediction_of(int8, "conv2d_int8");
  EXPECT_EQ(count(rounded, "conv2d_int8"), 0);
  const std::vector<float> emulated = run_prediction(int8, rounded, samples);
  const std::vector<float> outputs = run_prediction(int8, prediction_of(int8), samples);
  double largest = 0;
  for (const float y : exact) largest = std::max(largest, std::abs(static_cast<double>(y)));
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    EXPECT_NEAR(outputs[i], emulated[i], 0.02 * largest) << i;  // single levels may differ
    EXPECT_NEAR(outputs[i], exact[i], 0.1 * largest) << i;
  }
  EXPECT_NEAR(evaluate(int8, digits).accuracy, evaluate(model, digits).accuracy, 0.02);
}

TEST(Quantize, IsSavedWithTheModel) {
  const Dataset digits = datasets::digits(128, 0, 4).train;
  Model model = trained(residual_network(), digits);
  model.set_class_names({"a", "b"});
  Model int8 = quantize(model, digits);
  EXPECT_EQ(int8.class_names(), model.class_names());
  EXPECT_EQ(int8.training_record(), model.training_record());
  const TemporaryFolder folder;
  int8.save(folder / "int8.safetensors");
  Model loaded = Model::load(folder / "int8.safetensors", {.threads = 1});
  EXPECT_EQ(quantized_layers(loaded), 6);
  EXPECT_EQ(vector_of(loaded.predict(digits)), vector_of(int8.predict(digits)));
  const Predictor predictor(loaded);
  EXPECT_EQ(vector_of(predictor.predict(first_input(digits).rows(0, 20))),
            vector_of(int8.predict(digits.rows(0, 20))));
}

TEST(Quantize, ADamagedScaleIsRefused) {
  const Dataset digits = datasets::digits(32, 0, 4).train;
  Model model(Network({28, 28, 1}, {Flatten{}, Dense{.units = 10}}), {.device = "cpu"});
  std::string json = quantize(model, digits).network().to_json();
  const std::string scale = "\"scale\":";
  const std::size_t at = json.find(scale);
  ASSERT_NE(at, std::string::npos);
  json.insert(at + scale.size(), "-");
  EXPECT_NE(message_of([&] { Network::from_json(json); }).find("expected a scale above 0"),
            std::string::npos);
}

TEST(Quantize, TrainsThroughTheRounding) {
  const Dataset digits = datasets::digits(256, 0, 4).train;
  Model model = trained(residual_network(), digits);
  Model int8 = quantize(model, digits);
  const double before = evaluate(int8, digits).loss;
  const std::vector<float> stem = parameter(int8, "conv2d_1.weight");
  train(int8, digits, {.epochs = 2, .batch = 16, .optimizer = Adam{.learning_rate = 1e-3}});
  EXPECT_LT(evaluate(int8, digits).loss, before);
  EXPECT_NE(parameter(int8, "conv2d_1.weight"), stem);
  EXPECT_EQ(quantized_layers(int8), 6);
}

TEST(Quantize, SaysWhatItCannotDo) {
  const Dataset digits = datasets::digits(32, 0, 4).train;
  Model model(Network({28, 28, 1}, {Flatten{}, Dense{.units = 10}}), {.device = "cpu"});
  const Model int8 = quantize(model, digits);
  EXPECT_EQ(message_of([&] { quantize(int8, digits); }), "the model is quantized already");
  const Model plain(Network({28, 28, 1}, {Flatten{}, ReLU{}}), {.device = "cpu"});
  EXPECT_EQ(message_of([&] { quantize(plain, digits); }),
            "the network has neither convolutions nor dense layers to quantize");
  EXPECT_EQ(message_of([&] { quantize(model, digits, {.samples = 0}); }),
            "expected at least 1 sample and a batch of at least 1; got 0 and 20");
}

TEST(Quantize, NamesTheValueThatIsNotFinite) {
  const Dataset digits = datasets::digits(32, 0, 4).train;
  Model model(Network({28, 28, 1}, {Flatten{}, Dense{.units = 3}, ReLU{}, Dense{.units = 10}}),
              {.device = "cpu"});
  set_parameter(model, "dense_1.bias", {0, std::numeric_limits<float>::quiet_NaN(), 0});
  const std::string message = message_of([&] { quantize(model, digits, {.samples = 8}); });
  EXPECT_EQ(message, "the samples 0 to 7 of 'digits' give nan in 'relu_1'");
}

}  // namespace
}  // namespace linnet::testing
