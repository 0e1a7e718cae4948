// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <linnet/intervals.h>
#include <linnet/layers.h>
#include <linnet/trainer.h>

#include <cmath>
#include <map>

#include "data_sets.h"
#include "formats/safetensors.h"
#include "message_of.h"
#include "model/intervals.h"
#include "temporary_folder.h"
#include "weights.h"

namespace linnet::testing {
namespace {

/// A model whose output is its input.
Model identity(std::int64_t width = 1) {
  Model model(Network({width}, {Dense{.units = width, .name = "d"}}),
              {.device = "cpu", .threads = 1});
  std::vector<float> weight(static_cast<std::size_t>(width * width));
  for (std::int64_t i = 0; i < width; ++i) weight[static_cast<std::size_t>(i * width + i)] = 1;
  set_parameter(model, "d.weight", weight);
  return model;
}

/// Inputs 0; the targets are 1, -2, 3, ..., n, in another order, times `scale`.
Dataset misses(std::int64_t n, float scale = 1) {
  std::vector<float> targets;
  for (std::int64_t i = 0; i < n; ++i) {
    const auto size = static_cast<float>((i * 7) % n + 1);  // n is not a multiple of 7
    targets.push_back(scale * (i % 2 == 0 ? size : -size));
  }
  return {{{"x", records(std::vector<float>(static_cast<std::size_t>(n)), {1})}},
          {{"y", records(std::move(targets), {1})}}};
}

TEST(Intervals, AreOrderStatisticsOfTheErrors) {
  Model model = identity();
  calibrate_intervals(model, misses(19));
  EXPECT_EQ(held_out_errors(model).samples, 19);
  // ceil(20 * 0.9) = 18, ceil(20 * 0.5) = 10, ceil(20 * 0.91) = 19.
  EXPECT_EQ(interval_half_widths(model, 0.9), std::vector<double>{18});
  EXPECT_EQ(interval_half_widths(model, 0.5), std::vector<double>{10});
  EXPECT_EQ(interval_half_widths(model, 0.91), std::vector<double>{19});
  EXPECT_EQ(interval_half_widths(model, 0.95), std::vector<double>{19});
  EXPECT_EQ(interval_half_widths(model, 0.001), std::vector<double>{1});
  EXPECT_EQ(message_of([&] { interval_half_widths(model, 0.951); }),
            "an interval of coverage 0.951 needs the errors of at least 20 held-out samples; the "
            "model has those of 19, enough for a coverage of 0.95");
  // Products that are whole numbers but for rounding: ceil(10 * 0.7) = 7.
  calibrate_intervals(model, misses(9));
  EXPECT_EQ(interval_half_widths(model, 0.7), std::vector<double>{7});
  EXPECT_EQ(interval_half_widths(model, 0.9), std::vector<double>{9});
}

TEST(Intervals, StandAroundPredictions) {
  Model model = identity();
  calibrate_intervals(model, misses(9));
  const Dataset data({{"x", records<float>({1, -2.5F}, {1})}});
  const PredictedIntervals all = predict_intervals(model, data, 0.5);
  EXPECT_EQ(all.value.shape(), (Shape{2, 1}));
  EXPECT_EQ(all.value.as<double>()[1], -2.5);
  EXPECT_EQ(all.low.as<double>()[0], -4);
  EXPECT_EQ(all.high.as<double>()[1], 2.5);
}

/// Each number has its own errors.
TEST(Intervals, OfSeveralNumbersDiffer) {
  Model model = identity(2);
  std::vector<float> targets;
  for (int i = 1; i <= 9; ++i) {
    targets.push_back(static_cast<float>(i));
    targets.push_back(static_cast<float>(-10 * i));
  }
  calibrate_intervals(model, {{{"x", records(std::vector<float>(18), {2})}},
                              {{"y", records(std::move(targets), {2})}}});
  EXPECT_EQ(interval_half_widths(model, 0.9), (std::vector<double>{9, 90}));
}

TEST(Intervals, OfManySamplesAreKeptByRank) {
  Model model = identity();
  constexpr std::int64_t kSamples = 9999;
  calibrate_intervals(model, misses(kSamples));
  ASSERT_EQ(held_out_errors(model).outputs[0].quantiles[0].size(), 1000U);
  EXPECT_EQ(held_out_errors(model).outputs[0].quantiles[0].back(), kSamples);
  // Never less than the error of the rank, and at most a thousandth of the samples further.
  for (const double coverage : {0.01, 0.5, 0.6543, 0.9, 0.95, 0.9999}) {
    const double rank = std::ceil((kSamples + 1) * coverage - 1e-6);
    const double width = interval_half_widths(model, coverage)[0];
    EXPECT_GE(width, rank) << coverage;
    EXPECT_LE(width, rank + kSamples / 1000.0) << coverage;
  }
}

TEST(Intervals, TravelWithTheModelUntilItIsTrained) {
  Model model = identity();
  calibrate_intervals(model, misses(20, 0.123456789F));
  const HeldOutErrors errors = held_out_errors(model);
  EXPECT_EQ(held_out_errors(model.copy()), errors);
  const TemporaryFolder folder;
  model.save(folder / "model.safetensors");
  Model loaded = Model::load(folder / "model.safetensors", {.device = "cpu", .threads = 1});
  EXPECT_EQ(held_out_errors(loaded), errors);
  EXPECT_EQ(held_out_errors(loaded.with_head("d", Dense{.units = 1})).samples, 0);
  Trainer trainer(loaded, {.loss = Loss::mse});
  trainer.fit(misses(20), {.epochs = 1, .batch = 20});
  EXPECT_EQ(held_out_errors(loaded).samples, 0) << "they were those of other weights";
  EXPECT_EQ(message_of([&] { interval_half_widths(loaded, 0.9); }),
            "the model has no errors of held-out samples, which prediction intervals follow from: "
            "a training with a validation set keeps them, and calibrate_intervals() measures them");
}

TEST(Intervals, ADamagedFileIsAnError) {
  Model model = identity();
  calibrate_intervals(model, misses(9));
  const TemporaryFolder folder;
  model.save(folder / "whole.safetensors");
  const SafetensorsFile file = read_safetensors(folder / "whole.safetensors");
  const auto error = [&](const std::string& text) {
    std::map<std::string, std::string> metadata = file.metadata();
    metadata["linnet.held_out_errors"] = text;
    const std::string path = (folder / "damaged.safetensors").string();
    write_safetensors(path, file.tensors(), metadata);
    const std::string start = "cannot load the model '" + path + "': ";
    const std::string message = message_of([&] { Model::load(path); });
    EXPECT_EQ(message.substr(0, start.size()), start);
    return message.substr(std::min(start.size(), message.size()));
  };
  for (const char* text :
       {"[]", "{}", R"({"samples": -1, "outputs": []})", R"({"samples": 9, "outputs": {}})",
        R"({"samples": 9, "outputs": [[]]})",
        R"({"samples": 9, "outputs": [{"output": "output"}]})",
        R"({"samples": 9, "outputs": [{"output": "output", "errors": [1]}]})",
        R"({"samples": 9, "outputs": [{"output": "output", "errors": [["1"]]}]})"}) {
    EXPECT_EQ(error(text), "its errors of held-out samples are damaged") << text;
  }
  const std::string start = R"({"samples": 3, "outputs": [{"output": "output", "errors": [)";
  EXPECT_EQ(error(start + "]}]}"),
            "the output 'output' has 1 numbers a sample; got the errors of 0");
  for (const char* values : {"[2,1]", "[-1,1]", "[1,2,3,4]", "[]"}) {
    EXPECT_EQ(
        error(start + values + "]}]}")
            .find("expected 1 to 3 errors of the output 'output', finite, at least 0 and rising"),
        0U)
        << values;
  }
  EXPECT_EQ(error(R"({"samples": 9, "outputs": []})"),
            "expected errors of outputs on at least 1 sample, or none of both; got 9 samples and 0 "
            "outputs");
}

TEST(Intervals, WhatIsRefused) {
  Model model = identity();
  for (const double coverage : {0.0, 1.0, -0.5, 90.0, std::nan("")}) {
    EXPECT_EQ(message_of([&] {
                interval_half_widths(model, coverage);
              }).find("a prediction interval has a coverage between 0 and 1, such as 0.9; got "),
              0U)
        << coverage;
  }
  calibrate_intervals(model, misses(9));
  EXPECT_EQ(message_of([&] { interval_half_widths(model, 0.5, "outputs"); }),
            "the model has no errors of the output 'outputs'; did you mean 'output'?");
  EXPECT_EQ(message_of([&] {
              calibrate_intervals(model, {{{"x", records<float>({1, 2}, {1})}},
                                          {{"y", records<float>({1, INFINITY}, {1})}}});
            }),
            "the output 'output' or its target is not finite in sample 1");
  Model classes = identity(2);
  classes.set_class_names({"a", "b"});
  classes.set_training_record({.loss = "cross_entropy", .labels = true, .sample_shape = {2}});
  const Dataset labelled({{"x", records<float>({1, 2, 3, 4}, {2})}},
                         {{"y", records<std::int32_t>({0, 1})}});
  EXPECT_EQ(message_of([&] { calibrate_intervals(classes, labelled); }),
            "prediction intervals are for models of values; this model predicts classes");
  EXPECT_EQ(message_of([&] { interval_half_widths(classes, 0.9); }),
            "prediction intervals are for models of values; this model predicts classes");
  EXPECT_FALSE(calibrate_where_possible(classes, labelled));
  EXPECT_FALSE(calibrate_where_possible(model, labelled)) << "labels of a model of values";
  EXPECT_FALSE(calibrate_where_possible(model, {}));
  EXPECT_TRUE(calibrate_where_possible(model, misses(9)));
}

}  // namespace
}  // namespace linnet::testing
