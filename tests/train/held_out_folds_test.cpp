// SPDX-License-Identifier: Apache-2.0
// Ensembles whose members hold out samples of their own.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <linnet/expression.h>
#include <linnet/layers.h>
#include <linnet/metrics.h>
#include <linnet/model.h>
#include <linnet/table_task.h>
#include <linnet/trainer.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "analysis/linear_rival.h"
#include "data_sets.h"
#include "message_of.h"
#include "model/member_shares.h"
#include "nn/definition.h"
#include "temporary_folder.h"

namespace linnet::test::held_out_folds {
namespace {

using linnet::testing::message_of;
using linnet::testing::TemporaryFolder;
using linnet::testing::vector_of;

constexpr std::int64_t kRows = 12;
constexpr std::int64_t kFolds = 2;

std::vector<float> waves(std::int64_t count, double step) {
  std::vector<float> values;
  for (std::int64_t i = 0; i < count; ++i) {
    values.push_back(static_cast<float>(std::sin(step * static_cast<double>(i + 1))));
  }
  return values;
}

Tensor x() { return Tensor(waves(2 * kRows, 1.3), {kRows, 2}); }

Column targets(Answers answers) {
  if (answers == Answers::classes) {
    std::vector<std::int32_t> labels;
    for (std::int32_t i = 0; i < kRows; ++i) labels.push_back(i * i % 3);
    return {"y", Tensor(labels, {kRows})};
  }
  std::vector<float> y = waves(3 * kRows, 0.7);
  if (answers == Answers::labels) {
    for (float& value : y) value = value > 0 ? 1.F : 0.F;
  }
  return {"y", Tensor(y, {kRows, 3})};
}

/// Nobody holds out the last sample.
std::vector<float> folds() {
  std::vector<float> fold;
  for (std::int64_t i = 0; i < kRows; ++i) fold.push_back(static_cast<float>(i / 2 % kFolds));
  fold.back() = -1;
  return fold;
}

Dataset plain(Answers answers) { return Dataset({{"x", x()}}, {targets(answers)}); }

Dataset with_folds(Answers answers, const std::vector<float>& fold = folds()) {
  Dataset data = plain(answers);
  data.set_folds(Tensor(fold, {kRows}));
  return data;
}

Expression member(const Expression& x, int kind, int fold) {
  const Layer last = Dense{.units = 3, .name = fmt::format("member_{}_{}", kind, fold)};
  return kind == 0 ? x | last : tanh(2 * x) | last;
}

Network alone(int kind, int fold) {
  FunctionalNetwork f;
  return f.build({{"output", member(f.input("x", {2}), kind, fold)}});
}

Network ensemble(Answers answers) {
  FunctionalNetwork f;
  const Expression x = f.input("x", {2});
  std::vector<Expression> members;
  for (const int kind : {0, 1}) {
    for (int fold = 0; fold < kFolds; ++fold) members.push_back(member(x, kind, fold));
  }
  return f.build_ensemble(members, answers, kFolds);
}

ModelOptions one_thread() { return {.device = "cpu", .threads = 1, .seed = 4}; }

TrainingOptions recipe(Answers answers) {
  TrainingOptions training{.epochs = 5, .batch = 4, .optimizer = SGD{.learning_rate = 0.1}};
  if (answers == Answers::labels) training.loss = Loss::binary_cross_entropy;
  return training;
}

/// The members of a trained ensemble, each as a model of its own.
std::vector<Model> members_of(const Model& model) {
  std::vector<Model> apart;
  for (const int kind : {0, 1}) {
    for (int fold = 0; fold < kFolds; ++fold) {
      apart.emplace_back(alone(kind, fold), one_thread());
      State state;
      for (const std::string& name : apart.back().parameter_names()) {
        state.set(name, model.parameter(name));
      }
      apart.back().set_weights(state);
    }
  }
  return apart;
}

/// Returns probabilities or values, of members too, which do not know what they learned.
std::vector<float> answers_of(Model& model, const Dataset& data, Answers answers) {
  if (answers == Answers::classes) return vector_of(model.predict_probabilities(data));
  std::vector<float> given = vector_of(model.predict(data));
  if (answers == Answers::values) return given;
  for (float& logit : given) logit = 1 / (1 + std::exp(-logit));
  return given;
}

class HeldOutFolds : public ::testing::TestWithParam<Answers> {
 protected:
  HeldOutFolds() : model_(ensemble(GetParam()), one_thread()) {}
  void learn(double rate = 0.4) {
    TrainingOptions training = recipe(GetParam());
    training.optimizer = SGD{.learning_rate = rate};
    train(model_, with_folds(GetParam()), training);
  }
  Model model_;
};

TEST_P(HeldOutFolds, AreNotLearnedByTheirMembers) {
  std::vector<Model> before = members_of(model_);
  learn();  // the loss is the mean of four members'
  std::vector<Model> after = members_of(model_);
  const std::vector<float> fold = folds();
  for (std::size_t m = 0; m < before.size(); ++m) {
    Dataset others = plain(GetParam());
    std::vector<float> weights;
    for (const float f : fold) weights.push_back(f == static_cast<float>(m % kFolds) ? 0.F : 1.F);
    others.set_weights(Tensor(weights, {kRows}));
    train(before[m], others, recipe(GetParam()));
    const std::vector<float> wanted = answers_of(before[m], others, GetParam());
    const std::vector<float> got = answers_of(after[m], others, GetParam());
    for (std::size_t i = 0; i < wanted.size(); ++i) EXPECT_NEAR(got[i], wanted[i], 2e-6) << m;
  }
}

TEST_P(HeldOutFolds, AreAnsweredByTheirMembers) {
  learn();
  const Dataset data = with_folds(GetParam());
  std::vector<std::vector<float>> apart;
  for (Model& one : members_of(model_)) {
    apart.push_back(answers_of(one, plain(GetParam()), GetParam()));
  }
  const std::vector<float> got = answers_of(model_, data, GetParam());
  const std::vector<float> all = answers_of(model_, plain(GetParam()), GetParam());
  const std::vector<float> fold = folds();
  double apart_from_all = 0;
  for (std::size_t i = 0; i < got.size(); ++i) {
    if (fold[i / 3] < 0) continue;
    const auto f = static_cast<std::size_t>(fold[i / 3]);
    EXPECT_NEAR(got[i], (apart[f][i] + apart[kFolds + f][i]) / 2, 1e-6) << i;
    EXPECT_NEAR(all[i], (apart[0][i] + apart[1][i] + apart[2][i] + apart[3][i]) / 4, 1e-6) << i;
    apart_from_all = std::max(apart_from_all, static_cast<double>(std::abs(got[i] - all[i])));
  }
  EXPECT_GT(apart_from_all, 1e-3);
  if (GetParam() == Answers::values) {
    for (std::size_t i = got.size() - 3; i < got.size(); ++i) EXPECT_NEAR(got[i], all[i], 1e-6);
  }
  // Evaluations ask the same members.
  const Loss loss = recipe(GetParam()).loss;
  const double measured = evaluate(model_, data, loss).loss;
  const std::vector<float> truth =
      GetParam() == Answers::classes ? std::vector<float>() : vector_of(data.targets()[0].data);
  double sum = 0;
  for (std::size_t i = 0; i < got.size(); ++i) {
    if (GetParam() == Answers::values) sum += std::pow(got[i] - truth[i], 2);
    if (GetParam() == Answers::labels) sum -= std::log(truth[i] > 0 ? got[i] : 1 - got[i]);
  }
  if (GetParam() == Answers::classes) {
    for (std::int32_t i = 0; i < kRows; ++i) {
      sum -= 3 * std::log(got[static_cast<std::size_t>(3 * i + i * i % 3)]);
    }
  }
  EXPECT_NEAR(measured, sum / static_cast<double>(got.size()), 1e-5);
}

TEST_P(HeldOutFolds, ChooseSharesThatFilesHold) {
  learn();
  const Dataset data = with_folds(GetParam());
  const Model weighed = model_.with_member_shares(data);
  const std::vector<double>& shares = weighed.network().definition().outputs.front().shares;
  ASSERT_EQ(shares.size(), 4U);
  EXPECT_EQ(shares[0], shares[1]);
  EXPECT_EQ(shares[2], shares[3]);
  EXPECT_NEAR(shares[0] + shares[2], 0.5, 1e-9);
  EXPECT_GT(std::abs(shares[0] - shares[2]), 1e-3);
  if (GetParam() == Answers::values) {
    // The definition, applied to what each kind's members say of their own samples.
    std::vector<std::vector<float>> apart;
    for (Model& one : members_of(model_))
      apart.push_back(vector_of(one.predict(plain(GetParam()))));
    const std::vector<float> truth = vector_of(data.targets()[0].data);
    const std::vector<float> fold = folds();
    std::vector<double> stds(3);
    for (std::size_t c = 0; c < 3; ++c) {
      double mean = 0;
      for (std::size_t i = 0; i < kRows; ++i) mean += truth[3 * i + c] / double{kRows};
      for (std::size_t i = 0; i < kRows; ++i) stds[c] += std::pow(truth[3 * i + c] - mean, 2);
      stds[c] = std::sqrt(stds[c] / double{kRows});
    }
    std::vector<double> errors;
    for (std::size_t i = 0; i < truth.size(); ++i) {
      for (std::size_t kind = 0; kind < 2; ++kind) {
        const std::vector<float>& first = apart[kFolds * kind];
        const std::vector<float>& second = apart[kFolds * kind + 1];
        const double said = fold[i / 3] < 0    ? (double{first[i]} + second[i]) / 2
                            : fold[i / 3] == 0 ? first[i]
                                               : second[i];
        errors.push_back((said - truth[i]) / stds[i % 3]);
      }
    }
    EXPECT_NEAR(shares[0], shares_of_values(errors, 2, 8)[0] / 2, 1e-4);
  }
  const TemporaryFolder folder;
  weighed.save(folder / "model.safetensors");
  Model loaded = Model::load(folder / "model.safetensors", one_thread());
  EXPECT_EQ(loaded.network().definition().outputs.front().shares, shares);
  Model copy = weighed.copy();
  EXPECT_EQ(vector_of(loaded.predict(data)), vector_of(copy.predict(data)));
  EXPECT_NE(vector_of(loaded.predict(data)), vector_of(model_.predict(data)));
}

TEST_P(HeldOutFolds, MayBeTrainedInShards) {
  TrainingOptions training = recipe(GetParam());
  training.shards = 2;
  train(model_, with_folds(GetParam()), training);
  for (const float value : answers_of(model_, with_folds(GetParam()), GetParam())) {
    EXPECT_TRUE(std::isfinite(value));
  }
}

INSTANTIATE_TEST_SUITE_P(Answers, HeldOutFolds,
                         ::testing::Values(Answers::classes, Answers::labels, Answers::values),
                         [](const auto& info) {
                           return info.param == Answers::classes  ? "Classes"
                                  : info.param == Answers::labels ? "Labels"
                                                                  : "Values";
                         });

TEST(Folds, AreWholeNumbersOfEachSampleThatItKeeps) {
  Dataset data = with_folds(Answers::values);
  const std::vector<float> fold = folds();
  EXPECT_EQ(vector_of(data.folds()), fold);
  EXPECT_EQ(vector_of(data.rows(2, 5).folds()), std::vector(fold.begin() + 2, fold.begin() + 5));
  const std::vector<std::int64_t> some{11, 0, 3};
  EXPECT_EQ(vector_of(data.take(some).folds()), (std::vector<float>{-1, 0, 1}));
  EXPECT_FALSE(data.same_as(plain(Answers::values)));
  for (const auto& [wrong, text] : {std::pair(0.5F, "0.5"), {-2.F, "-2"}, {NAN, "nan"}}) {
    std::vector<float> bad = fold;
    bad[3] = wrong;
    EXPECT_NE(message_of([&] {
                data.set_folds(Tensor(bad, {kRows}));
              }).find(fmt::format("the fold of sample 3 of 'data' is {}", text)),
              std::string::npos);
  }
  EXPECT_NE(message_of([&] {
              data.set_folds(Tensor(fold, {kRows, 1}));
            }).find("expected (12)"),
            std::string::npos);
  data.set_folds({});
  EXPECT_EQ(data.folds().elements(), 0);
}

TEST(Folds, AreRefusedWhereMembersCannotHoldThemOut) {
  FunctionalNetwork f;
  const Expression x = f.input("x", {2});
  const std::vector<Expression> three(3, x | Dense{.units = 1});
  EXPECT_NE(message_of([&] {
              f.build_ensemble(three, Answers::values, 2);
            }).find("divides the 3 members of the ensemble; got 2"),
            std::string::npos);
  Model model(ensemble(Answers::values), one_thread());
  Dataset steps = with_folds(Answers::values);
  steps.set_weights(Tensor(std::vector<float>(3 * kRows, 1), {kRows, 3}));
  EXPECT_NE(message_of([&] {
              train(model, steps, {.epochs = 1});
            }).find("members hold out whole samples"),
            std::string::npos);
}

TEST(Folds, AreAnsweredByLinearModelsThatDoNotKnowThem) {
  Dataset data = with_folds(Answers::values);
  const std::vector<float> all = linear_predictions(data, data, 0);
  std::vector<std::int64_t> own;
  std::vector<std::int64_t> others;
  for (std::int64_t i = 0; i < kRows; ++i) {
    (folds()[static_cast<std::size_t>(i)] == 1 ? own : others).push_back(i);
  }
  Dataset left = data.take(others);
  Dataset asked = data.take(own);
  left.set_folds({});
  asked.set_folds({});
  const std::vector<float> wanted = linear_predictions(left, asked, 0);
  ASSERT_EQ(all.size(), 3U * kRows);
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    EXPECT_EQ(all[static_cast<std::size_t>(own[i / 3]) * 3 + i % 3], wanted[i]);
  }
}

Table table_of(std::int64_t rows) {
  std::string text = "a,when,kind,y\n";
  for (std::int64_t i = 0; i < rows; ++i) {
    text += fmt::format("{}.5,{},{},{}\n", i * 37 % 101, i, i % 4 == 0 ? "few" : "many",
                        (i * 37 % 101) * 0.25);
  }
  return parse_table(text);
}

std::vector<float> fold_of(const Dataset& data) { return vector_of(data.folds()); }

TEST(TableFolds, AreChosenByTheRows) {
  const TableTask small =
      table_task(table_of(200), {.target = "kind", .validation_folds = 0, .seed = 3});
  EXPECT_EQ(small.data.train.size(), 160);
  EXPECT_EQ(small.data.validation.size(), 160);
  const std::vector<float> fold = fold_of(small.data.train);
  const std::vector<std::int32_t> labels = [&] {
    const auto all = small.data.train.targets()[0].data.as<std::int32_t>();
    return std::vector<std::int32_t>(all.begin(), all.end());
  }();
  for (int f = 0; f < 5; ++f) {
    EXPECT_EQ(std::ranges::count(fold, static_cast<float>(f)), 32);
    std::int64_t few = 0;
    for (std::size_t i = 0; i < fold.size(); ++i) {
      few += fold[i] == static_cast<float>(f) &&
             small.data.train.classes().at(static_cast<std::size_t>(labels[i])) == "few";
    }
    EXPECT_EQ(few, 8);
  }
  EXPECT_EQ(small.validation_rows.size(), 160U);
  const auto& output = small.network.definition().outputs.front();
  EXPECT_EQ(output.folds, 5);
  EXPECT_EQ(output.members.size() % 5, 0U);
  const TableTask more = table_task(table_of(3000), {.target = "y", .validation_folds = 0});
  EXPECT_EQ(more.network.definition().outputs.front().folds, 3);
  EXPECT_EQ(more.data.train.size(), 2400);
  EXPECT_EQ(more.data.validation.size(), 1440);
  EXPECT_EQ(std::ranges::count(fold_of(more.data.train), -1.F), 960);
  for (const float f : fold_of(more.data.validation)) EXPECT_GE(f, 0);
  const TableTask most = table_task(table_of(10000), {.target = "y", .validation_folds = 0});
  EXPECT_TRUE(fold_of(most.data.train).empty());
  for (const TableTaskOptions& other : {TableTaskOptions{.target = "y", .time = "when"},
                                        {.target = "y", .validation = 0},
                                        {.target = "y", .ensemble = 1}}) {
    TableTaskOptions chosen = other;
    chosen.validation_folds = 0;
    EXPECT_TRUE(fold_of(table_task(table_of(200), chosen).data.train).empty());
  }
  EXPECT_NE(message_of([] {
              table_task(table_of(200), {.target = "y", .time = "when", .validation_folds = 3});
            }).find("validation folds are random parts"),
            std::string::npos);
}

TEST(TableFolds, LearnWithTheSameBitsOnAnyThreads) {
  TableTask task = table_task(table_of(300), {.target = "y", .validation_folds = 0});
  task.training.epochs = 30;
  const auto trained = [&](int threads) {
    Model model(task.network, {.device = "cpu", .threads = threads, .seed = 1});
    model.set_table(task.transform);
    train(model, task.data, task.training);
    return model.with_member_shares(task.data.validation);
  };
  Model one = trained(1);
  Model two = trained(2);
  EXPECT_EQ(vector_of(one.predict(task.data.test)), vector_of(two.predict(task.data.test)));
  EXPECT_GT(evaluate_metrics(one, task.data.test).r_squared, 0.9);
  EXPECT_GT(evaluate_metrics(one, task.data.validation).r_squared, 0.9);
}

}  // namespace
}  // namespace linnet::test::held_out_folds
