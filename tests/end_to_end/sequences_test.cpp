// SPDX-License-Identifier: Apache-2.0
// Sequences of different length against PyTorch's packed sequences and masks
// (tests/fixtures/make_sequence_fixtures.py).
#include <gtest/gtest.h>
#include <linnet/linnet.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "message_of.h"
#include "nn/definition.h"
#include "weights.h"

namespace linnet::testing {
namespace {

constexpr std::int64_t kSamples = 5;
constexpr std::int64_t kSteps = 6;
constexpr std::int64_t kFeatures = 6;
constexpr std::int64_t kVocabulary = 11;
const std::vector<std::int32_t> kLengths{6, 1, 4, 3, 5};
const std::vector<std::int32_t> kLabels{0, 2, 1, 1, 0};
const std::vector<float> kWeights{1, 0.5F, 2, 0, 3};

/// As the script's.
std::vector<float> wave(std::int64_t count, const std::string& name, double scale) {
  double phase = 0;
  for (const char letter : name) phase += letter;
  std::vector<float> values;
  for (std::int64_t i = 0; i < count; ++i) {
    values.push_back(static_cast<float>(scale * std::sin(0.7 * static_cast<double>(i) + phase)));
  }
  return values;
}

bool counts(std::int64_t sample, std::int64_t step) {
  return step < kLengths[static_cast<std::size_t>(sample)];
}

Tensor lengths() { return Tensor(kLengths); }

/// `padding` where no step counts.
Column series(float padding = 9) {
  std::vector<float> x = wave(kSamples * kSteps * kFeatures, "x", 1);
  for (std::int64_t i = 0; i < std::ssize(x); ++i) {
    const std::int64_t step = i / kFeatures;
    if (!counts(step / kSteps, step % kSteps)) x[static_cast<std::size_t>(i)] = padding;
  }
  return {.name = "x", .data = records(x, {kSteps, kFeatures}), .lengths = lengths()};
}

Column ids() {
  std::vector<std::int32_t> x;
  for (std::int64_t i = 0; i < kSamples * kSteps; ++i) {
    const auto id = static_cast<std::int32_t>(i * 7 % (kVocabulary - 1) + 1);
    x.push_back(counts(i / kSteps, i % kSteps) ? id : 0);
  }
  Tensor all = records(x, {kSteps});
  return {.name = "x", .data = all, .lengths = lengths_of(all)};
}

Dataset data_of_model(const std::string& name, float padding = 9) {
  Column target{.name = "y", .data = Tensor(kLabels)};
  if (name == "steps") {
    std::vector<float> y = wave(kSamples * kSteps * 2, "y", 1);
    for (std::int64_t i = 0; i < std::ssize(y); ++i) {
      const std::int64_t step = i / 2;
      if (!counts(step / kSteps, step % kSteps)) y[static_cast<std::size_t>(i)] = padding;
    }
    target.data = records(y, {kSteps, 2});
    target.lengths = lengths();
  }
  Dataset data({name == "ids" ? ids() : series(padding)}, {target});
  data.set_weights(Tensor(kWeights));
  return data;
}

Network network_of(const std::string& name) {
  const Dense dense{.units = name == "steps" ? 2 : 3};
  if (name == "ids") {
    return Network({kSteps},
                   {Lengths{}, Embedding{.vocabulary = kVocabulary, .features = kFeatures},
                    LSTM{.units = 4}, dense},
                   DType::i32);
  }
  std::vector<Layer> layers{Lengths{}};
  if (name == "gru") layers.emplace_back(GRU{.units = 4});
  if (name == "reversed") layers.emplace_back(SimpleRNN{.units = 4, .reverse = true});
  if (name == "stacked") {
    layers.emplace_back(Bidirectional{LSTM{.units = 4, .return_sequences = true}});
    layers.emplace_back(Bidirectional{GRU{.units = 3}});
  }
  if (name == "attention") {
    layers.emplace_back(MultiHeadAttention{.heads = 2});
    layers.emplace_back(GlobalAvgPool1d{});
  }
  if (name == "encoder") {
    layers.emplace_back(TransformerEncoderLayer{
        .heads = 2, .feed_forward = 8, .dropout = 0, .name = "transformer_encoder_1"});
    layers.emplace_back(GlobalMaxPool1d{});
  }
  if (name == "steps") layers.emplace_back(GRU{.units = 4, .return_sequences = true});
  layers.emplace_back(dense);
  return Network({kSteps, kFeatures}, layers);
}

Model model_of(const std::string& name) {
  Model model(network_of(name), {.device = "cpu", .threads = 1});
  for (const std::string& parameter : model.parameter_names()) {
    set_parameter(model, parameter,
                  wave(model.parameter_shape(parameter).elements(), parameter, 0.5));
  }
  return model;
}

/// The outputs, 0 for steps that don't count.
std::vector<float> outputs_of(Model& model, const std::string& name, const Dataset& data) {
  std::vector<float> y = vector_of(model.predict(data));
  if (name != "steps") return y;
  for (std::int64_t i = 0; i < std::ssize(y); ++i) {
    if (!counts(i / 2 / kSteps, i / 2 % kSteps)) y[static_cast<std::size_t>(i)] = 0;
  }
  return y;
}

nlohmann::json fixture() {
  std::ifstream file(LINNET_TORCH_FIXTURES "/sequences.json");
  return nlohmann::json::parse(file).at("models");
}

void expect_near(const std::vector<float>& got, const nlohmann::json& wanted, double tolerance,
                 const std::string& what) {
  ASSERT_EQ(got.size(), wanted.size()) << what;
  for (std::size_t i = 0; i < got.size(); ++i) {
    EXPECT_NEAR(got[i], wanted[i].get<double>(), tolerance) << what << ", number " << i;
  }
}

TEST(Sequences, AreThoseOfPyTorch) {
  const nlohmann::json models = fixture();
  for (const auto& [name, wanted] : models.items()) {
    const Dataset data = data_of_model(name);
    Model model = model_of(name);
    expect_near(outputs_of(model, name, data), wanted["before"], 2e-6, name + " before");
    Trainer trainer(model, {.optimizer = SGD{.learning_rate = 0.2}});
    for (const nlohmann::json& loss : wanted["losses"]) {
      const History history = trainer.fit(data, {.batch = kSamples, .shuffle = false});
      EXPECT_NEAR(history.epochs[0].train.loss, loss.get<double>(), 3e-6) << name;
    }
    expect_near(outputs_of(model, name, data), wanted["after"], 2e-5, name + " after");
  }
}

/// Nothing reads what lies after a sequence's end: outputs, gradients and metrics keep their bits.
TEST(Sequences, ThePaddingLeavesNoTrace) {
  for (const std::string name : {"gru", "reversed", "stacked", "attention", "encoder", "steps"}) {
    std::vector<std::vector<float>> outputs;
    std::vector<Tensor> gradients;
    std::vector<double> losses;
    for (const float padding : {9.0F, -2.0F}) {
      const Dataset data = data_of_model(name, padding);
      Model model = model_of(name);
      outputs.push_back(outputs_of(model, name, data));
      Trainer trainer(model);
      const BatchRange batches = trainer.batches(data, {.size = 4});
      gradients.push_back(trainer.gradients(*batches.begin())["dense_1.weight"]);
      losses.push_back(trainer.evaluate(data, 2).loss);
      if (name == "steps") losses.back() += evaluate_metrics(model, data).rmse;
    }
    EXPECT_EQ(outputs[0], outputs[1]) << name;
    EXPECT_TRUE(same_bits(gradients[0], gradients[1])) << name;
    EXPECT_EQ(losses[0], losses[1]) << name;
  }
}

/// Nor does NaN get out of it, forwards or backwards.
TEST(Sequences, NanInThePaddingIsAsZero) {
  for (const std::string name : {"gru", "reversed", "stacked", "attention", "encoder", "steps"}) {
    std::vector<std::vector<float>> outputs;
    std::vector<std::vector<float>> weights;
    std::vector<std::vector<double>> numbers;
    for (const float padding : {0.0F, NAN}) {
      const Dataset data = data_of_model(name, padding);
      Model model = model_of(name);
      Trainer trainer(model, {.optimizer = SGD{.learning_rate = 0.2}});
      const History history = trainer.fit(data, {.epochs = 3, .batch = 2});
      weights.push_back(all_weights(model));
      outputs.push_back(outputs_of(model, name, data));
      numbers.push_back({history.epochs[2].train.loss, trainer.evaluate(data, 2).loss});
      if (name == "steps") numbers.back().push_back(evaluate_metrics(model, data).rmse);
    }
    EXPECT_EQ(weights[0], weights[1]) << name;
    EXPECT_EQ(outputs[0], outputs[1]) << name;
    EXPECT_EQ(numbers[0], numbers[1]) << name;
    for (const float y : outputs[1]) EXPECT_TRUE(std::isfinite(y)) << name;
  }
}

TEST(Sequences, NanInAStepThatCountsIsRefused) {
  Dataset data = data_of_model("gru");
  first_input(data).as_writable<float>()[(3 * kSteps + 2) * kFeatures + 1] = NAN;
  Model model = model_of("gru");
  EXPECT_EQ(message_of([&] { train(model, data); }),
            "row 3, column (2, 1) of the samples of 'data' (counted from 0) is nan; expected "
            "finite numbers");
}

/// A sequence gives what it gives alone, without padding.
TEST(Sequences, GiveWhatTheyGiveWithoutPadding) {
  Model padded = model_of("stacked");
  const Dataset data = data_of_model("stacked");
  const std::vector<float> y = vector_of(padded.predict(data));
  for (std::int64_t sample = 0; sample < kSamples; ++sample) {
    const std::int64_t length = kLengths[static_cast<std::size_t>(sample)];
    Model alone(Network({length, kFeatures},
                        {Bidirectional{LSTM{.units = 4, .return_sequences = true}},
                         Bidirectional{GRU{.units = 3}}, Dense{.units = 3}}),
                {.device = "cpu"});
    for (const std::string& name : alone.parameter_names()) {
      alone.set_parameter(name, padded.parameter(name));
    }
    const Tensor x = data.column("x").data.rows(sample, sample + 1);
    const std::vector<float> steps = vector_of(x);
    const Tensor cut(std::vector<float>(steps.begin(), steps.begin() + length * kFeatures),
                     {1, length, kFeatures});
    const std::vector<float> expected = vector_of(alone.predict(Dataset({{"x", cut}})));
    for (std::size_t i = 0; i < 3; ++i) {
      EXPECT_NEAR(y[static_cast<std::size_t>(sample) * 3 + i], expected[i], 1e-6);
    }
  }
}

TEST(Sequences, LengthsAreAnInputOfTheNetwork) {
  const Network network = network_of("gru");
  EXPECT_EQ(network.input_names(), (std::vector<std::string>{"input", "input.lengths"}));
  Model model = model_of("gru");
  const Dataset data = data_of_model("gru");
  const Predictor predictor(model);
  State inputs;
  inputs.set("input", data.column("x").data);
  inputs.set("input.lengths", Tensor(kLengths, {kSamples, 1}));
  EXPECT_TRUE(same_bits(predictor.predict(inputs)["output"], model.predict(data)));
  // Saved, read and gone on with.
  Network read = Network::from_json(Network({kSteps, kFeatures}, {Lengths{}, ReLU{}}).to_json());
  EXPECT_EQ(message_of([&] { read.add(Flatten{}); }),
            "[reshape 'flatten_1'] would mix steps with padding, since it does not use the lengths "
            "of sequences: GlobalAvgPool1d, GlobalMaxPool1d, attention and recurrent layers leave "
            "padding out");
  EXPECT_EQ(read.add(GlobalMaxPool1d{}).output_shape(), Shape{kFeatures});
}

TEST(Sequences, FunctionalNetworksHandLengthsOn) {
  FunctionalNetwork f;
  const Expression x = f.input("x", {kSteps, kFeatures}, DType::f32, true);
  const Expression twice = concat({x * 2.0, x}, 1) | Dense{.units = kFeatures, .name = "d"};
  const Network network = f.build({{"y", twice | GlobalAvgPool1d{}}});
  Model model(network, {.device = "cpu"});
  const auto predicted = [&](float padding) {
    return vector_of(model.predict(Dataset({series(padding)})));
  };
  EXPECT_EQ(predicted(9), predicted(0));
}

TEST(Sequences, AnotherHeadReadsTheLengths) {
  const Network network({kSteps, kFeatures}, {Lengths{}, Tanh{}, GRU{.units = 2, .name = "head"}});
  Model model(network.with_head("head", LSTM{.units = 3}), {.device = "cpu"});
  const auto predicted = [&](float padding) {
    return vector_of(model.predict(Dataset({series(padding)})));
  };
  EXPECT_EQ(predicted(9), predicted(0));
}

TEST(Sequences, BlocksHandLengthsOn) {
  const Network network({kSteps, kFeatures},
                        {Lengths{}, Residual{.body = {MultiHeadAttention{.heads = 2}, Tanh{}}},
                         Concat{.branches = {{GRU{.units = 2}, ReLU{}}, {GlobalAvgPool1d{}}}},
                         Dense{.units = 3}});
  Model model(network, {.device = "cpu"});
  const auto predicted = [&](float padding) {
    return vector_of(model.predict(Dataset({series(padding)})));
  };
  EXPECT_EQ(predicted(9), predicted(0));
}

TEST(Sequences, WhatDoesNotGoTogetherIsOneSentence) {
  const auto network = [](const std::vector<Layer>& layers) {
    return message_of([&] { Network({kSteps, kFeatures}, layers); });
  };
  EXPECT_EQ(network({ReLU{}, Lengths{}}),
            "[lengths] expected an input of the network: put it before all other layers");
  EXPECT_EQ(network({Lengths{}, Conv1d{.filters = 2}}),
            "[conv1d 'conv1d_1'] would read padding as data, since it does not use the lengths of "
            "sequences: GlobalAvgPool1d, GlobalMaxPool1d, attention and recurrent layers leave "
            "padding out");
  EXPECT_EQ(message_of([] { Network({kSteps}, {Lengths{}}); }),
            "[lengths] expected ids (N, T) or sequences (N, T, features); got f32 (N, 6) for "
            "'input'");
  Model plain(Network({kSteps, kFeatures}, {GRU{.units = 3}}), {.device = "cpu"});
  EXPECT_EQ(message_of([&] { train(plain, data_of_model("gru")); }),
            "the column 'x' of the data set 'data' has lengths, but the network does not begin "
            "with a Lengths layer");
  Model model = model_of("gru");
  const Dataset bare({{"x", series().data}}, {{"y", Tensor(kLabels)}});
  EXPECT_EQ(message_of([&] { train(model, bare); }),
            "the network reads lengths of its input 'input', but the column 'x' of the data set "
            "'data' has none");
  const Dataset steps({series()}, {{.name = "y",
                                    .data = Tensor(DType::f32, {kSamples, 3}),
                                    .lengths = Tensor(DType::i32, {kSamples})}});
  EXPECT_EQ(message_of([&] { train(model, steps, {.loss = Loss::cosine}); }),
            "the lengths of the targets of 'data' are for steps, but the loss cosine has one value "
            "for the whole output 'output' of (3)");
}

}  // namespace
}  // namespace linnet::testing
