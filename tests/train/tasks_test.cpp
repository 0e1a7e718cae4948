// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <linnet/layers.h>
#include <linnet/series_task.h>
#include <linnet/table_task.h>

#include <filesystem>

#include "base/files.h"
#include "message_of.h"
#include "tasks/series/forecasts.h"
#include "tasks/table/table_rows.h"
#include "tasks/task.h"
#include "temporary_folder.h"

namespace linnet::test {
namespace {

using linnet::testing::message_of;
using linnet::testing::TemporaryFolder;

const ModelOptions kHere{.device = "cpu", .threads = 1};

Table rows_of(int count) {
  std::string text = "day,kind,y\n";
  for (int i = 0; i < count; ++i) text += fmt::format("{},{},{}\n", i, "ab"[i % 2], i % 7);
  return parse_table(text, "days.csv");
}

Model model_of(const Task& task, const Network& network) {
  Model model(network, kHere);
  task.equip(model);
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

  const Table table = rows_of(60);
  TableTask made = table_task(table, {.target = "y"});
  const Network network = made.network;
  const auto rows = task_of_rows(std::move(made), table);
  const Model of_rows = model_of(*rows, network);
  EXPECT_EQ(task_of(of_rows).takes(), "rows");
  EXPECT_EQ(task_of(of_rows).targets(of_rows), std::vector<std::string>{"y"});
  EXPECT_EQ(task_of(of_rows).row_columns(of_rows), std::vector<std::string>{"kind"});
  EXPECT_FALSE(task_of(of_rows).answers_tables());

  SeriesTask series = series_task(table, {.targets = {"y"}, .time = "day", .past = 5, .future = 2});
  const Network forecaster = series.network;
  const auto windows = task_of_windows(std::move(series));
  Model of_series = model_of(*windows, forecaster);
  EXPECT_EQ(task_of(of_series).takes(), "series");
  ASSERT_TRUE(task_of(of_series).answers_tables());
  const TableAnswer answer = task_of(of_series).answer(of_series, table);
  EXPECT_EQ(answer.header, (std::vector<std::string>{"day", "y"}));
  ASSERT_EQ(answer.rows.size(), 2U);
  EXPECT_EQ(answer.rows[1].texts, std::vector<std::string>{"61"});
  EXPECT_EQ(answer.json["forecast"].size(), 2U);
  EXPECT_GT(task_of(of_series).measure(of_series, table).json["windows"], 0);
}

TEST(Tasks, FilesTellTheirTask) {
  const TemporaryFolder folder;
  const auto takes = [](const std::filesystem::path& path, const TextColumns& columns = {}) {
    const Task* task = task_of_files(path, columns);
    return task == nullptr ? std::string_view() : task->takes();
  };
  write_file_atomically(folder / "rows.csv", "a,b\n1,2\n3,4\n");
  write_file_atomically(folder / "news.tsv",
                        "art\ta painting of bread\nfood\tsome bread and soup\n");
  std::filesystem::create_directories(folder / "photos/cats");
  EXPECT_EQ(takes(folder / "rows.csv"), "");
  EXPECT_EQ(takes(folder / "rows.csv", {.text = "a"}), "texts");
  EXPECT_EQ(takes(folder / "news.tsv"), "texts");
  EXPECT_EQ(takes(folder / "nothing"), "");
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
  EXPECT_EQ(message_of([&] { masks.answer(model, rows_of(3)); }),
            "the model has no answer on a table as a whole; got 'days.csv'");
}

}  // namespace
}  // namespace linnet::test
