// SPDX-License-Identifier: Apache-2.0
// Labels of steps (N, T) and of pixels (N, H, W), against PyTorch
// (tests/fixtures/make_label_fixtures.py) and against as many samples of one label.
#include <gtest/gtest.h>
#include <linnet/linnet.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "graph/differentiate.h"
#include "loss_cases.h"
#include "message_of.h"
#include "model/loss_graph.h"
#include "model/loss_weights.h"
#include "op_harness.h"
#include "ops/sequence_mask/sequence_mask.h"
#include "weights.h"

namespace linnet::testing {
namespace {

constexpr std::int64_t kClasses = 4;

/// As the script's.
template <class T = double>
std::vector<T> logits(std::int64_t count) {
  std::vector<T> values;
  for (std::int64_t i = 0; i < count; ++i) {
    values.push_back(static_cast<T>(2 * std::sin(0.7 * static_cast<double>(i))));
  }
  return values;
}
template <class T = double>
std::vector<T> labels(std::int64_t count) {
  std::vector<T> values;
  for (std::int64_t i = 0; i < count; ++i) values.push_back(static_cast<T>(i * 7 % 11 % 4));
  return values;
}
template <class T = double>
std::vector<T> weights(std::int64_t count) {
  std::vector<T> values;
  for (std::int64_t i = 0; i < count; ++i) values.push_back(static_cast<T>(i % 3) + T(0.5));
  return values;
}

/// Holds what a loss reads beside outputs and labels.
struct Operands {
  Shape labels;
  LossOptions options = {};
  std::optional<Shape> weights = {};
  bool lengths = false;  ///< 5, 2 and 0 of 5 steps; the labels of the others are no classes
};

/// The loss and its gradient by the outputs.
std::vector<Numbers> loss_of(Loss loss, const Operands& o) {
  Graph graph;
  const std::int64_t count = o.labels.elements();
  std::vector<std::int64_t> dims(o.labels.dims().begin(), o.labels.dims().end());
  dims.push_back(kClasses);
  const Value y = graph.add_value("y", f32(Shape(dims)), Storage::external, 0);
  Value t = graph.add_value("t", i32(o.labels), Storage::external, 1);
  std::vector<Value> inputs{y, t};
  std::vector<Numbers> data{logits(count * kClasses), labels(count)};
  Value w;
  if (o.weights) {
    w = graph.add_value("w", f32(*o.weights), Storage::external, inputs.size());
    inputs.push_back(w);
    data.push_back(weights(o.weights->elements()));
  }
  if (o.lengths) {
    const Value lengths =
        graph.add_value("lengths", i32({o.labels[0]}), Storage::external, inputs.size());
    inputs.push_back(lengths);
    data.push_back({5, 2, 0});
    w = step_weights(graph, lengths, o.labels[1], w);
    t = graph.emit(SequenceMaskOp(), {t, lengths}, "targets");  // as step graphs do
    for (const std::size_t i : {7U, 8U, 9U, 10U, 14U}) data[1][i] = i % 2 == 0 ? -3 : 99;
  }
  const Value value = add_loss(graph, loss, o.options, y, t, w);
  const std::vector<Value> wrt{y};
  const Value dy = differentiate(graph, value, wrt)[0];
  compare_with_reference(graph, inputs, data, {value, dy});
  return run(graph, inputs, data, {value, dy});
}

TEST(ElementLabels, CrossEntropyIsPyTorchs) {
  std::ifstream file(std::filesystem::path(LINNET_TORCH_FIXTURES) / "labels.json");
  const nlohmann::json cases = nlohmann::json::parse(file).at("cases");
  const Shape steps{3, 5};
  const Shape pixels{2, 3, 4};
  LossOptions class_weights;
  class_weights.class_weights = {1, 2, 0.5, 0.25};
  LossOptions ignored;
  ignored.ignore_index = 2;
  LossOptions both = class_weights;
  both.ignore_index = 2;
  LossOptions smoothed;
  smoothed.label_smoothing = 0.1;
  const std::map<std::string, Operands> operands{{"steps", {steps}},
                                                 {"pixels", {pixels}},
                                                 {"class weights", {pixels, class_weights}},
                                                 {"ignored label", {pixels, ignored}},
                                                 {"ignored label, class weights", {steps, both}},
                                                 {"label smoothing", {pixels, smoothed}},
                                                 {"weights of samples", {pixels, {}, Shape{2}}},
                                                 {"weights of samples, class weights",
                                                  {pixels, class_weights, Shape{2}}},
                                                 {"weights of steps", {steps, {}, steps}},
                                                 {"lengths", {steps, {}, {}, true}},
                                                 {"lengths, weights of steps, class weights",
                                                  {steps, class_weights, steps, true}}};
  ASSERT_EQ(cases.size(), operands.size());
  for (const auto& [name, o] : operands) {
    const std::vector<Numbers> got = loss_of(Loss::cross_entropy, o);
    EXPECT_NEAR(got[0][0], cases.at(name).at("loss").get<double>(), 3e-6) << name;
    for (std::size_t i = 0; i < got[1].size(); ++i) {
      EXPECT_NEAR(got[1][i], cases.at(name).at("gradient")[i].get<double>(), 1e-6)
          << name << ", element " << i;
    }
  }
}

TEST(ElementLabels, EveryLossOfLabelsIsThatOfAsManySamples) {
  LossOptions options;
  options.class_weights = {1, 2, 0.5, 0.25};
  for (const Loss loss : {Loss::cross_entropy, Loss::focal, Loss::hinge}) {
    EXPECT_EQ(loss_of(loss, {{2, 3, 4}, options}), loss_of(loss, {{24}, options}));
    EXPECT_EQ(loss_of(loss, {{3, 4}, options, Shape{3, 4}}),
              loss_of(loss, {{12}, options, Shape{12}}));
  }
}

TEST(ElementLabels, AreAnswersOfBinaryCrossEntropy) {
  // -log(sigmoid(y)) of the label's output, -log(1 - sigmoid(y)) of the others.
  const auto expected = [](std::int64_t count) {
    const Numbers y = logits(count * kClasses);
    const Numbers t = labels(count);
    double sum = 0;
    for (std::size_t i = 0; i < y.size(); ++i) {
      const bool yes = static_cast<double>(i % kClasses) == t[i / kClasses];
      sum += std::log1p(std::exp(yes ? -y[i] : y[i]));
    }
    return sum / static_cast<double>(y.size());
  };
  EXPECT_NEAR(loss_of(Loss::binary_cross_entropy, {{2, 3, 4}})[0][0], expected(24), 3e-6);
  Graph graph;
  const Value y = graph.add_value("y", f32({2, 3, 1}), Storage::external, 0);
  const Value t = graph.add_value("t", i32({2, 3}), Storage::external, 1);
  const Value loss = add_loss(graph, Loss::binary_cross_entropy, {}, y, t);
  const Numbers z{1, -2, 0.5, 0, 3, -1};
  const auto got = run(graph, {y, t}, {z, {1, 0, 1, 0, 1, 0}}, {loss});
  double sum = 0;
  for (std::size_t i = 0; i < 6; ++i) sum += std::log1p(std::exp(i % 2 == 0 ? -z[i] : z[i])) / 6;
  EXPECT_NEAR(got[0][0], sum, 1e-6);
}

// Trainings, evaluations and measures of whole data sets.

constexpr std::int64_t kSamples = 6;
constexpr std::int64_t kSteps = 5;

/// Sequences (6, 5, 3) with a label a step; with lengths, what lies in the padding is not a class.
Dataset step_data(bool lengths = false) {
  std::vector<std::int32_t> ids = labels<std::int32_t>(kSamples * kSteps);
  Column x{"x", records(logits<float>(kSamples * kSteps * 3), {kSteps, 3})};
  Column y{"y", {}};
  if (lengths) {
    const std::vector<std::int32_t> ends{5, 2, 1, 4, 3, 5};
    for (std::size_t i = 0; i < ids.size(); ++i) {
      if (static_cast<std::int32_t>(i % kSteps) >= ends[i / kSteps]) ids[i] = -7;
    }
    x.lengths = Tensor(ends);
    y.lengths = Tensor(ends);
  }
  y.data = records(ids, {kSteps});
  return Dataset({x}, {y}, {.name = "steps"});
}

Network step_network(bool lengths = false) {
  if (lengths) return Network({kSteps, 3}, {Lengths{}, Dense{.units = kClasses}});
  return Network({kSteps, 3}, {Dense{.units = kClasses}});
}

/// Of each step's largest output and its softmax.
struct Expected {
  double accuracy = 0;
  double loss = 0;
};
Expected expected(Model& model, const Dataset& data, const std::vector<float>& step_weights) {
  const std::vector<float> y = vector_of(model.predict(data));
  const std::vector<std::int32_t> t = vector_of<std::int32_t>(data.targets()[0].data);
  Expected sums;
  double total = 0;
  for (std::size_t i = 0; i < t.size(); ++i) {
    if (step_weights[i] == 0) continue;
    const float* row = y.data() + i * kClasses;
    double exponentials = 0;
    for (std::int64_t c = 0; c < kClasses; ++c) exponentials += std::exp(double{row[c]});
    total += step_weights[i];
    sums.loss += step_weights[i] * (std::log(exponentials) - row[t[i]]);
    const auto best = std::max_element(row, row + kClasses) - row;
    sums.accuracy += best == t[i] ? step_weights[i] : 0;
  }
  return {sums.accuracy / total, sums.loss / total};
}

TEST(ElementLabels, AreEvaluatedStepByStep) {
  for (const bool lengths : {false, true}) {
    Dataset data = step_data(lengths);
    Model model(step_network(lengths), {.device = "cpu", .seed = 2});
    const auto check = [&](const std::vector<float>& counted) {
      const Expected wanted = expected(model, data, counted);
      const Evaluation whole = evaluate(model, data);
      EXPECT_NEAR(whole.loss, wanted.loss, 1e-6);
      EXPECT_NEAR(whole.accuracy, wanted.accuracy, 1e-6);
      const Metrics metrics = evaluate_metrics(model, data);
      EXPECT_NEAR(metrics.log_loss, wanted.loss, 1e-6);
      EXPECT_NEAR(metrics.accuracy, wanted.accuracy, 1e-6);
      const auto count = std::ranges::count_if(counted, [](float w) { return w > 0; });
      EXPECT_EQ(metrics.samples, count);
      EXPECT_EQ(std::accumulate(metrics.confusion.begin(), metrics.confusion.end(), 0), count);
    };
    std::vector<float> counted(kSamples * kSteps, 1);
    if (lengths) {
      const std::vector<std::int32_t> ends = vector_of<std::int32_t>(data.targets()[0].lengths);
      for (std::size_t i = 0; i < counted.size(); ++i) {
        counted[i] = static_cast<std::int32_t>(i % kSteps) < ends[i / kSteps] ? 1 : 0;
      }
    }
    check(counted);
    data.set_weights(Tensor(weights<float>(kSamples)));
    for (std::size_t i = 0; i < counted.size(); ++i) {
      counted[i] *= static_cast<float>(i / kSteps % 3) + 0.5F;
    }
    check(counted);
  }
}

/// Returns what one step over all of the data, in batches of this size, takes off the weights.
std::vector<double> gradient(const Network& network, const Dataset& data, const Objective& given,
                             std::int64_t size) {
  Objective objective = given;
  objective.optimizer = SGD{.learning_rate = 1};
  Model model(network, {.device = "cpu", .seed = 3});
  const std::vector<float> before = all_weights(model);
  Trainer trainer(model, objective, {.seed = 9});
  std::vector<Batch> batches;
  for (const Batch& batch : trainer.batches(data, {.size = size})) batches.push_back(batch);
  trainer.step(batches).loss();
  const std::vector<float> after = all_weights(model);
  std::vector<double> difference;
  for (std::size_t i = 0; i < before.size(); ++i) {
    difference.push_back(double{before[i]} - double{after[i]});
  }
  return difference;
}

TEST(ElementLabels, BatchesAddUpToTheLargeOne) {
  Objective objective;
  objective.loss_options.class_weights = {1, 2, 0.5, 0.25};
  objective.loss_options.ignore_index = 3;
  for (const bool lengths : {false, true}) {
    for (const bool weighted : {false, true}) {
      Dataset data = step_data(lengths);
      if (weighted) {
        data.set_weights(Tensor(weights<float>(kSamples * kSteps), {kSamples, kSteps}));
      }
      const Network network = step_network(lengths);
      const std::vector<double> whole = gradient(network, data, objective, kSamples);
      const std::vector<double> parts = gradient(network, data, objective, 2);
      for (std::size_t i = 0; i < whole.size(); ++i) {
        EXPECT_NEAR(parts[i], whole[i], 1e-6) << lengths << weighted << " " << i;
      }
    }
  }
}

/// Images (4, 4, 2) whose larger channel is the pixel's label.
Dataset pixel_data(std::int64_t count) {
  const std::vector<float> x = logits<float>(count * 32);
  std::vector<std::uint8_t> mask;
  for (std::size_t i = 0; i < x.size(); i += 2) mask.push_back(x[i + 1] > x[i] ? 1 : 0);
  Dataset data({{"x", records(x, {4, 4, 2})}}, {{"mask", records(mask, {4, 4})}});
  data.set_info({.name = "pixels", .classes = {"first", "second"}});
  return data;
}

TEST(ElementLabels, OfPixelsAreLearned) {
  const Dataset data = pixel_data(40);
  Model model(Network({4, 4, 2}, {Conv2d{.filters = 2, .kernel = 1}}), {.device = "cpu"});
  const History history =
      train(model, data, {.epochs = 60, .batch = 8, .optimizer = Adam{.learning_rate = 5e-2}});
  EXPECT_GT(history.epochs.back().train.accuracy, 0.97);
  EXPECT_EQ(evaluate_metrics(model, data).samples, 40 * 16);
  EXPECT_EQ(model.class_names(), (std::vector<std::string>{"first", "second"}));
  const std::vector<double> balanced = balanced_class_weights(data);
  EXPECT_EQ(balanced.size(), 2U);
  EXPECT_EQ(message_of([&] { Predictor(model).classify(data.inputs()[0].data); }),
            "classify() needs outputs (N, classes); this model's are (4, 4, 2) a sample, which "
            "predict() returns");
  // Several labels a sample stratify nothing.
  EXPECT_EQ(message_of([&] { static_cast<void>(data.split(0.5, {.stratify = true})); }),
            "the data set 'pixels' has no labels; a stratified split needs labels");
  const auto [rest, part] = data.split(0.25);
  EXPECT_EQ(part.targets()[0].record(), Shape({4, 4}));
}

TEST(ElementLabels, ErrorsNameRowAndPlace) {
  const auto error = [](const Network& network, const Dataset& data,
                        const TrainingOptions& options = {.epochs = 1, .batch = 2}) {
    Model model(network, {.device = "cpu"});
    return message_of([&] { train(model, data, options); });
  };
  const auto with_label = [](std::int32_t label) {
    std::vector<std::int32_t> ids(12);
    ids[10] = label;
    return Dataset({{"x", records(logits<float>(24), {2, 3, 2})}}, {{"y", records(ids, {2, 3})}},
                   {.name = "pixels"});
  };
  const Network network({2, 3, 2}, {Conv2d{.filters = 3, .kernel = 1}});
  EXPECT_EQ(error(network, with_label(-1)),
            "row 1, column (1, 1) of the targets of 'pixels' (counted from 0) has the label -1; "
            "expected class indices of at least 0");
  EXPECT_EQ(error(network, with_label(3)),
            "the network ends in 3 outputs but the data set 'pixels' has 4 classes; row 1, column "
            "(1, 1) of the targets of 'pixels' (counted from 0) has the label 3");
  EXPECT_EQ(error(Network({2, 3, 2}, {Flatten{}, Dense{.units = 3}}), with_label(1)),
            "cross-entropy expects an axis of classes after those of the labels; the data set "
            "'pixels' has labels of (2, 3) a sample, the network gives (3)");
  TrainingOptions flipped{.epochs = 1, .batch = 2};
  flipped.augment.flip = 0.5;
  EXPECT_EQ(
      error(network, with_label(1), flipped),
      "augmentation moves the pixels of the images of 'pixels', but not their labels of (2, "
      "3) a sample: expected no crop, flip or rotation, and images of (2, 3, 2); got images of (2, "
      "3, 2)");
  TrainingOptions mixed{.epochs = 1, .batch = 2};
  mixed.augment.mixup = 1;
  EXPECT_EQ(
      error(network, with_label(1), mixed),
      "mixup and cutmix need one label for each sample; those of 'pixels' are (2, 3) a sample");
  Dataset named = with_label(3);
  named.set_classes({"a", "b", "c"});
  EXPECT_EQ(message_of([&] { named.check_labels(); }),
            "label 3 of sample 1, element 4 in 'pixels' is outside [0, 3)");
}

TEST(ElementLabels, ALastSoftmaxChangesNoLoss) {
  LossOptions smoothed;
  smoothed.label_smoothing = 0.1;
  const auto loss_of_layers = [](std::vector<Layer> layers, Loss loss, const LossOptions& options,
                                 bool lengths) {
    layers.insert(layers.begin(), Dense{.units = kClasses});
    if (lengths) layers.insert(layers.begin(), Lengths{});
    Model model(Network({kSteps, 3}, layers), {.device = "cpu", .seed = 2});
    const Dataset data = step_data(lengths);
    TrainingOptions training{.epochs = 2, .batch = kSamples, .loss = loss, .loss_options = options};
    train(model, data, training);
    return evaluate(model, data, loss, kSamples, options).loss;
  };
  for (const Loss loss : {Loss::cross_entropy, Loss::focal}) {
    for (const LossOptions& options : {LossOptions{}, smoothed}) {
      if (loss == Loss::focal && options.label_smoothing > 0) continue;
      for (const bool lengths : {false, true}) {
        const double expected = loss_of_layers({}, loss, options, lengths);
        EXPECT_NEAR(loss_of_layers({Softmax{}}, loss, options, lengths), expected, 1e-6);
        EXPECT_NEAR(loss_of_layers({LogSoftmax{}}, loss, options, lengths), expected, 1e-6);
      }
    }
  }
}

TEST(ElementLabels, OwnLossesGetOneHotRows) {
  const Dataset data = step_data();
  TrainingOptions options{.epochs = 1, .batch = kSamples, .optimizer = SGD{.learning_rate = 0}};
  options.custom_loss = [](const Expression& y, const Expression& t) {
    return -sum(t * log_softmax(y), {-1});
  };
  Model model(step_network(), {.device = "cpu", .seed = 2});
  EXPECT_NEAR(train(model, data, options).epochs[0].train.loss, evaluate(model, data).loss, 1e-6);
}

}  // namespace
}  // namespace linnet::testing
