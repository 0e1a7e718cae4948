// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <linnet/intervals.h>
#include <linnet/metrics.h>
#include <linnet/samples.h>
#include <linnet/table_task.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "base/files.h"
#include "base/random.h"
#include "data_sets.h"
#include "message_of.h"
#include "table/transform_record.h"
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

/// b follows from a, and c is q where a is above 0.
TEST(TableTask, NoveltyIsLargeWhereColumnsDoNotBelongTogether) {
  std::string text = "a,b,c\n";
  for (int i = 0; i < 400; ++i) {
    const double a = std::sin(12.9 * i);
    text += fmt::format("{:.5f},{:.5f},{}\n", a, 3 - 2 * a, a > 0 ? "q" : "r");
  }
  TableTaskOptions options{.seed = 3};
  options.transform.target = TableTarget::novelty;
  TableTask task = table_task(parse_table(text, "rows"), options);
  task.training.epochs = 40;
  Model model = trained(task);
  calibrate_intervals(model, task.data.validation);
  const double threshold = interval_half_widths(model, 0.95)[0];
  const auto novelties = [&](const std::string& rows) {
    return vector_of(
        model.predict(model.table().inputs(parse_table("a,b,c\n" + rows, "new rows"))));
  };
  for (const float usual : novelties("0.5,2,q\n-0.5,4,r\n")) EXPECT_LT(usual, threshold);
  for (const float novel : novelties("0.5,4,q\n-0.5,4,q\n0.5,2,s\n3,-3,q\n")) {
    EXPECT_GT(novel, threshold);
  }
  EXPECT_EQ(message_of([&] {
              options.ensemble = 2;
              table_task(parse_table(text, "rows"), options);
            }),
            "a novelty is learned by one network; got 2 members");
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
  EXPECT_EQ(task.training.average.decay, 0.998);
  EXPECT_TRUE(task.training.average.warmup);
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

/// The numbers of the column "x", by whose values rows are known.
std::vector<float> xs(const Dataset& data, const TableTask& task) {
  const std::vector<std::string> names = task.transform.feature_names();
  const auto at = static_cast<std::size_t>(std::ranges::find(names, "x") - names.begin());
  const std::vector<float> all = vector_of(data.column("numbers").data);
  std::vector<float> of;
  for (std::size_t i = at; i < all.size(); i += names.size()) of.push_back(all[i]);
  return of;
}

std::vector<float> joined(const std::vector<std::vector<float>>& parts) {
  std::vector<float> all;
  for (const std::vector<float>& part : parts) all.insert(all.end(), part.begin(), part.end());
  std::ranges::sort(all);
  return all;
}

/// Rows of 20 patients, the later ones with fewer rows; the transform leaves x as it is.
std::string patients_text() {
  std::string text = "patient,x,y\n";
  for (int i = 0; i < 300; ++i) {
    const int patient = static_cast<int>(std::sqrt(i * 400.0 / 300));
    text += fmt::format("p{},{}.25,{}.5\n", patient, i, i % 7);
  }
  return text;
}

TEST(TableTask, NoGroupIsInTwoParts) {
  const Table table = parse_table(patients_text());
  TableTaskOptions options{.target = "y", .group = "patient", .seed = 4};
  options.transform.scaling = Scaling::min_max;
  std::vector<float> tests;
  for (const std::int64_t folds : {0, 5, 5, 5, 5, 5}) {
    options.folds = folds;
    const TableTask task = table_task(table, options);
    std::map<int, std::set<int>> parts_of;  // of a patient
    int part = 0;
    const auto least = task.transform.record().inputs[0];
    const auto& number = std::get<NumberInput>(least);
    for (const Dataset* data : {&task.data.train, &task.data.validation, &task.data.test}) {
      EXPECT_GT(data->size(), 0);
      for (const float x : xs(*data, task)) {
        const double row = std::round(x * number.scale + number.center - 0.25);
        parts_of[static_cast<int>(std::sqrt(row * 400.0 / 300))].insert(part);
        if (part == 2 && folds > 0) tests.push_back(static_cast<float>(row));
      }
      ++part;
    }
    EXPECT_EQ(parts_of.size(), 20U);
    for (const auto& [patient, parts] : parts_of) EXPECT_EQ(parts.size(), 1U) << patient;
    EXPECT_NEAR(static_cast<double>(task.data.test.size()), 60, 25);
    EXPECT_EQ(task.transform.feature_names(), (std::vector<std::string>{"x"}));
    if (folds > 0) ++options.fold;
  }
  std::ranges::sort(tests);
  ASSERT_EQ(tests.size(), 300U) << "every row is in one fold";
  EXPECT_TRUE(std::ranges::adjacent_find(tests) == tests.end());
  options = {.target = "y", .group = "patient", .folds = 30};
  EXPECT_EQ(message_of([&] { table_task(table, options); }),
            "the column 'patient' of 'table' has 20 groups; expected at least 30");
  EXPECT_EQ(message_of([&] {
              table_task(parse_table("g,x,y\na,1,2.5\n,2,3.5\nb,2,4.5\n", "t"),
                         {.target = "y", .group = "g"});
            }),
            "'t', row 2 (line 3), column 'g': the group is missing");
}

TEST(TableTask, AGroupMovesWithItsClass) {
  // Each class is in three groups alone, each half of the fourth one.
  std::string text = "g,x,y\n";
  for (int i = 0; i < 90; ++i) {
    text += fmt::format("g{},{}.25,{}\n", i / 10, i, i % 2 == 0 ? 'd' : "abc"[i / 30]);
  }
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const TableTask task =
        table_task(parse_table(text),
                   {.target = "y", .validation = 0.3, .test = 0.5, .group = "g", .seed = seed});
    EXPECT_EQ(task.transform.classes().size(), 4U);
    EXPECT_EQ(task.data.train.size() % 10, 0) << "whole groups";
    EXPECT_EQ(task.data.train.size() + task.data.validation.size() + task.data.test.size(), 90);
  }
}

