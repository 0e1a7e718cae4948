// SPDX-License-Identifier: Apache-2.0
// A data set may miss classes of a model or have them in another order: names tell which is which.
#include <gtest/gtest.h>
#include <linnet/linnet.h>

#include <algorithm>

#include "message_of.h"
#include "weights.h"

namespace linnet::testing {
namespace {

using Labels = std::vector<std::int32_t>;
using Names = std::vector<std::string>;

/// One-hot samples; sample i shows class shown[i], which `labels` calls by its place in `names`.
Dataset shown(const Labels& classes, const Names& names, const Names& shown_names) {
  std::vector<float> samples;
  Labels labels;
  for (const std::int32_t c : classes) {
    for (std::int32_t k = 0; k < 3; ++k) samples.push_back(k == c ? 1.0F : 0.0F);
    const auto place = std::ranges::find(names, shown_names[static_cast<std::size_t>(c)]);
    labels.push_back(static_cast<std::int32_t>(place - names.begin()));
  }
  Dataset data = data_of(records(samples, {3}), records(labels));
  data.set_info({.name = "pets", .classes = names});
  return data;
}

const Names kNames{"cat", "dog", "emu"};

Labels renamed_labels(const Dataset& data) {
  return vector_of<std::int32_t>(first_target(with_class_names(data, kNames)));
}

TrainingOptions options() {
  return {.epochs = 60, .batch = 6, .optimizer = Adam{.learning_rate = 5e-2}};
}

/// A model that tells the three classes apart.
Model trained() {
  Model model(Network({3}, {Dense{.units = 3}}), {.device = "cpu", .threads = 1});
  train(model, shown({0, 1, 2, 0, 1, 2}, kNames, kNames), options());
  return model;
}

TEST(ClassNames, EvaluationsMapLabelsByName) {
  Model model = trained();
  for (const Names& names :
       {kNames, Names{"dog", "emu"}, Names{"emu", "cat", "dog"}, Names{"emu"}}) {
    Labels classes;
    for (const std::string& name : names) {
      const auto c = std::ranges::find(kNames, name) - kNames.begin();
      classes.insert(classes.end(), 1 + static_cast<std::size_t>(c), static_cast<std::int32_t>(c));
    }
    const Dataset data = shown(classes, names, kNames);
    EXPECT_EQ(evaluate(model, data).accuracy, 1) << names[0];
    const Metrics metrics = evaluate_metrics(model, data);
    EXPECT_EQ(metrics.accuracy, 1) << names[0];
    EXPECT_NEAR(metrics.log_loss, evaluate(model, data).loss, 1e-5);
    EXPECT_EQ(metrics.confusion[8], std::ranges::count(classes, 2));
    EXPECT_EQ(renamed_labels(data), classes);
    EXPECT_EQ(with_class_names(data, kNames).classes(), kNames);
  }
}

TEST(ClassNames, AnUnknownClassIsAnErrorThatListsBoth) {
  Model model = trained();
  const Dataset data = shown({0, 1}, {"cat", "yak", "dog", "bee"}, kNames);
  const std::string wanted =
      "the data set 'pets' has the unknown classes 'yak', 'bee'; the model's classes are 'cat', "
      "'dog', 'emu'";
  EXPECT_EQ(message_of([&] { evaluate(model, data); }), wanted);
  EXPECT_EQ(message_of([&] { evaluate_metrics(model, data); }), wanted);
}

TEST(ClassNames, DataWithoutNamesKeepTheirNumbers) {
  Model model = trained();
  EXPECT_EQ(evaluate(model, shown({2, 1, 0}, kNames, kNames)).accuracy, 1);
  Dataset numbered = shown({2, 1, 0}, kNames, kNames);
  numbered.set_classes({"0", "1", "2"});
  EXPECT_EQ(evaluate(model, numbered).accuracy, 1);
  EXPECT_EQ(evaluate_metrics(model, numbered).accuracy, 1);
  // Numbers that are names: folders called 1 and 0.
  model.set_class_names({"2", "1", "0"});
  EXPECT_NEAR(evaluate(model, numbered).accuracy, 1.0 / 3, 1e-6);
}

TEST(ClassNames, TestPartsOfTrainingsAreMappedToo) {
  Model model(Network({3}, {Dense{.units = 3}}), {.device = "cpu", .threads = 1});
  const Dataset data = shown({0, 1, 2, 0, 1, 2}, kNames, kNames);
  const Dataset other = shown({2, 1, 0}, {"emu", "cat", "dog"}, kNames);
  EXPECT_EQ(train(model, data, options(), &other).epochs.back().test.accuracy, 1);
  const Splits parts{.train = data, .validation = other, .test = shown({1}, {"dog"}, kNames)};
  const EpochReport last = train(model, parts, options()).epochs.back();
  EXPECT_EQ(last.validation.accuracy, 1);
  EXPECT_EQ(last.test.accuracy, 1);
}

TEST(ClassNames, TheIgnoredLabelStays) {
  const std::vector<float> samples{0, 0, 1, 1, 0, 0, 0, 0, 0};
  Dataset data = data_of(records(samples, {3}), records(Labels{0, 1, -100}));
  data.set_classes({"emu", "cat"});
  EXPECT_EQ(renamed_labels(data), (Labels{2, 0, -100}));
  Model model = trained();
  const Metrics metrics = evaluate_metrics(model, data, {.ignore_index = -100});
  EXPECT_EQ(metrics.samples, 2);
  EXPECT_EQ(metrics.accuracy, 1);
}

TEST(ClassNames, ColumnsOfValuesAreMappedToo) {
  const std::vector<float> samples{0, 1, 2, 3};
  const std::vector<float> values{10, 20, 30, 40, 50, 60};
  Dataset data = data_of(records(samples, {2}), records(values, {3}));
  data.set_info({.name = "rays", .classes = {"emu", "cat", "dog"}});
  EXPECT_EQ(vector_of(first_target(with_class_names(data, kNames))),
            (std::vector<float>{20, 30, 10, 50, 60, 40}));
  EXPECT_EQ(message_of([&] {
              with_class_names(data, {"cat", "dog", "emu", "fox"});
            }),
            "the data set 'rays' has no values for 'fox', which the model was trained on");
  EXPECT_EQ(
      message_of([&] {
        with_class_names(data, {"cat", "dog"});
      }),
      "the data set 'rays' has the unknown class 'emu'; the model's classes are 'cat', 'dog'");
}

TEST(ClassNames, AreAtMostAsManyAsTheOutputTellsApart) {
  Model model = trained();
  EXPECT_EQ(
      message_of([&] {
        model.set_class_names({"a", "b", "c", "d"});
      }),
      "got 4 class names; the first output of the network, (3) a sample, has at most 3 classes");
  EXPECT_EQ(model.class_names(), kNames);
  model.set_class_names({"a", "b"});
  Model binary(Network({3}, {Dense{.units = 1}, Sigmoid{}}), {.device = "cpu"});
  binary.set_class_names({"no", "yes"});
  EXPECT_NE(message_of([&] { binary.set_class_names({"no", "yes", "perhaps"}); }), "");
}

/// Names of more classes than the first output has belong to another one.
TEST(ClassNames, OfAnotherOutputAreNotTheModels) {
  FunctionalNetwork f;
  const Expression x = f.input("x", {3});
  Model model(f.build({{"size", x | Dense{.units = 1}}, {"pet", x | Dense{.units = 3}}}),
              {.device = "cpu"});
  Dataset data({{"x", Tensor(DType::f32, {3, 3})}},
               {{"pet", Tensor(Labels{0, 1, 2})}, {"size", Tensor(DType::f32, {3, 1})}});
  data.set_classes(kNames);
  train(model, data, {.epochs = 1});
  EXPECT_TRUE(model.class_names().empty());
}

}  // namespace
}  // namespace linnet::testing
