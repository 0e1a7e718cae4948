// SPDX-License-Identifier: Apache-2.0
// Networks whose output is the mean of members that learn apart, and the default ones of tables.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <linnet/checkpoint.h>
#include <linnet/expression.h>
#include <linnet/layers.h>
#include <linnet/metrics.h>
#include <linnet/model.h>
#include <linnet/table_task.h>
#include <linnet/trainer.h>

#include <cmath>
#include <string>
#include <vector>

#include "data_sets.h"
#include "message_of.h"
#include "model/member_shares.h"
#include "nn/definition.h"
#include "temporary_folder.h"

namespace linnet::test::ensembles {
namespace {

using linnet::testing::message_of;
using linnet::testing::TemporaryFolder;
using linnet::testing::vector_of;

constexpr std::int64_t kRows = 12;

std::vector<float> waves(std::int64_t count, double step) {
  std::vector<float> values;
  for (std::int64_t i = 0; i < count; ++i) {
    values.push_back(static_cast<float>(std::sin(step * static_cast<double>(i + 1))));
  }
  return values;
}

/// Two numbers a sample; labels of 3 classes, two labels of yes or no, or two values.
Dataset samples(Answers answers) {
  const Tensor x(waves(2 * kRows, 1.3), {kRows, 2});
  if (answers == Answers::classes) {
    std::vector<std::int32_t> labels;
    for (std::int32_t i = 0; i < kRows; ++i) labels.push_back(i % 3);
    return Dataset({{"x", x}}, {{"y", Tensor(labels, {kRows})}});
  }
  std::vector<float> y = waves(2 * kRows, 0.7);
  if (answers == Answers::labels) {
    for (float& value : y) value = value > 0 ? 1.F : 0.F;
  }
  return Dataset({{"x", x}}, {{"y", Tensor(y, {kRows, 2})}});
}

/// The first and the second member, each alone.
Network member(int which, std::int64_t outputs) {
  FunctionalNetwork f;
  const Expression x = f.input("x", {2});
  const Layer last = Dense{.units = outputs, .name = fmt::format("member_{}", which)};
  return f.build({{"output", which == 1 ? x | last : tanh(2 * x) | last}});
}

Network ensemble(std::int64_t outputs, Answers answers) {
  FunctionalNetwork f;
  const Expression x = f.input("x", {2});
  return f.build_ensemble({x | Dense{.units = outputs, .name = "member_1"},
                           tanh(2 * x) | Dense{.units = outputs, .name = "member_2"}},
                          answers);
}

ModelOptions one_thread() { return {.device = "cpu", .threads = 1, .seed = 4}; }

TrainingOptions recipe(Answers answers) {
  TrainingOptions training{.epochs = 5, .batch = 4, .optimizer = SGD{.learning_rate = 0.1}};
  if (answers == Answers::labels) training.loss = Loss::binary_cross_entropy;
  return training;
}

class Ensemble : public ::testing::TestWithParam<Answers> {
 protected:
  std::int64_t outputs() const { return GetParam() == Answers::classes ? 3 : 2; }
};

TEST_P(Ensemble, PredictsTheMeanOfItsMembersWhichLearnAsIfAlone) {
  const Dataset data = samples(GetParam());
  Model both(ensemble(outputs(), GetParam()), one_thread());
  std::vector<std::vector<float>> apart;
  TrainingOptions training = recipe(GetParam());
  for (const int which : {1, 2}) {
    Model alone(member(which, outputs()), one_thread());
    for (const std::string& name : alone.parameter_names()) {
      State state;
      state.set(name, both.parameter(name));
      alone.set_weights(state);
    }
    train(alone, data, training);
    apart.push_back(vector_of(GetParam() == Answers::values ? alone.predict(data)
                                                            : alone.predict_probabilities(data)));
  }
  // The loss is the mean of the members', so SGD takes steps of half the length for each.
  training.optimizer = SGD{.learning_rate = 0.2};
  train(both, data, training);
  const std::vector<float> mean = vector_of(
      GetParam() == Answers::values ? both.predict(data) : both.predict_probabilities(data));
  ASSERT_EQ(mean.size(), apart[0].size());
  for (std::size_t i = 0; i < mean.size(); ++i) {
    EXPECT_NEAR(mean[i], (apart[0][i] + apart[1][i]) / 2, 2e-6) << i;
    EXPECT_GT(std::abs(apart[0][i] - apart[1][i]), 1e-7) << i;
  }
}

TEST_P(Ensemble, IsOneNetworkThatFilesHoldWithItsMembers) {
  const TemporaryFolder folder;
  const Dataset data = samples(GetParam());
  Model model(ensemble(outputs(), GetParam()), one_thread());
  EXPECT_EQ(model.network().output_names(), std::vector<std::string>{"output"});
  train(model, data, recipe(GetParam()));
  model.save(folder / "model.safetensors");
  Model loaded = Model::load(folder / "model.safetensors", one_thread());
  EXPECT_EQ(loaded.network().definition().outputs.front().members.size(), 2U);
  EXPECT_EQ(vector_of(loaded.predict(data)), vector_of(model.predict(data)));
  train(model, data, recipe(GetParam()));
  train(loaded, data, recipe(GetParam()));
  EXPECT_EQ(vector_of(loaded.predict(data)), vector_of(model.predict(data)));
  // A layer after the mean learns by the whole.
  Network longer = model.network();
  longer.add(Dense{.units = 2});
  EXPECT_TRUE(longer.definition().outputs.front().members.empty());
}

INSTANTIATE_TEST_SUITE_P(Answers, Ensemble,
                         ::testing::Values(Answers::classes, Answers::labels, Answers::values),
                         [](const auto& info) {
                           return info.param == Answers::classes  ? "Classes"
                                  : info.param == Answers::labels ? "Labels"
                                                                  : "Values";
                         });

TEST_P(Ensemble, WeighsItsMembersByHeldOutSamples) {
  const Dataset data = samples(GetParam());
  Model equal(ensemble(outputs(), GetParam()), one_thread());
  train(equal, data, recipe(GetParam()));  // says what the outputs are
  Model weighed = equal.with_member_shares(data);
  const auto loss = [&](Model model) {
    const Metrics metrics = evaluate_metrics(model, data);
    return GetParam() == Answers::classes ? metrics.log_loss : metrics.rmse;
  };
  if (GetParam() != Answers::labels) {
    EXPECT_LT(loss(weighed), loss(equal));
  }
  EXPECT_NE(vector_of(weighed.predict(data)), vector_of(equal.copy().predict(data)));
  // Weights, members and training stay.
  EXPECT_EQ(weighed.network().definition().outputs.front().members.size(), 2U);
  EXPECT_EQ(weighed.parameter_names(), equal.parameter_names());
  const TemporaryFolder folder;
  weighed.save(folder / "model.safetensors");
  Model loaded = Model::load(folder / "model.safetensors", one_thread());
  EXPECT_EQ(vector_of(loaded.predict(data)), vector_of(weighed.predict(data)));
  // A second weighing starts from the members, not from the first one.
  EXPECT_EQ(vector_of(loaded.with_member_shares(data).predict(data)),
            vector_of(weighed.predict(data)));
}

TEST(MemberShares, OfProbabilitiesAreThoseOfTheBestMixture) {
  // The first member is right in three of four observations, the second in the others.
  const std::vector<double> right{0.9, 0.1, 0.9, 0.1, 0.9, 0.1, 0.1, 0.9};
  const std::vector<double> shares = shares_of_probabilities(right, 2, 0);
  // d/dw of 3 log(0.1 + 0.8 w) + log(0.9 - 0.8 w) is 0 at w = 0.8125.
  EXPECT_NEAR(shares[0], 0.8125, 1e-6);
  EXPECT_NEAR(shares[1], 0.1875, 1e-6);
  EXPECT_LT(shares_of_probabilities(right, 2, 8)[0], 0.7);
  EXPECT_NEAR(shares_of_probabilities(std::vector<double>{0.9, 0.2, 0.8, 0.1}, 2, 0)[0], 1, 1e-6);
}

TEST(MemberShares, OfValuesAreThoseOfTheBestMean) {
  const std::vector<double> errors{1, -1, 2, 0};
  // (2 w - 1)^2 + 4 w^2 is least at w = 0.25.
  EXPECT_NEAR(shares_of_values(errors, 2, 0)[0], 0.25, 1e-6);
  const double drawn = shares_of_values(errors, 2, 2)[0];
  EXPECT_GT(drawn, 0.26);
  EXPECT_LT(drawn, 0.5);
  EXPECT_NEAR(shares_of_values(std::vector<double>{1, 3, 1, 3}, 2, 0)[0], 1, 1e-6);
  EXPECT_NEAR(shares_of_values(std::vector<double>{0, 0}, 2, 1)[0], 0.5, 1e-9);
}

TEST(MemberShares, LabelsThatAreNoClassDoNotCount) {
  const Dataset data = samples(Answers::classes);
  Model equal(ensemble(3, Answers::classes), one_thread());
  train(equal, data, recipe(Answers::classes));
  const auto weighed = [&](const std::vector<std::int32_t>& labels) {
    const auto rows = static_cast<std::int64_t>(labels.size());
    const Dataset held_out({{"x", Tensor(waves(2 * rows, 1.3), {rows, 2})}},
                           {{"y", Tensor(labels, {rows})}});
    return vector_of(equal.with_member_shares(held_out).predict(data));
  };
  const std::vector<float> known = weighed({0, 1, 2, 0, 1});
  const std::vector<float> ignored = weighed({0, 1, 2, 0, 1, -1, 3});
  ASSERT_EQ(ignored.size(), known.size());
  for (std::size_t i = 0; i < known.size(); ++i) EXPECT_NEAR(ignored[i], known[i], 1e-5) << i;
  EXPECT_NE(ignored, vector_of(equal.predict(data)));
  EXPECT_EQ(weighed({-1, -1}), vector_of(equal.predict(data)));
}

TEST(MemberShares, NetworksWithoutMembersStayAsTheyAre) {
  const Dataset data = samples(Answers::values);
  Model model(member(1, 2), one_thread());
  EXPECT_EQ(vector_of(model.with_member_shares(data).predict(data)),
            vector_of(model.predict(data)));
  const Model both(ensemble(2, Answers::values), one_thread());
  EXPECT_EQ(vector_of(both.with_member_shares(Dataset()).predict(data)),
            vector_of(both.copy().predict(data)));
}

TEST(Ensembles, LogitsThatAreFarApartKeepTheirMean) {
  FunctionalNetwork f;
  const Expression x = f.input("x", {2});
  Model model(f.build_ensemble({100 * x, -100 * x}, Answers::classes), one_thread());
  const Dataset data({{"x", Tensor(std::vector<float>{9, -9, 0, 0}, {2, 2})}});
  const std::vector<float> logits = vector_of(model.predict(data));
  for (const float logit : logits) EXPECT_NEAR(logit, std::log(0.5F), 1e-6);
}

TEST(Ensembles, SayWhatIsNoMember) {
  FunctionalNetwork f;
  FunctionalNetwork other;
  const Expression x = f.input("x", {2});
  const auto refusal = [&](const std::vector<Expression>& members) {
    return message_of([&] { f.build_ensemble(members, Answers::values); });
  };
  EXPECT_EQ(refusal({}), "expected at least one member of an ensemble; got none");
  EXPECT_EQ(refusal({x, x | Dense{.units = 3}}), "expected members of one shape; got (2) and (3)");
  EXPECT_EQ(refusal({x, other.input("x", {2})}),
            "a member of the ensemble is not an expression of this network's inputs");
  EXPECT_TRUE(f.build_ensemble({x}, Answers::values).definition().outputs.front().members.empty());
}

TEST(Ensembles, AreRefusedBySecondOrderSteps) {
  FunctionalNetwork f;
  const Expression x = f.input("x", {2});
  Model model(f.build_ensemble({x | Dense{.units = 2}, tanh(x) | Dense{.units = 2}},
                               Answers::values),
              {.device = "cpu", .threads = 1});
  EXPECT_EQ(message_of([&] {
              train(model, samples(Answers::values),
                    {.epochs = 1, .optimizer = LevenbergMarquardt{}});
            }),
            "[levenberg_marquardt] expected one network; got an ensemble of 2");
}

/// y steps at x = 0.3 and rises with z; kind says whether it is high; c is one of three.
std::string rows_text(int rows) {
  std::string text = "x,z,c,kind,y\n";
  for (int i = 0; i < rows; ++i) {
    const double x = std::sin(12.9 * i);
    const double z = std::cos(7.7 * i);
    const double y = (x > 0.3 ? 5 : 0) + z;
    text += fmt::format("{:.5f},{:.5f},{},{},{:.5f}\n", x, z, std::string("qrs").substr(i % 3, 1),
                        y > 2 ? "high" : "low", y);
  }
  return text;
}

std::size_t members_of(const TableTask& task) {
  return task.network.definition().outputs.front().members.size();
}

TableTask task_of_rows(int rows, std::int64_t members, const char* target = "y") {
  TableTaskOptions options{.target = target, .ensemble = members, .seed = 2};
  options.transform.ignore = {std::string(target) == "y" ? "kind" : "y"};
  return table_task(parse_table(rows_text(rows)), options);
}

TEST(TableEnsemble, OneMemberIsTheDefaultNetwork) {
  const TableTask task = task_of_rows(200, 1);
  EXPECT_EQ(task.network.to_json(),
            table_network(task.transform, task.data.train.size()).to_json());
}

TEST(TableEnsemble, RowsChooseTheMembers) {
  EXPECT_EQ(members_of(task_of_rows(200, 0)), 3U);   // plain, encoded, linear
  EXPECT_EQ(members_of(task_of_rows(1200, 0)), 2U);  // plain, encoded
  EXPECT_EQ(members_of(task_of_rows(200, 5)), 5U);
  const std::string json = task_of_rows(1200, 0).network.to_json();
  EXPECT_NE(json.find("piecewise_linear"), std::string::npos);
  EXPECT_EQ(message_of([] { task_of_rows(50, 33); }),
            "expected 1 to 32 members of an ensemble, or 0 for as many as suit the rows; got 33");
  EXPECT_EQ(message_of([] { task_of_rows(50, -1); }),
            "expected 1 to 32 members of an ensemble, or 0 for as many as suit the rows; got -1");
}

TEST(TableEnsemble, ManyRowsTakeOneCycleOfTheLearningRate) {
  const TableTask task = task_of_rows(60, 1);
  const TrainingOptions many = table_training(task.transform, 100'000);
  EXPECT_TRUE(std::holds_alternative<OneCycle>(many.schedule));
  EXPECT_EQ(many.average.decay, 0);
  EXPECT_EQ(many.patience, 0);  // the loss may rise before the rate falls
  EXPECT_TRUE(std::holds_alternative<Constant>(table_training(task.transform, 99'999).schedule));
}

TEST(TableEnsemble, NumbersOfTwoValuesHaveNoBins) {
  // c becomes numbers of 0 and 1, after x and z.
  const TableTask task = task_of_rows(1200, 2);
  ASSERT_EQ(task.transform.feature_names().size(), 6U);  // one for a c that is missing
  for (const Node& node : task.network.definition().graph.nodes()) {
    if (node.op->name() == "expand") {
      EXPECT_EQ(task.network.definition().graph.shape(node.outputs[0]).sample(), (Shape{2, 12}));
    }
  }
  std::string text = "a,b,y\n";
  for (int i = 0; i < 90; ++i) text += fmt::format("{},{},{}.5\n", i % 2, i % 3 == 0, (i * 7) % 11);
  const TableTask plain = table_task(parse_table(text), {.target = "y", .ensemble = 2});
  EXPECT_EQ(plain.network.to_json().find("piecewise_linear"), std::string::npos);
  EXPECT_EQ(members_of(plain), 2U);
}

Model trained(const TableTask& task, int threads = 1) {
  Model model(task.network, {.device = "cpu", .threads = threads, .seed = 1});
  model.set_table(task.transform);
  train(model, task.data, task.training);
  return model;
}

TEST(TableEnsemble, RefusesSamplesOfAnotherTransform) {
  const TableTask task = task_of_rows(60, 2);
  EXPECT_NE(message_of([&] {
              table_ensemble(task.transform, samples(Answers::values), 2);
            }).find("expected samples of the table transform"),
            std::string::npos);
}

TEST(TableEnsemble, LearnsAStepWithTheSameBitsOnAnyThreads) {
  TableTask task = task_of_rows(400, 2);
  task.training.epochs = 30;
  Model model = trained(task);
  EXPECT_GT(evaluate_metrics(model, task.data.test).r_squared, 0.9);
  EXPECT_EQ(vector_of(trained(task, 2).predict(task.data.test)),
            vector_of(model.predict(task.data.test)));
}

TEST(TableEnsemble, LearnsClassesAndLabels) {
  TableTask task = task_of_rows(400, 0, "kind");
  task.training.epochs = 20;
  Model model = trained(task);
  EXPECT_EQ(model.answers(), Answers::classes);
  EXPECT_GT(evaluate_metrics(model, task.data.test).accuracy, 0.9);
  for (const float p : vector_of(model.predict_probabilities(task.data.test))) {
    EXPECT_GE(p, 0.F);
    EXPECT_LE(p, 1.F);
  }
}

TEST(TableEnsemble, ATrainingThatContinuesHasTheSameBits) {
  const TemporaryFolder folder;
  TableTask task = task_of_rows(200, 0);
  task.training.epochs = 6;
  const std::vector<float> whole = vector_of(trained(task).predict(task.data.test));
  TableTask cut = task_of_rows(200, 0);
  cut.training.epochs = 6;
  cut.training.checkpoints = {.folder = folder.path(), .resume = true};
  class Stop final : public Callback {
   public:
    void on_epoch(const EpochReport& report) override { stop_ = report.epoch == 3; }
    bool stop_requested() override { return stop_; }

   private:
    bool stop_ = false;
  } stop;
  Model first(cut.network, {.device = "cpu", .threads = 1, .seed = 1});
  EXPECT_TRUE(train(first, cut.data, cut.training, &stop).interrupted);
  Model second(cut.network, {.device = "cpu", .threads = 1, .seed = 1});
  train(second, cut.data, cut.training);
  EXPECT_EQ(vector_of(second.predict(cut.data.test)), whole);
}

}  // namespace
}  // namespace linnet::test::ensembles
