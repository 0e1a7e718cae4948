// SPDX-License-Identifier: Apache-2.0
// What a training refuses before its first step, and what it never hands to whoever saves.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "../message_of.h"
#include "fixtures.h"

namespace linnet::testing {
namespace {

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr const char* kOneValue =
    "[batch_norm 'norm'] expected more than 1 value per channel when training; ";

Network dense_norm() {
  return Network({2}, {Dense{.units = 4}, BatchNorm{.name = "norm"}, ReLU{}, Dense{.units = 2}});
}

/// The error of a training that must not have touched a weight.
std::string refusal(const Network& network, const DatasetPair& parts, TrainingOptions options) {
  Model model(network, {.device = "cpu", .seed = 1});
  std::vector<std::vector<float>> before;
  for (const std::string& name : model.parameter_names()) before.push_back(model.parameter(name));
  const std::string message = message_of([&] { train(model, parts, options); });
  for (std::size_t i = 0; i < before.size(); ++i) {
    EXPECT_EQ(model.parameter(model.parameter_names()[i]), before[i]);
  }
  return message;
}

TEST(BatchNormOfOneRow, IsRefusedForTheLastBatchBeforeTheFirstStep) {
  EXPECT_EQ(refusal(dense_norm(), {.train = sums_data(33), .test = {}}, {.epochs = 1, .batch = 8}),
            std::string(kOneValue) +
                "the last batch of 33 samples in batches of 8 has 1: choose another batch size, "
                "such as 9, or drop_last (--drop-last), which leaves that sample out");
  // 25 of 44 are left by the validation part.
  EXPECT_EQ(refusal(dense_norm(), {.train = sums_data(44), .test = {}},
                    {.epochs = 1, .batch = 11, .validation = 0.23})
                .find(std::string(kOneValue) + "the last batch of 34 samples"),
            0U);
}

TEST(BatchNormOfOneRow, IsRefusedForBatchesOfOneSample) {
  EXPECT_EQ(refusal(dense_norm(), {.train = sums_data(33), .test = {}}, {.epochs = 1, .batch = 1}),
            std::string(kOneValue) + "a batch of 1 sample gives it (1, 4): choose a larger batch");
  EXPECT_EQ(refusal(dense_norm(), {.train = sums_data(1), .test = {}}, {.epochs = 1, .batch = 8}),
            std::string(kOneValue) + "there is 1 training sample");
}

TEST(BatchNormOfOneRow, SpatialNormsCountPixels) {
  const Dataset data = make_digits(5, 0, 1).train;
  const auto network = [](std::int64_t size) {
    return Network({28, 28, 1}, {Rescale{}, AvgPool2d{size}, BatchNorm{.name = "norm"}, Flatten{},
                                 Dense{.units = 10}});
  };
  for (const std::int64_t batch : {1, 2, 4}) {
    Model model(network(14), {.device = "cpu"});  // 2 x 2 pixels
    const History history = train(model, data, {.epochs = 1, .batch = batch});
    EXPECT_EQ(history.epochs[0].train.samples, 5);
    EXPECT_GT(model.parameter("norm.running_var")[0], 0);
  }
  EXPECT_EQ(refusal(network(28), {.train = data, .test = {}}, {.batch = 2}).find(kOneValue), 0U);
}

TEST(BatchNormOfOneRow, DropLastLeavesTheSampleOutAndOtherOnesInOtherEpochs) {
  Model model(dense_norm(), {.device = "cpu", .seed = 1});
  const History history = train(model, sums_data(33), {.epochs = 2, .batch = 8, .drop_last = true});
  EXPECT_EQ(history.epochs[1].train.samples, 32);
  EXPECT_EQ(history.epochs[1].step_losses.size(), 4U);
  for (const float variance : model.parameter("norm.running_var")) EXPECT_GT(variance, 0);
  EXPECT_EQ(refusal(dense_norm(), {.train = sums_data(7), .test = {}},
                    {.epochs = 1, .batch = 8, .drop_last = true}),
            "drop_last leaves nothing of 7 training samples at batch 8");
}

TEST(DropLast, TrainsOnWhatTheWholeBatchesOfTheDataWouldGive) {
  const Dataset whole = sums_data(35);
  Dataset cut = whole;
  cut.floats.resize(32 * 2);
  cut.values.resize(32 * 2);
  const auto trained = [](const Dataset& data, bool drop_last) {
    Model model(Network({2}, {Dense{.units = 2}}), {.device = "cpu", .seed = 1});
    train(model, data, {.epochs = 3, .batch = 8, .shuffle = false, .drop_last = drop_last});
    return model.parameter("dense_1.weight");
  };
  EXPECT_EQ(trained(whole, true), trained(cut, false));
  EXPECT_NE(trained(whole, false), trained(cut, false));
}

TEST(TrainingData, ValuesThatAreNotFiniteAreNamed) {
  const Network network({2}, {Dense{.units = 2}});
  DatasetPair parts{.train = sums_data(10), .test = sums_data(6)};
  const std::string end = " of 'array' (counted from 0) is ";
  parts.train.floats[7] = kNaN;
  EXPECT_EQ(refusal(network, parts, {}),
            "row 3, column 1 of the samples" + end + "nan; training needs finite numbers");
  parts.train = sums_data(10);
  parts.train.values[4] = -kInfinity;
  EXPECT_EQ(refusal(network, parts, {}),
            "row 2, column 0 of the targets" + end + "-inf; training needs finite numbers");
  parts.train = sums_data(10);
  parts.test.floats[11] = kInfinity;  // would be known after the first epoch alone
  EXPECT_EQ(refusal(network, parts, {}),
            "row 5, column 1 of the samples" + end + "inf; training needs finite numbers");
  parts.test = sums_data(6);
  parts.validation = sums_data(6);
  parts.validation.values[0] = kNaN;
  parts.validation.targets_file = "folder/y_valid.npy";
  EXPECT_EQ(
      refusal(network, parts, {}),
      "row 0, column 0 of 'folder/y_valid.npy' (counted from 0) is nan; training needs finite "
      "numbers");
}

TEST(TrainingData, PlacesInImagesHaveAllAxes) {
  const std::vector<std::int32_t> labels{0, 1, 0};
  std::vector<float> pixels(3 * 4 * 5 * 2, 0.5F);
  pixels[40 + (3 * 5 + 4) * 2 + 1] = kNaN;
  const Dataset data = make_dataset({4, 5, 2}, std::span<const float>(pixels), labels);
  EXPECT_EQ(refusal(Network({4, 5, 2}, {Flatten{}, Dense{.units = 2}}), {.train = data, .test = {}},
                    {}),
            "row 1, column (3, 4, 1) of the samples of 'array' (counted from 0) is nan; training "
            "needs finite numbers");
}

TEST(TrainingData, IdsOutsideTheEmbeddingAreNamed) {
  const std::vector<std::int32_t> labels{0, 1};
  const Network network({3},
                        {Embedding{.vocabulary = 5, .features = 2, .name = "words"}, Flatten{},
                         Dense{.units = 2}},
                        DType::i32);
  for (const std::int32_t id : {5, -1}) {
    const std::vector<std::int32_t> ids{0, 1, 2, 3, id, 4};
    const Dataset data = make_dataset({3}, std::span<const std::int32_t>(ids), labels);
    EXPECT_EQ(
        refusal(network, {.train = data, .test = {}}, {}),
        fmt::format("row 1, column 1 of the samples of 'array' (counted from 0) is the id {}, "
                    "but the embedding 'words' has rows 0 to 4",
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
  DatasetPair parts{.train = sums_data(3), .test = {}};
  parts.train.more_inputs.push_back({"word", {1}, DType::i32, {}, {}, {0, 3, 9}});
  parts.train.more_targets.push_back({"side", {1}, DType::f32, {}, {1, 2, kNaN}, {}});
  EXPECT_EQ(refusal(network, parts, {}),
            "row 2, column 0 of the column 'side' of 'array' (counted from 0) is nan; training "
            "needs finite numbers");
  parts.train.more_targets[0].floats[2] = 3;
  const std::string message = refusal(network, parts, {});
  EXPECT_EQ(message.find("row 2, column 0 of the column 'word' of 'array' (counted from 0) is the "
                         "id 9, but the embedding 'embedding_1' has rows 0 to 3"),
            0U)
      << message;
}

TEST(TrainingData, LabelsThatAreAllIgnoredLeaveNothingToLearn) {
  const Network network({2}, {Dense{.units = 2}});
  DatasetPair parts{.train = circle_data(10), .test = circle_data(6)};
  TrainingOptions options{.epochs = 1, .loss_options = {.ignore_index = 7}};
  parts.train.labels.assign(10, 7);
  EXPECT_EQ(refusal(network, parts, options),
            "all 10 labels of the training samples of '" + parts.train.name +
                "' are 7, which the loss ignores (ignore_index): nothing is left to learn or to "
                "measure");
  parts.train.labels[0] = 1;
  options.validation = 0.5;
  EXPECT_EQ(refusal(network, parts, options).find("all 5 labels of the validation samples"), 0U);
  options.validation = 0;
  parts.test.labels.assign(6, 7);
  EXPECT_EQ(refusal(network, parts, options).find("all 6 labels of the test samples"), 0U);
  parts.test = circle_data(6);
  parts.train.labels.assign(10, 1);
  options.loss_options.class_weights = {1, 0};
  EXPECT_EQ(refusal(network, parts, options)
                .find("the loss counts none of the 10 labels of the training samples"),
            0U);
}

TEST(TrainingData, ALabelWithoutAnOutputIsNamed) {
  Dataset data = circle_data(10);
  data.class_names = {"a", "b", "c", "d"};
  data.labels[6] = 3;
  data.targets_file = "y_train.npy";
  EXPECT_EQ(refusal(Network({2}, {Dense{.units = 3}}), {.train = data, .test = {}}, {}),
            "the network ends in 3 outputs but the data set '" + data.name +
                "' has 4 classes; row 6 of 'y_train.npy' (counted from 0) is the label 3");
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
  const TrainingOptions options{.epochs = 1, .batch = 64, .optimizer = sgd(1e39)};
  const std::string message =
      message_of([&] { train(model, sums_data(64), options, nullptr, &watch); });
  EXPECT_EQ(message,
            "the weight 'd.weight' became NaN or infinite in epoch 1; a lower learning rate, "
            "gradient clipping or scaled inputs may help");
  EXPECT_EQ(watch.heard, "p");
}

TEST(RuinedWeights, AreSeenInTheLossOfAnEvaluation) {
  Watch watch;
  Model model(Network({2}, {Dense{.units = 2}}), {.device = "cpu"});
  const Dataset test = sums_data(64, 2);
  const TrainingOptions options{.epochs = 1, .batch = 64, .optimizer = sgd(1e30)};
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
  Dataset data = sums_data(4);
  data.more_inputs.push_back({"more", {3}, DType::f32, {}, std::vector<float>(12, 1), {}});
  EXPECT_EQ(model.predict(data).size(), 8U);
  data.more_inputs[0].floats.resize(9);
  const std::string expected =
      "'more' of 'array' holds 36 bytes; expected 48 for 4 records of f32 (3)";
  EXPECT_EQ(message_of([&] { model.predict(data); }), expected);
  EXPECT_EQ(message_of([&] { model.predict_all(data); }), expected);
  EXPECT_EQ(message_of([&] { model.predict_probabilities(data); }), expected);
}

}  // namespace
}  // namespace linnet::testing