TEST(TableTask, TheLatestRowsMeasure) {
  std::string text = "day,x,y\n";
  for (int i = 0; i < 100; ++i) {  // two rows a day, the last day first
    text += fmt::format("{:02}/{:02}/2024,{},{}.5\n", 1 + (49 - i / 2) % 25, 1 + (49 - i / 2) / 25,
                        (49 - i / 2), i % 9);
  }
  const Table table = parse_table(text, "t");
  TableTaskOptions options{.target = "y", .validation = 0.1, .test = 0.25, .time = "day"};
  options.transform.ignore = {"day"};
  const auto range = [](const std::vector<float>& of) {
    return std::pair(std::ranges::min(of), std::ranges::max(of));
  };
  const TableTask task = table_task(table, options);
  EXPECT_EQ(task.data.test.size(), 26) << "a day is whole";
  EXPECT_EQ(task.data.validation.size(), 10);
  const auto [first, last] = range(xs(task.data.train, task));
  const auto [first_chosen, last_chosen] = range(xs(task.data.validation, task));
  EXPECT_LT(last, first_chosen);
  EXPECT_LT(last_chosen, range(xs(task.data.test, task)).first);
  EXPECT_EQ(task.notes[0], "split along 'day', validation from 08/02/2024, test from 13/02/2024");
  std::vector<std::int64_t> trained;
  options.folds = 4;
  for (options.fold = 0; options.fold < 4; ++options.fold) {
    const TableTask fold = table_task(table, options);
    EXPECT_EQ(fold.data.test.size(), 20);
    EXPECT_LT(range(xs(fold.data.validation, fold)).second, range(xs(fold.data.test, fold)).first);
    trained.push_back(fold.data.train.size() + fold.data.validation.size());
  }
  EXPECT_EQ(trained, (std::vector<std::int64_t>{20, 40, 60, 80}));
  EXPECT_EQ(message_of([&] { table_task(table, {.target = "y", .group = "x", .time = "day"}); }),
            "a split is by group or by time; got the group 'x' and the time 'day'");
  EXPECT_EQ(message_of([&] {
              table_task(parse_table("day,x,y\n1,1,2.5\n,2,3.5\n2,2,4.5\n", "t"),
                         {.target = "y", .time = "day"});
            }),
            "'t', row 2 (line 3), column 'day': the time is missing");
  EXPECT_EQ(message_of([&] {
              table_task(parse_table("day,x,y\na,1,2.5\na,2,3.5\nb,2,4.5\n", "t"),
                         {.target = "y", .time = "day"});
            }),
            "the column 'day' of 't' is of the type category; a split by time needs dates or "
            "numbers");
}

