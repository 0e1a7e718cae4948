// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <linnet/layers.h>
#include <linnet/training_warnings.h>

#include <algorithm>
#include <random>

#include "temporary_folder.h"

namespace linnet::test {
namespace {

using linnet::testing::TemporaryFolder;

/// (count, 3) normal numbers, the last column times `scale`; targets 0 or 1.
Dataset points(std::int64_t count, float scale, unsigned seed, bool labels = false) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  std::vector<float> x;
  std::vector<float> y;
  std::vector<std::int32_t> classes;
  for (std::int64_t i = 0; i < count; ++i) {
    for (int k = 0; k < 3; ++k) x.push_back(normal(random) * (k == 2 ? scale : 1));
    y.push_back(x.back() > 0 ? 1.0F : 0.0F);
    classes.push_back(x.back() > 0 ? 1 : 0);
  }
  const Column inputs{"x", Tensor(std::move(x), {count, 3})};
  if (labels) return {{inputs}, {{"label", Tensor(std::move(classes))}}};
  return {{inputs}, {{"y", Tensor(std::move(y), {count, 1})}}};
}

Model model_of(std::vector<Layer> layers) {
  return Model(Network({3}, std::move(layers)), {.device = "cpu", .threads = 1});
}

bool warns(const std::vector<std::string>& warnings, const std::string& of) {
  return std::ranges::any_of(warnings, [&](const auto& warning) {
    return warning.find(of) != std::string::npos;
  });
}

TEST(TrainingWarnings, InputsThatNoLayerScales) {
  const Dataset large = points(50, 5000, 1, true);
  const Model plain = model_of({Dense{.units = 4}, ReLU{}, Dense{.units = 2}});
  const auto warnings = training_warnings(plain, {.train = large}, {});
  ASSERT_EQ(warnings.size(), 1U);
  EXPECT_TRUE(warnings[0].starts_with("the input 'input' has large numbers")) << warnings[0];
  EXPECT_TRUE(warns(warnings, "in column 2"));
  const Dataset small = points(50, 5, 1, true);
  EXPECT_TRUE(training_warnings(plain, {.train = small}, {}).empty());
  for (const Layer& first : {Layer(BatchNorm{}), Layer(Rescale{}), Layer(LayerNorm{})}) {
    const Model scaled = model_of({first, Dense{.units = 2}});
    EXPECT_TRUE(training_warnings(scaled, {.train = large}, {}).empty());
  }
  const Model after = model_of({Dense{.units = 4}, BatchNorm{}, ReLU{}, Dense{.units = 2}});
  EXPECT_TRUE(training_warnings(after, {.train = large}, {}).empty());
}

TEST(TrainingWarnings, ClassesBehindASigmoid) {
  const Dataset labels = points(50, 1, 1, true);
  const Model sigmoid = model_of({Dense{.units = 2}, Sigmoid{}});
  const std::string said =
      "the labels are one class of several, but the output 'output' ends in a sigmoid";
  EXPECT_TRUE(warns(training_warnings(sigmoid, {.train = labels}, {}), said));
  EXPECT_FALSE(
      warns(training_warnings(sigmoid, {.train = labels}, {.loss = Loss::binary_cross_entropy}),
            said));
  EXPECT_FALSE(warns(training_warnings(sigmoid, {.train = labels}, {.loss = Loss::hinge}), said));
  for (const Layer& last : {Layer(Softmax{}), Layer(ReLU{})}) {
    const Model other = model_of({Dense{.units = 2}, last});
    EXPECT_FALSE(warns(training_warnings(other, {.train = labels}, {}), said));
  }
  const Model one = model_of({Dense{.units = 1}, Sigmoid{}});
  EXPECT_FALSE(warns(training_warnings(one, {.train = points(50, 1, 1)}, {}), said));
}

TEST(TrainingWarnings, ATestSetThatChoosesTheEpoch) {
  const Model model = model_of({Dense{.units = 2}});
  const Splits split{.train = points(50, 1, 1, true), .test = points(50, 1, 2, true)};
  const auto count = [&](const Splits& data, const TrainingOptions& options) {
    return training_warnings(model, data, options).size();
  };
  EXPECT_EQ(count(split, {}), 0U);
  EXPECT_EQ(count(split, {.patience = 3}), 1U);
  EXPECT_TRUE(warns(training_warnings(model, split, {.keep_best = true}),
                    "chooses the epoch, since there is no validation set"));
  Splits held_out = split;
  held_out.validation = points(50, 1, 3, true);
  EXPECT_EQ(count(held_out, {.patience = 3, .keep_best = true}), 0U);
  EXPECT_EQ(count({.train = split.train}, {.patience = 3}), 0U);
}

TEST(TrainingWarnings, TheSquaredErrorOfZerosAndOnes) {
  const Dataset data = points(50, 1, 1);
  const Model model = model_of({Dense{.units = 1}});
  EXPECT_TRUE(warns(training_warnings(model, {.train = data}, {}), "squared error"));
  EXPECT_TRUE(
      warns(training_warnings(model, {.train = data}, {.loss = Loss::mse}), "squared error"));
  EXPECT_TRUE(
      training_warnings(model, {.train = data}, {.loss = Loss::binary_cross_entropy}).empty());
}

TEST(TrainingWarnings, AValidationSetThatIsInTheTrainingSet) {
  const Model model = model_of({Dense{.units = 2}});
  const Dataset train = points(3000, 1, 1, true);  // more than are noted
  const Dataset other = points(1000, 1, 2, true);
  EXPECT_TRUE(training_warnings(model, {.train = train, .validation = other}, {}).empty());
  const auto warnings =
      training_warnings(model, {.train = train, .validation = train.rows(0, 1000), .test = other},
                        {});
  ASSERT_EQ(warnings.size(), 1U);
  EXPECT_EQ(
      warnings[0],
      "about 100 % of the samples of the validation set of 'data' have the inputs of a training "
      "sample (targets are not compared), so its metrics are too good for new data");
}

TEST(TrainingWarnings, SamplesThatEqualEachOtherEverywhereAreNoMistake) {
  // Four different samples, as in a table of two booleans: each part holds all of them.
  Model model = model_of({Dense{.units = 2}});
  std::vector<float> values;
  for (int i = 0; i < 200; ++i) {
    for (const int bit : {i % 2, i / 2 % 2, 0}) values.push_back(static_cast<float>(bit));
  }
  const std::vector<Column> targets = points(200, 1, 1, true).targets();
  const Dataset few({{"input", Tensor(values, {200, 3})}}, targets, {.name = "few"});
  EXPECT_TRUE(training_warnings(model, {.train = few.rows(0, 150), .test = few.rows(150, 200)}, {})
                  .empty());
  remember_samples(model, few.rows(0, 150));
  EXPECT_EQ(seen_share(model, few.rows(150, 200)), 0);
}

TEST(TrainingWarnings, AModelKnowsWhatItHasLearnedFrom) {
  const TemporaryFolder folder;
  Model model = model_of({Dense{.units = 2}});
  const Dataset data = points(3000, 1, 1, true);
  EXPECT_EQ(seen_share(model, data), 0);
  remember_samples(model, data.rows(0, 2000));
  EXPECT_NEAR(seen_share(model, data), 2.0 / 3, 0.1);
  EXPECT_EQ(seen_share(model, data.rows(0, 1000)), 1);
  EXPECT_EQ(seen_share(model, data.rows(2000, 3000)), 0);
  train(model, data.rows(0, 2000), {.epochs = 1});
  model.save(folder / "model.safetensors");
  const Model loaded = Model::load(folder / "model.safetensors", {.device = "cpu", .threads = 1});
  EXPECT_EQ(seen_share(loaded, data.rows(0, 1000)), 1);
  // A later training adds its samples; another head keeps them.
  Model further = loaded.with_head("dense_1", Dense{.units = 3});
  remember_samples(further, data.rows(2000, 3000));
  EXPECT_EQ(seen_share(further, data), 1);
  const auto warnings =
      training_warnings(loaded, {.train = data.rows(2000, 3000), .test = data.rows(0, 500)}, {});
  ASSERT_EQ(warnings.size(), 1U);
  EXPECT_TRUE(warns(warnings, "have the inputs of a sample of an earlier training"));
}

TEST(TrainingWarnings, SeveralLabelsTrainWithBinaryCrossEntropyByThemselves) {
  std::vector<float> values;
  for (int i = 0; i < 20; ++i) {
    values.push_back(i % 2 == 0 ? 1.0F : 0.0F);
    values.push_back(i % 3 == 0 ? 1.0F : 0.0F);
  }
  const std::vector<Column> inputs = points(20, 1, 1).inputs();
  const Dataset findings(inputs, {{"value", Tensor(values, {20, 2})}},
                         {.name = "x-rays", .classes = {"mass", "nodule"}});
  Model model = model_of({Dense{.units = 2}});
  EXPECT_TRUE(training_warnings(model, {.train = findings}, {}).empty());
  train(model, findings, {.epochs = 1});
  EXPECT_EQ(model.training_record().loss, "binary_cross_entropy");
  EXPECT_EQ(model.answers(), Answers::labels);
  // Other values stay values.
  values[3] = 0.5F;
  const Dataset shares(inputs, {{"value", Tensor(values, {20, 2})}},
                       {.name = "shares", .classes = {"mass", "nodule"}});
  train(model, shares, {.epochs = 1});
  EXPECT_EQ(model.training_record().loss, "mse");
}

}  // namespace
}  // namespace linnet::test
