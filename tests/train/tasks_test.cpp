// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <linnet/layers.h>
#include <linnet/table_task.h>

#include <filesystem>

#include "base/files.h"
#include "message_of.h"
#include "tasks/task.h"
#include "temporary_folder.h"

namespace linnet::test {
namespace {

using linnet::testing::message_of;
using linnet::testing::TemporaryFolder;

const ModelOptions kHere{.device = "cpu", .threads = 1};

std::string text_of(int rows) {
  std::string text = "day,kind,y\n";
  for (int i = 0; i < rows; ++i) text += fmt::format("{},{},{}\n", i, "ab"[i % 2], i % 7);
  return text;
}

Table rows_of(int count) { return parse_table(text_of(count), "days.csv"); }

DataSettings said(SettingTable given) { return {.given = {std::move(given)}}; }

/// Returns a model of the training on a file.
Model model_of(const std::filesystem::path& path, SettingTable given) {
  const DataSettings settings = said(std::move(given));
  const PreparedTask made = task_for(path, settings).prepare(path, {.settings = settings});
  Model model(made.network, kHere);
  made.task->equip(model);
  return model;
}

TEST(Tasks, AModelTellsItsTask) {
  const Model images(Network({8, 8, 3}, {Flatten{}, Dense{.units = 2}}), kHere);
  EXPECT_EQ(task_of(images).takes(), "images");
  EXPECT_TRUE(task_of(images).reads(TaskFiles::images));
  const Model planes(Network({8, 8, 5}, {Flatten{}, Dense{.units = 2}}), kHere);
  EXPECT_EQ(task_of(planes).takes(), "numbers");
  const Model texts(Network({5}, {Embedding{.vocabulary = 9, .features = 2}, Flatten{}, Dense{2}},
                            DType::i32),
                    kHere);
  EXPECT_EQ(task_of(texts).takes(), "texts");
  EXPECT_EQ(task_of(texts, false).takes(), "numbers") << "arrays of ids";

  const TemporaryFolder folder;
  write_file_atomically(folder / "days.csv", text_of(60));
  const Model of_rows = model_of(folder / "days.csv", {{"target", {"y"}}});
  EXPECT_EQ(task_of(of_rows).takes(), "rows");
  EXPECT_EQ(task_of(of_rows).targets(of_rows), std::vector<std::string>{"y"});
  EXPECT_EQ(task_of(of_rows).row_columns(of_rows), std::vector<std::string>{"kind"});
  EXPECT_FALSE(task_of(of_rows).answers_tables());

  Model of_series = model_of(folder / "days.csv", {{"target", {"y"}},
                                                   {"time", {"day"}},
                                                   {"past", {std::int64_t{5}}},
                                                   {"future", {std::int64_t{2}}}});
  const Table table = rows_of(60);
  EXPECT_EQ(task_of(of_series).takes(), "series");
  ASSERT_TRUE(task_of(of_series).answers_tables());
  const TableAnswer answer = task_of(of_series).answer(of_series, table, 0);
  EXPECT_EQ(answer.header, (std::vector<std::string>{"day", "y"}));
  ASSERT_EQ(answer.rows.size(), 2U);
  EXPECT_EQ(answer.rows[1].texts, std::vector<std::string>{"61"});
  EXPECT_EQ(answer.json["forecast"].size(), 2U);
  EXPECT_GT(task_of(of_series).measure(of_series, table).json["windows"], 0);
}

TEST(Tasks, FilesTellTheirTask) {
  const TemporaryFolder folder;
  const auto takes = [&](const char* name, SettingTable given = {}) {
    const Task* task = task_of_files(folder / name, said(std::move(given))).task;
    return task == nullptr ? std::string_view() : task->takes();
  };
  write_file_atomically(folder / "rows.csv", "a,b\n1,2\n3,4\n");
  write_file_atomically(folder / "news.tsv",
                        "art\ta painting of bread\nfood\tsome bread and soup\n");
  for (const char* kind : {"photos/cats", "photos/dogs", "empty"}) {
    std::filesystem::create_directories(folder / kind);
    if (kind != std::string_view("empty")) write_file_atomically(folder / kind / "1.png", "");
  }
  EXPECT_EQ(takes("rows.csv"), "rows");
  EXPECT_EQ(takes("rows.csv", {{"target", {"b"}}, {"text", {"a"}}}), "texts");
  EXPECT_EQ(takes("rows.csv", {{"target", {"b"}}, {"past", {std::int64_t{3}}}}), "series");
  EXPECT_EQ(takes("news.tsv"), "texts");
  EXPECT_EQ(takes("news.tsv", {{"past", {std::int64_t{3}}}}), "texts") << "which refuse it";
  EXPECT_EQ(takes("news.tsv", {{"target", {"1"}}}), "rows");
  EXPECT_EQ(takes("photos"), "images");
  EXPECT_EQ(takes("empty"), "");
  EXPECT_EQ(takes("nothing"), "");
  EXPECT_EQ(task_of_files(folder / "empty").why_not,
            fmt::format("'{}' holds no data set: the folder is empty",
                        (folder / "empty").string()));
}

TEST(Tasks, SettingsOfOtherTasksAreRefused) {
  const TemporaryFolder folder;
  write_file_atomically(folder / "rows.csv", "a,b\n1,2\n3,4\n");
  const Task& rows = *task_of_files(folder / "rows.csv").task;
  const auto refused = [](const Task& task, SettingTable given) {
    return message_of([&] { check_settings(task, said(std::move(given)), "x"); });
  };
  EXPECT_EQ(refused(rows, {{"target", {"b"}}, {"folds", {std::int64_t{3}}}, {"header", {false}}}),
            "");
  EXPECT_EQ(
      refused(rows, {{"entity", {"b"}}, {"season", {std::int64_t{3}}}}),
      "--entity and --season are for windows of a series (--past); 'x' is a table: leave them "
      "out");
  EXPECT_EQ(refused(rows, {{"text", {"b", {.line = 2, .column = 1}}}}),
            "'text' in [data] is for tables of texts; 'x' is a table: leave it out");
  EXPECT_EQ(refused(*task_of_arrays(), {{"validation", {0.2}}}), "");
  EXPECT_EQ(refused(*task_of_arrays(), {{"target", {"b"}}}),
            "--target is for tables; 'x' is not a table: leave it out");
}

TEST(Tasks, ATaskPreparesItsFile) {
  const TemporaryFolder folder;
  write_file_atomically(folder / "days.csv", text_of(60));
  const DataSettings settings =
      said({{"target", {Setting::List{{"y"}}}}, {"folds", {std::int64_t{3}}}});
  const Task& rows = *task_of_files(folder / "days.csv", settings).task;
  const PreparedTask made = rows.prepare(folder / "days.csv", {.settings = settings, .seed = 3});
  const TableTask same = table_task(rows_of(60), {.target = "y", .folds = 3, .seed = 3});
  EXPECT_EQ(made.task->folds(), 3);
  EXPECT_EQ(made.task->notes(), same.notes);
  EXPECT_EQ(made.network.input_names(), same.network.input_names());
  EXPECT_EQ(made.training.epochs, same.training.epochs);
  EXPECT_EQ(made.task->table()->rows(), 60);
}

TEST(Tasks, ANewTaskOverridesWhatDiffers) {
  struct Masks final : Task {
    using Task::Task;
    std::string_view samples(const Dataset& /*train*/) const override { return "masks"; }
  };
  const Masks masks({.train = Dataset({{"x", Tensor(std::vector<float>(6), {3, 2})}})}, {"a note"});
  EXPECT_TRUE(masks.brings_data());
  EXPECT_EQ(masks.samples(masks.data().train), "masks");
  EXPECT_EQ(masks.takes(), "numbers");
  EXPECT_FALSE(task_of_arrays()->brings_data());
  Model model(Network({2}, {Dense{.units = 1}}), kHere);
  EXPECT_FALSE(masks.report(model).has_value());
  EXPECT_EQ(message_of([&] { masks.answer(model, rows_of(3), 0); }),
            "the model has no answer on a table as a whole; got 'days.csv'");
}

}  // namespace
}  // namespace linnet::test