TEST(TableTask, ClassesThatBeginLaterAreLeftOut) {
  std::string text = "t,x,y\n";
  for (int i = 0; i < 50; ++i)
    text += fmt::format("{},{}.5,{}\n", i * i, i % 7, i >= 45 ? "new" : i % 2 ? "a" : "b");
  const TableTask task = table_task(parse_table(text), {.target = "y", .time = "t"});
  EXPECT_EQ(task.transform.classes(), (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(task.data.test.size(), 5);
  EXPECT_EQ(task.notes[1], "5 rows are left out, of classes that no earlier row has");
}

TEST(TableTask, EveryRowIsInOneFold) {
  std::string text = "x,y\n";
  for (int i = 0; i < 103; ++i) text += fmt::format("{},{}\n", i * i, i % 4 == 0 ? "a" : "b");
  const Table table = parse_table(text);
  for (const bool stratify : {true, false}) {
    TableTaskOptions options{.target = "y", .stratify = stratify, .folds = 5};
    options.transform.scaling = Scaling::min_max;
    std::vector<std::vector<float>> tests;
    std::vector<float> all;
    for (options.fold = 0; options.fold < 5; ++options.fold) {
      const TableTask task = table_task(table, options);
      EXPECT_NEAR(static_cast<double>(task.data.test.size()), 103 / 5.0, 1);
      EXPECT_NEAR(static_cast<double>(task.data.validation.size()), 10, 1);
      const auto labels = vector_of<std::int32_t>(task.data.test.targets()[0].data);
      if (stratify) {
        EXPECT_NEAR(static_cast<double>(std::ranges::count(labels, 0)), 26 / 5.0, 1);
      }
      const auto number = std::get<NumberInput>(task.transform.record().inputs[0]);
      tests.emplace_back();
      for (const float x : xs(task.data.test, task)) {
        tests.back().push_back(
            static_cast<float>(std::round(std::sqrt(std::abs(x * number.scale + number.center)))));
      }
    }
    all = joined(tests);
    ASSERT_EQ(all.size(), 103U);
    for (std::size_t i = 0; i < all.size(); ++i) EXPECT_EQ(all[i], static_cast<float>(i));
  }
  EXPECT_EQ(message_of([&] { table_task(table, {.target = "y", .folds = 1}); }),
            "expected at least 2 folds; got 1");
  EXPECT_EQ(message_of([&] { table_task(table, {.target = "y", .folds = 3, .fold = 3}); }),
            "expected a fold in [0, 3); got 3");
}

TEST(TableTask, SeveralValuesComeInTheirUnits) {
  std::string text = "x,z,low,high\n";
  for (int i = 0; i < 300; ++i) {
    const double x = std::sin(12.9 * i);
    const double z = std::cos(7.3 * i);
    text += fmt::format("{:.5f},{:.5f},{:.6f},{:.1f}\n", x, z, 1e-3 * x, 5000 - 2000 * z);
  }
  TableTask task = table_task(parse_table(text), {.target = {"low", "high"}, .seed = 3});
  task.training.epochs = 40;
  Model model(task.network, {.device = "cpu", .threads = 1, .seed = 1});
  const History history = train(model, task.data, task.training);
  EXPECT_LT(history.epochs.front().train.loss, 2) << "each error is divided by its variance";
  EXPECT_GT(evaluate_metrics(model, task.data.test).r_squared, 0.95)
      << "the mean of both: the small one learns as the large one";
  const std::vector<float> y = vector_of(
      model.predict(task.transform.inputs(parse_table("x,z\n0.5,-0.5\n", "r", {.header = true}))));
  EXPECT_NEAR(y[0], 0.0005, 0.0002);
  EXPECT_NEAR(y[1], 6000, 300);
}

TEST(TableTask, SeveralBooleansAreLabels) {
  std::string text = "x,z,hot,wet\n";
  for (int i = 0; i < 300; ++i) {
    const double x = std::sin(12.9 * i);
    const double z = std::cos(7.3 * i);
    text += fmt::format("{:.5f},{:.5f},{},{}\n", x, z, x > 0 ? 1 : 0, z > 0.3 ? 1 : 0);
  }
  TableTask task = table_task(parse_table(text), {.target = {"hot", "wet"}, .seed = 3});
  task.training.epochs = 20;
  Model model = trained(task);
  EXPECT_GT(evaluate_metrics(model, task.data.test).auc.mean, 0.97);
  EXPECT_EQ(model.answers(), Answers::labels);
  EXPECT_EQ(model.class_names(), (std::vector<std::string>{"hot", "wet"}));
  const std::vector<float> p = vector_of(
      model.predict_probabilities(task.transform.inputs(parse_table("x,z\n0.8,-0.8\n-0.8,0.8\n"))));
  EXPECT_GT(p[0], 0.8);
  EXPECT_LT(p[1], 0.2);
  EXPECT_LT(p[2], 0.2);
  EXPECT_GT(p[3], 0.8);
}

TEST(TableTask, AFittedTransformIsReused) {
  const TableTask first = table_task(parse_table(rows_text(200)), {.target = "y"});
  std::string later = "x,c,kind,y\n";
  for (int i = 0; i < 50; ++i) later += fmt::format("{},q,high,{}\n", 100 + i, 5.5 + i % 3);
  const TableTask task = table_task(parse_table(later, "t"), {.fitted = first.transform});
  EXPECT_EQ(task.transform.to_json(), first.transform.to_json());
  EXPECT_GT(std::ranges::min(xs(task.data.test, task)), 90);
  EXPECT_EQ(message_of([&] {
              table_task(parse_table(later, "t"), {.target = "x", .fitted = first.transform});
            }),
            "the fitted transform predicts 'y'; got the target 'x'");
}

TEST(TableTask, RowsWithoutATargetOrValuesAreLeftOut) {
  const std::string text = "x,y\n1,1.5\nNA,2.5\n3,\n4,4.5\n5,5.5\n6,6.5\n";
  TableTaskOptions options{.target = "y", .validation = 0, .test = 0};
  EXPECT_EQ(table_task(parse_table(text), options).data.train.size(), 5);
  options.transform.missing = MissingValues::drop;
  const TableTask task = table_task(parse_table(text), options);
  EXPECT_EQ(task.data.train.size(), 4);
  EXPECT_EQ(task.notes[0], "'NA' is read as a missing value: 1 row in 'x'");
  EXPECT_EQ(task.notes[1], "1 rows without a target are left out");
  EXPECT_EQ(task.notes[2], "1 rows with missing values are left out");
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
