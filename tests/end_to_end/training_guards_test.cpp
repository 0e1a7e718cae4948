// SPDX-License-Identifier: Apache-2.0
// What a training refuses before its first step, and what it never hands to whoever saves.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "../message_of.h"
#include "fixtures.h"

namespace linnet::testing {
namespace {

using Labels = std::vector<std::int32_t>;  // and ids
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr const char* kOneValue =
    "[batch_norm 'norm'] expected more than 1 value per channel when training; ";

Network dense_norm() {
  return Network({2}, {Dense{.units = 4}, BatchNorm{.name = "norm"}, ReLU{}, Dense{.units = 2}});
}

/// The error of a training that must not have touched a weight.
std::string refusal(const Network& network, const Splits& parts, TrainingOptions options) {
  Model model(network, {.device = "cpu", .seed = 1});
  const std::vector<float> before = all_weights(model);
  const std::string message = message_of([&] { train(model, parts, options); });
  EXPECT_EQ(all_weights(model), before);
  return message;
}

TEST(BatchNormOfOneRow, IsRefusedForTheLastBatchBeforeTheFirstStep) {
  EXPECT_EQ(refusal(dense_norm(), {.train = sums_data(33)}, {.epochs = 1, .batch = 8}),
            std::string(kOneValue) +
                "the last batch of 33 samples in batches of 8 has 1: choose another batch size, "
                "such as 9, or drop_last (--drop-last), which leaves that sample out");
  // 34 of 44 are left by the validation set.
  const auto [training, validation] = sums_data(44).split(0.23);
  EXPECT_EQ(refusal(dense_norm(), {.train = training, .validation = validation},
                    {.epochs = 1, .batch = 11})
                .find(std::string(kOneValue) + "the last batch of 34 samples"),
            0U);
}

TEST(BatchNormOfOneRow, IsRefusedForBatchesOfOneSample) {
  EXPECT_EQ(refusal(dense_norm(), {.train = sums_data(33)}, {.epochs = 1, .batch = 1}),
            std::string(kOneValue) + "a batch of 1 sample gives it (1, 4): choose a larger batch");
  EXPECT_EQ(refusal(dense_norm(), {.train = sums_data(1)}, {.epochs = 1, .batch = 8}),
            std::string(kOneValue) + "there is 1 training sample");
}

TEST(BatchNormOfOneRow, SpatialNormsCountPixels) {
  const Dataset data = datasets::digits(5, 0, 1).train;
  const auto network = [](std::int64_t size) {
    return Network({28, 28, 1}, {Rescale{}, AvgPool2d{size}, BatchNorm{.name = "norm"}, Flatten{},
                                 Dense{.units = 10}});
  };
  for (const std::int64_t batch : {1, 2, 4}) {
    Model model(network(14), {.device = "cpu"});  // 2 x 2 pixels
    const History history = train(model, data, {.epochs = 1, .batch = batch});
    EXPECT_EQ(history.epochs[0].train.samples, 5);
    EXPECT_GT(parameter(model, "norm.running_var")[0], 0);
  }
  EXPECT_EQ(refusal(network(28), {.train = data}, {.batch = 2}).find(kOneValue), 0U);
}

TEST(BatchNormOfOneRow, DropLastLeavesTheSampleOutAndOtherOnesInOtherEpochs) {
  Model model(dense_norm(), {.device = "cpu", .seed = 1});
  const History history = train(model, sums_data(33), {.epochs = 2, .batch = 8, .drop_last = true});
  EXPECT_EQ(history.epochs[1].train.samples, 32);
  EXPECT_EQ(history.epochs[1].step_losses.size(), 4U);
  for (const float variance : parameter(model, "norm.running_var")) EXPECT_GT(variance, 0);
  EXPECT_EQ(refusal(dense_norm(), {.train = sums_data(7)},
                    {.epochs = 1, .batch = 8, .drop_last = true}),
            "drop_last leaves out all of 7 training samples at batch 8");
}

TEST(DropLast, TrainsOnWhatTheWholeBatchesOfTheDataWouldGive) {
  const Dataset whole = sums_data(35);
  const Dataset cut = whole.rows(0, 32);
  const auto trained = [](const Dataset& data, bool drop_last) {
    Model model(Network({2}, {Dense{.units = 2}}), {.device = "cpu", .seed = 1});
    train(model, data, {.epochs = 3, .batch = 8, .shuffle = false, .drop_last = drop_last});
    return parameter(model, "dense_1.weight");
  };
  EXPECT_EQ(trained(whole, true), trained(cut, false));
  EXPECT_NE(trained(whole, false), trained(cut, false));
}

TEST(TrainingData, ValuesThatAreNotFiniteAreNamed) {
  const Network network({2}, {Dense{.units = 2}});
  Splits parts{.train = sums_data(10), .test = sums_data(6)};
  const std::string end = " of 'data' (counted from 0) is ";
  first_input(parts.train).as_writable<float>()[7] = kNaN;
  EXPECT_EQ(refusal(network, parts, {}),
            "row 3, column 1 of the samples" + end + "nan; expected finite numbers");
  parts.train = sums_data(10);
  first_target(parts.train).as_writable<float>()[4] = -kInfinity;
  EXPECT_EQ(refusal(network, parts, {}),
            "row 2, column 0 of the targets" + end + "-inf; expected finite numbers");
  parts.train = sums_data(10);
  // Would be known after the first epoch alone.
  first_input(parts.test).as_writable<float>()[11] = kInfinity;
  EXPECT_EQ(refusal(network, parts, {}),
            "row 5, column 1 of the samples" + end + "inf; expected finite numbers");
  parts.test = sums_data(6);
  parts.validation = sums_data(6);
  first_target(parts.validation).as_writable<float>()[0] = kNaN;
  parts.validation.set_info({.targets_file = "folder/y_valid.npy"});
  EXPECT_EQ(
      refusal(network, parts, {}),
      "row 0, column 0 of 'folder/y_valid.npy' (counted from 0) is nan; expected finite numbers");
}

TEST(TrainingData, PlacesInImagesHaveAllAxes) {
  std::vector<float> pixels(3 * 4 * 5 * 2, 0.5F);
  pixels[40 + (3 * 5 + 4) * 2 + 1] = kNaN;
  const Dataset data = data_of(records(pixels, {4, 5, 2}), records(Labels{0, 1, 0}));
  EXPECT_EQ(refusal(Network({4, 5, 2}, {Flatten{}, Dense{.units = 2}}), {.train = data}, {}),
            "row 1, column (3, 4, 1) of the samples of 'data' (counted from 0) is nan; expected "
            "finite numbers");
}

TEST(TrainingData, IdsOutsideTheEmbeddingAreNamed) {
  const Network network({3},
                        {Embedding{.vocabulary = 5, .features = 2, .name = "words"}, Flatten{},
                         Dense{.units = 2}},
                        DType::i32);
  for (const std::int32_t id : {5, -1}) {
    const Dataset data = data_of(records(Labels{0, 1, 2, 3, id, 4}, {3}), records(Labels{0, 1}));
    EXPECT_EQ(refusal(network, {.train = data}, {}),
              fmt::format("row 1, column 1 of the samples of 'data' (counted from 0) has the id "
                          "{}; the embedding 'words' expects 0 to 4",
                          id));
  }
}

TEST(TrainingData, ColumnsAreCheckedAsTheFirstOnesAre) {
  FunctionalNetwork functional;
  const Expression x = functional.input("x", {2});
  const Expression word = functional.input("word", {1}, DType::i32);
  const Expression y = concat({x, word | Embedding{.vocabulary = 4, .features = 3} | Flatten{}}, 0);
  const Network network =
      functional.build({{"y", y | Dense{.units = 2}}, {"side", y | Dense{.units = 1}}});
  const Dataset sums = sums_data(3);
  Tensor side = records(std::vector<float>{1, 2, kNaN}, {1});
  const Dataset data({{"x", first_input(sums)}, {"word", records(Labels{0, 3, 9}, {1})}},
                     {{"y", first_target(sums)}, {"side", side}});
  EXPECT_EQ(refusal(network, {.train = data}, {}),
            "row 2, column 0 of the column 'side' of 'data' (counted from 0) is nan; expected "
            "finite numbers");
  side.as_writable<float>()[2] = 3;
  const std::string message = refusal(network, {.train = data}, {});
  EXPECT_EQ(message.find("row 2, column 0 of the column 'word' of 'data' (counted from 0) has the "
                         "id 9; the embedding 'embedding_1' expects 0 to 3"),
            0U)
      << message;
}

TEST(TrainingData, LabelsThatAreAllIgnoredLeaveNothingToLearn) {
  const Network network({2}, {Dense{.units = 2}});
  Splits parts{.train = circle_data(10), .test = circle_data(6)};
  TrainingOptions options{.epochs = 1, .loss_options = {.ignore_index = 7}};
  const auto labels = [](const Dataset& data) {
    return first_target(data).as_writable<std::int32_t>();
  };
  std::ranges::fill(labels(parts.train), 7);
  EXPECT_EQ(refusal(network, parts, options),
            "all 10 labels of the training samples of 'data' are 7, which the loss ignores "
            "(ignore_index); expected at least one other label");
  labels(parts.train)[0] = 1;
  parts.validation = circle_data(5);
  std::ranges::fill(labels(parts.validation), 7);
  EXPECT_EQ(refusal(network, parts, options).find("all 5 labels of the validation samples"), 0U);
  parts.validation = {};
  std::ranges::fill(labels(parts.test), 7);
  EXPECT_EQ(refusal(network, parts, options).find("all 6 labels of the test samples"), 0U);
  parts.test = circle_data(6);
  std::ranges::fill(labels(parts.train), 1);
  options.loss_options.class_weights = {1, 0};
  EXPECT_EQ(refusal(network, parts, options).find("all of the 10 labels of the training samples"),
            0U);
}

TEST(TrainingData, ALabelWithoutAnOutputIsNamed) {
  Dataset data = circle_data(10);
  data.set_info({.classes = {"a", "b", "c", "d"}, .targets_file = "y_train.npy"});
  first_target(data).as_writable<std::int32_t>()[6] = 3;
  EXPECT_EQ(refusal(Network({2}, {Dense{.units = 3}}), {.train = data}, {}),
            "the network ends in 3 outputs but the data set 'data' has 4 classes; row 6 of "
            "'y_train.npy' (counted from 0) has the label 3");
}

/// Counts what a callback hears, and asks for a stop where a test says so.
struct Watch : Callback {
  void on_progress(const Progress& /*progress*/) override {
    heard += 'p';
    stop = stop || stops_in == 'p';
  }
  void on_evaluation(const EvaluationProgress& progress) override {
    EXPECT_GT(progress.samples_done, 0);
    EXPECT_LT(progress.samples_done, progress.samples);
    heard += 'v';
    stop = stop || stops_in == 'v';
  }
  void on_epoch(const EpochReport& /*report*/) override { heard += 'e'; }
  bool stop_requested() override { return stop; }
  void on_stop() override { heard += 's'; }
  char stops_in = ' ';
  bool stop = false;
  std::string heard;
};

TEST(Stop, IsTheTimeToSaveBeforeAnythingIsEvaluated) {
  Watch watch;
  watch.stops_in = 'p';
  Model model(Network({2}, {Dense{.units = 2}}), {.device = "cpu"});
  const Dataset test = sums_data(64);
  const History history = train(model, sums_data(64), {.epochs = 50, .batch = 4}, &test, &watch);
  EXPECT_TRUE(history.interrupted);
  EXPECT_EQ(watch.heard.substr(0, 2), "ps");
  EXPECT_EQ(watch.heard.back(), 'e');
  EXPECT_EQ(history.epochs[0].test.samples, 64);  // the whole pass all the same
}

TEST(Stop, IsHeardInAnEvaluation) {
  Watch watch;
  watch.stops_in = 'v';
  Model model(Network({2}, {Dense{.units = 2}}), {.device = "cpu"});
  const Dataset test = sums_data(64);
  const History history = train(model, sums_data(64), {.epochs = 50, .batch = 4}, &test, &watch);
  EXPECT_TRUE(history.interrupted);
  ASSERT_EQ(history.epochs.size(), 1U);
  EXPECT_EQ(history.epochs[0].train.samples, 64);
  const std::size_t first = watch.heard.find('v');
  ASSERT_NE(first, std::string::npos);
  EXPECT_EQ(watch.heard.substr(first, 2), "vs");
  EXPECT_EQ(watch.heard.find('s', first + 2), std::string::npos);
  Model plain(Network({2}, {Dense{.units = 2}}), {.device = "cpu"});
  const History whole = train(plain, sums_data(64), {.epochs = 1, .batch = 4}, &test);
  EXPECT_EQ(history.epochs[0].test.loss, whole.epochs[0].test.loss);
}

TEST(RuinedWeights, OfTheLastUpdateAreNoEpoch) {
  Watch watch;
  Model model(Network({2}, {Dense{.units = 2, .name = "d"}}), {.device = "cpu"});
  // One step an epoch: its loss is that of the weights before.
  const TrainingOptions options{.epochs = 1, .batch = 64, .optimizer = SGD{.learning_rate = 1e39}};
  const std::string message =
      message_of([&] { train(model, sums_data(64), options, nullptr, &watch); });
  EXPECT_EQ(
      message,
      "the weight 'd.weight' became NaN or infinite in the update of step 0 of the training "
      "(counted from 0) or an earlier one; a lower learning rate, gradient clipping or scaled "
      "inputs may help");
  EXPECT_EQ(watch.heard, "p");
}

TEST(RuinedWeights, AreSeenInTheLossOfAnEvaluation) {
  Watch watch;
  Model model(Network({2}, {Dense{.units = 2}}), {.device = "cpu"});
  const Dataset test = sums_data(64, 2);
  const TrainingOptions options{.epochs = 1, .batch = 64, .optimizer = SGD{.learning_rate = 1e30}};
  const std::string message =
      message_of([&] { train(model, sums_data(64), options, &test, &watch); });
  EXPECT_EQ(message.find("the test loss is NaN or infinite after epoch 1, although all weights are "
                         "finite"),
            0U)
      << message;
  EXPECT_EQ(watch.heard.find('e'), std::string::npos);
}

TEST(Predict, ChecksTheSizeOfEveryColumn) {
  FunctionalNetwork functional;
  const Expression x = functional.input("x", {2});
  const Expression more = functional.input("more", {3});
  Model model(functional.build({{"y", concat({x, more}, 0) | Dense{.units = 2}}}),
              {.device = "cpu"});
  const auto data = [](const Shape& more) {
    return Dataset({{"x", first_input(sums_data(4))}, {"more", Tensor(DType::f32, more)}});
  };
  EXPECT_EQ(model.predict(data({4, 3})).shape(), (Shape{4, 2}));
  const std::string expected =
      "the network takes samples of (3) for 'more' but the data set 'data' holds (2)";
  EXPECT_EQ(message_of([&] { model.predict(data({4, 2})); }), expected);
  EXPECT_EQ(message_of([&] { model.predict_all(data({4, 2})); }), expected);
  EXPECT_EQ(message_of([&] { model.predict_probabilities(data({4, 2})); }), expected);
}

}  // namespace
}  // namespace linnet::testing
