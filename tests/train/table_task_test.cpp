// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <linnet/metrics.h>
#include <linnet/samples.h>
#include <linnet/table_task.h>

#include <algorithm>
#include <cmath>

#include "base/files.h"
#include "base/random.h"
#include "data_sets.h"
#include "message_of.h"
#include "temporary_folder.h"

namespace linnet::test {
namespace {

using linnet::testing::message_of;
using linnet::testing::TemporaryFolder;
using linnet::testing::vector_of;

/// y = 50 + 8 x + 3 [c is q], kind says whether x is above 0.
std::string rows_text(int rows) {
  std::string text = "x,c,kind,y\n";
  for (int i = 0; i < rows; ++i) {
    const double x = std::sin(12.9 * i);
    const char* c = i % 3 == 0 ? "q" : i % 3 == 1 ? "r" : "s";
    text += fmt::format("{:.5f},{},{},{:.5f}\n", x, c, x > 0 ? "high" : "low",
                        50 + 8 * x + (i % 3 == 0 ? 3 : 0));
  }
  return text;
}

Model trained(const TableTask& task) {
  Model model(task.network, {.device = "cpu", .threads = 1, .seed = 1});
  model.set_table(task.transform);
  train(model, task.data, task.training);
  return model;
}

TEST(TableTask, LearnsClassesAndPredictsRawRowsOfAFile) {
  const TemporaryFolder folder;
  write_file_atomically(folder / "rows.csv", rows_text(200));
  const Table table = read_table(folder / "rows.csv");
  TableTaskOptions options{.target = "kind", .seed = 3};
  options.transform.ignore = {"y"};
  options.transform.most_one_hot = 2;  // c becomes ids
  TableTask task = table_task(table, options);
  EXPECT_EQ(task.transform.id_columns(), 1);
  task.training.epochs = 15;
  Model model = trained(task);
  EXPECT_GT(evaluate_metrics(model, task.data.test).accuracy, 0.9);
  model.save(folder / "model.safetensors");
  Model loaded = Model::load(folder / "model.safetensors", {.device = "cpu", .threads = 1});
  EXPECT_EQ(loaded.table().to_json(), task.transform.to_json());
  const std::vector<std::filesystem::path> files{folder / "rows.csv", folder / "rows.csv"};
  const Samples samples = read_samples(files, loaded);
  EXPECT_EQ(samples.names[1], files[0].string() + "[1]");
  const std::vector<float> all = vector_of(loaded.predict_probabilities(samples.data));
  ASSERT_EQ(all.size(), 800U);
  EXPECT_EQ(std::vector<float>(all.begin(), all.begin() + 400),
            std::vector<float>(all.begin() + 400, all.end()));
  EXPECT_EQ(std::vector<float>(all.begin(), all.begin() + 400),
            vector_of(model.predict_probabilities(task.transform.inputs(table))));
}

TEST(TableTask, LearnsValuesInTheirUnit) {
  TableTask task = table_task(parse_table(rows_text(300)), {.target = "y", .seed = 3});
  task.training.epochs = 40;
  Model model = trained(task);
  EXPECT_GT(evaluate_metrics(model, task.data.test).r_squared, 0.95);
  const Dataset one = task.transform.inputs(parse_table("x,c,kind\n0.5,q,high\n-0.5,r,low\n"));
  const std::vector<float> y = vector_of(model.predict(one));
  EXPECT_NEAR(y[0], 57, 2);
  EXPECT_NEAR(y[1], 46, 2);
}

TEST(TableTask, LargeAndTinyTargetsTrainAlike) {
  std::vector<float> losses;
  for (const double scale : {1e-6, 1.0, 1e9}) {
    std::string text = "x,y\n";
    for (int i = 0; i < 100; ++i) {
      text += fmt::format("{:.5f},{:.9e}\n", std::sin(12.9 * i), scale * std::sin(12.9 * i));
    }
    TableTask task = table_task(parse_table(text), {.target = "y"});
    task.training.epochs = 5;
    Model model(task.network, {.device = "cpu", .threads = 1, .seed = 1});
    const History history = train(model, task.data, task.training);
    losses.push_back(static_cast<float>(history.epochs.back().train.loss));
  }
  EXPECT_LT(losses[1], 1);
  EXPECT_NEAR(losses[0], losses[1], 0.02);
  EXPECT_NEAR(losses[2], losses[1], 0.02);
}

TEST(TableTask, TheSplitIsStratifiedAndEveryClassIsKnown) {
  std::string text = "x,y\n";
  for (int i = 0; i < 100; ++i) {
    text += fmt::format("{}.5,{}\n", i % 9, i == 50 ? "rare" : i % 5 == 0 ? "a" : "b");
  }
  const Table table = parse_table(text);
  const TableTask task = table_task(table, {.target = "y", .validation = 0.2, .test = 0.3});
  EXPECT_EQ(task.transform.classes(), (std::vector<std::string>{"a", "b", "rare"}));
  const auto count = [](const Dataset& data, std::int32_t label) {
    return std::ranges::count(vector_of<std::int32_t>(data.targets()[0].data), label);
  };
  EXPECT_EQ(count(task.data.test, 0), 6);        // 0.3 * 19
  EXPECT_EQ(count(task.data.validation, 0), 4);  // 0.2 * 19
  EXPECT_EQ(count(task.data.train, 2), 1);
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    const TableTask random =
        table_task(table, {.target = "y", .test = 0.5, .stratify = false, .seed = seed});
    EXPECT_EQ(count(random.data.train, 2), 1);
  }
}

TEST(TableTask, RowsWithoutATargetOrValuesAreLeftOut) {
  const std::string text = "x,y\n1,1.5\nNA,2.5\n3,\n4,4.5\n5,5.5\n6,6.5\n";
  TableTaskOptions options{.target = "y", .validation = 0, .test = 0};
  EXPECT_EQ(table_task(parse_table(text), options).data.train.size(), 5);
  options.transform.missing = MissingValues::drop;
  const TableTask task = table_task(parse_table(text), options);
  EXPECT_EQ(task.data.train.size(), 4);
  EXPECT_EQ(task.notes[0], "1 rows without a target are left out");
  EXPECT_EQ(task.notes[1], "1 rows with missing values are left out");
  EXPECT_EQ(message_of([&] { table_task(parse_table(text), {.target = "y", .test = 1}); }),
            "validation and test are shares of the rows, together below 1; got 0.1 and 1");
}

TEST(TableTask, AModelRefusesAnotherTransform) {
  const TableTask task = table_task(parse_table(rows_text(40)), {.target = "y"});
  Model model(Network({3}, {}), {.device = "cpu", .threads = 1});
  EXPECT_EQ(message_of([&] { model.set_table(task.transform); }),
            "the table transform makes f32 samples (8), of which the network has no input");
}

}  // namespace
}  // namespace linnet::test
