// SPDX-License-Identifier: Apache-2.0
// Permutation importance and partial dependence, against scikit-learn
// (tests/fixtures/make_report_fixtures.py).
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <linnet/expression.h>
#include <linnet/importance.h>
#include <linnet/layers.h>
#include <linnet/table_task.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "message_of.h"
#include "table/transform_record.h"

namespace linnet::test {
namespace {

using linnet::testing::message_of;

const nlohmann::json& fixture() {
  static const nlohmann::json json =
      nlohmann::json::parse(std::ifstream(LINNET_TORCH_FIXTURES "/reports.json"))["columns"];
  return json;
}

Table fixture_table() {
  std::string text = "a,b,c,y\n";
  for (std::size_t i = 0; i < fixture()["y"].size(); ++i) {
    const nlohmann::json& x = fixture()["x"][i];
    text += fmt::format("{:.3f},{:.3f},{:.0f},{:.3f}\n", x[0].get<double>(), x[1].get<double>(),
                        x[2].get<double>(), fixture()["y"][i].get<double>());
  }
  return parse_table(text, "rows");
}

/// One Dense without activation over all features.
Model linear(const TableTransform& transform, const std::vector<float>& weights, float bias) {
  const auto features = static_cast<std::int64_t>(transform.feature_names().size());
  FunctionalNetwork functional;
  Model model(functional.build(
                  {{"output", functional.input("numbers", {features}) | Dense{.units = 1}}}),
              {.device = "cpu", .threads = 1});
  const std::vector<std::string> names = model.parameter_names();
  model.set_parameter(names[0],
                      Tensor(std::vector<float>(weights), model.parameter_shape(names[0])));
  model.set_parameter(names[1], Tensor(std::vector<float>{bias}, {1}));
  model.set_table(transform);
  return model;
}

/// 3 a - b + 0.5 c, from the standardised features.
Model fixture_model(const Table& table) {
  const TableTransform transform = TableTransform::fit(table, "y");
  const auto& a = std::get<NumberInput>(transform.record().inputs[0]);
  const auto& b = std::get<NumberInput>(transform.record().inputs[1]);
  return linear(transform, {static_cast<float>(3 * a.scale), static_cast<float>(-b.scale), 0.5F},
                static_cast<float>(3 * a.center - b.center));
}

TEST(Importance, IsThatOfScikitLearn) {
  const Table table = fixture_table();
  Model model = fixture_model(table);
  ImportanceOptions options;
  options.repeats = 400;
  const Importance importance = permutation_importance(model, table, options);
  EXPECT_EQ(importance.score, "R²");
  EXPECT_NEAR(importance.baseline, fixture()["baseline"].get<double>(), 1e-5);
  ASSERT_EQ(importance.columns.size(), 3U);
  for (std::size_t c = 0; c < 3; ++c) {
    const ColumnImportance& of = importance.columns[c];
    const auto mean = fixture()["mean"][c].get<double>();
    const auto std = fixture()["std"][c].get<double>();
    EXPECT_EQ(of.column, std::string(1, static_cast<char>('a' + c)));
    EXPECT_EQ(of.losses.size(), 400U);
    EXPECT_NEAR(of.mean, mean, 4 * std * std::sqrt(2.0 / 400)) << of.column;
    EXPECT_NEAR(of.std, std, 0.2 * std) << of.column;
  }
}

TEST(Importance, FollowsTheSeed) {
  const Table table = fixture_table();
  Model model = fixture_model(table);
  ImportanceOptions options;
  const auto losses = [&](std::uint64_t seed) {
    options.seed = seed;
    return permutation_importance(model, table, options).columns[0].losses;
  };
  EXPECT_EQ(losses(3), losses(3));
  EXPECT_NE(losses(3), losses(4));
  EXPECT_NE(losses(3)[0], losses(3)[1]);
}

TEST(Importance, EndsWithTheLastWholeRound) {
  const Table table = fixture_table();
  Model model = fixture_model(table);
  ImportanceOptions options;
  options.goes_on = [](std::int64_t round, std::int64_t column) { return round < 2 || column < 1; };
  const Importance ended = permutation_importance(model, table, options);
  const Importance whole = permutation_importance(model, table, {.repeats = 2});
  for (std::size_t c = 0; c < 3; ++c) {
    EXPECT_EQ(ended.columns[c].losses, whole.columns[c].losses);
    EXPECT_EQ(ended.columns[c].mean, whole.columns[c].mean);
    EXPECT_EQ(ended.columns[c].std, whole.columns[c].std);
  }
}

/// A network that adds up the places of a category: 7 for each row, whatever is permuted, as long
/// as the features of the column stay together.
TEST(Importance, PermutesAWholeColumn) {
  std::string text = "c,d,y\n";
  for (int i = 0; i < 60; ++i) {
    text += fmt::format("{},{},{:.1f}\n", "pqr"[i % 3], "st"[i / 7 % 2], 7 + 0.1 * (i % 5));
  }
  const Table table = parse_table(text);
  const TableTransform transform = TableTransform::fit(table, "y");
  const auto first = static_cast<std::size_t>(width_of(transform.record().inputs[0]));
  std::vector<float> weights(transform.feature_names().size());
  std::fill_n(weights.begin(), first, 7.0F);
  Model model = linear(transform, weights, 0);
  for (const ColumnImportance& of : permutation_importance(model, table).columns) {
    EXPECT_EQ(of.mean, 0) << of.column;
    EXPECT_EQ(of.std, 0) << of.column;
  }
}

TEST(Importance, OfClassesAndOfIds) {
  std::string text = "x,c,kind\n";
  for (int i = 0; i < 200; ++i) {
    text += fmt::format("{:.4f},{},{}\n", std::sin(12.9 * i), "pqrs"[i % 4],
                        i % 4 < 2 ? "high" : "low");
  }
  const Table table = parse_table(text);
  TableTaskOptions options{.target = "kind"};
  options.transform.most_one_hot = 2;  // c becomes ids
  const TableTask task = table_task(table, options);
  ASSERT_EQ(task.transform.id_columns(), 1);
  TrainingOptions training = task.training;
  training.epochs = 12;
  Model model(task.network, {.device = "cpu", .threads = 1});
  model.set_table(task.transform);
  train(model, task.data, training);
  const Importance importance = permutation_importance(model, table);
  EXPECT_EQ(importance.score, "accuracy");
  EXPECT_GT(importance.columns[1].mean, 0.3);
  EXPECT_LT(std::abs(importance.columns[0].mean), 0.1);
  const PartialDependence of = partial_dependence(model, table, "c");
  EXPECT_EQ(of.texts, (std::vector<std::string>{"p", "q", "r", "s"}));
  EXPECT_TRUE(of.values.empty());
  EXPECT_EQ(of.outputs, (std::vector<std::string>{"high", "low"}));
  EXPECT_GT(of.means[0][0], 0.8);
  EXPECT_LT(of.means[2][0], 0.2);
  EXPECT_NEAR(of.means[2][0] + of.means[2][1], 1, 1e-5);
}

TEST(PartialDependence, IsThatOfScikitLearn) {
  const Table table = fixture_table();
  Model model = fixture_model(table);
  PartialDependenceOptions options;
  options.points = 7;
  for (std::size_t c = 0; c < 3; ++c) {
    const std::string name(1, static_cast<char>('a' + c));
    const PartialDependence of = partial_dependence(model, table, name, options);
    const nlohmann::json& grid = fixture()["grid"][c];
    ASSERT_EQ(of.texts.size(), grid.size()) << name;
    EXPECT_EQ(of.outputs, std::vector<std::string>{"y"});
    for (std::size_t i = 0; i < grid.size(); ++i) {
      EXPECT_NEAR(std::stod(of.texts[i]), grid[i].get<double>(), 1e-9) << name;
      EXPECT_NEAR(of.means[i][0], fixture()["average"][c][i].get<double>(), 1e-4) << name;
    }
  }
}

TEST(PartialDependence, OfALargeTableTakesSomeRows) {
  const Table table = fixture_table();
  Model model = fixture_model(table);
  PartialDependenceOptions options;
  const double all = partial_dependence(model, table, "a", options).means[0][0];
  options.most_rows = 7;
  const double some = partial_dependence(model, table, "a", options).means[0][0];
  EXPECT_NE(all, some);
  EXPECT_NEAR(all, some, 2);
}

TEST(Importance, BadInputIsOneClearSentence) {
  const Table table = fixture_table();
  Model model = fixture_model(table);
  ImportanceOptions none;
  none.repeats = 0;
  EXPECT_EQ(message_of([&] { permutation_importance(model, table, none); }),
            "expected at least 1 permutation of each column; got 0");
  EXPECT_EQ(message_of([&] { partial_dependence(model, table, "aa"); }),
            "the model reads no column 'aa'");
  PartialDependenceOptions options;
  options.low = 1;
  EXPECT_EQ(message_of([&] { partial_dependence(model, table, "a", options); }),
            "expected quantiles 0 <= low < high <= 1; got 1 and 0.95");
  Model other(Network({3}, {Dense{.units = 1}}), {.device = "cpu", .threads = 1});
  EXPECT_EQ(message_of([&] { permutation_importance(other, table); }),
            "the model did not learn from a table, so it has no columns whose effect could be "
            "measured");
}

}  // namespace
}  // namespace linnet::test
