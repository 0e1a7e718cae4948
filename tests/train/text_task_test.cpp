// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <linnet/metrics.h>
#include <linnet/predictor.h>
#include <linnet/samples.h>
#include <linnet/text_task.h>

#include <algorithm>
#include <array>
#include <random>

#include "base/files.h"
#include "message_of.h"
#include "temporary_folder.h"

namespace linnet::test {
namespace {

using linnet::testing::message_of;
using linnet::testing::TemporaryFolder;

constexpr std::array<const char*, 3> kClasses{"art", "food", "sport"};
constexpr std::array<std::array<const char*, 3>, 3> kWords{
    {{"painting", "canvas", "museum"}, {"soup", "bread", "kitchen"}, {"goal", "match", "team"}}};

std::string sentence(std::size_t kind, std::mt19937& random) {
  std::string text = "the";
  for (int i = 0; i < 6; ++i) {
    text += ' ';
    text += kWords.at(kind).at(random() % 3);
  }
  return text;
}

std::string lines_text(int count, bool header) {
  std::mt19937 random(7);
  std::string text;
  if (header) text = "kind,id,words\n";
  for (int i = 0; i < count; ++i) {
    const auto kind = static_cast<std::size_t>(i % 3);
    text += header ? fmt::format("{},{},\"{}\"\n", kClasses.at(kind), i, sentence(kind, random))
                   : fmt::format("{}\t{}\n", kClasses.at(kind), sentence(kind, random));
  }
  return text;
}

TEST(TextTask, LearnsThreeClassesOfOneFile) {
  const TemporaryFolder folder;
  write_file_atomically(folder / "news.tsv", lines_text(120, false));
  const TextTask task = text_task(folder / "news.tsv", {.seed = 1});
  EXPECT_EQ(task.data.train.size(), 84);
  EXPECT_EQ(task.data.validation.size(), 12);
  EXPECT_EQ(task.data.test.size(), 24);
  EXPECT_EQ(task.data.train.info().vocabulary.size(), 11U);
  EXPECT_EQ(task.length, 8);  // a start and 7 words
  Model model(task.network, {.device = "cpu", .threads = 1});
  train(model, task.data, task.training);
  EXPECT_GT(evaluate_metrics(model, task.data.test).accuracy, 0.95);
  const Predictor predictor(model);
  const auto& words = task.data.train.info().vocabulary;
  EXPECT_EQ(predictor.classify(encode_text("bread and soup", words, task.length))[0].label, "food");
}

TEST(TextTask, ReadsNamedColumns) {
  const TemporaryFolder folder;
  write_file_atomically(folder / "news.csv", lines_text(60, true));
  const TextTask task =
      text_task(folder / "news.csv", {.columns = {.text = "words", .target = "kind"}});
  EXPECT_EQ(task.data.train.classes(), (std::vector<std::string>{"art", "food", "sport"}));
  const Splits again = labelled_texts(folder / "news.csv", {.text = "3", .target = "1"},
                                      task.data.train.info().vocabulary, task.length);
  EXPECT_EQ(again.test.size(), 60);
  const std::string path = (folder / "news.csv").string();
  EXPECT_EQ(message_of([&] { text_task(folder / "news.csv", {.columns = {.text = "words"}}); }),
            fmt::format("name the column of the labels of '{}' beside that of its texts", path));
  EXPECT_EQ(message_of([&] {
              text_task(folder / "news.csv", {.columns = {.text = "word", .target = "kind"}});
            }),
            fmt::format("'{}' has no column 'word'; did you mean 'words'?", path));
}

TEST(TextTask, TakesTheSetsOfAFolder) {
  const TemporaryFolder folder;
  for (const auto& [name, count] : {std::pair("train", 60), {"val", 20}, {"test", 10}}) {
    write_file_atomically(folder / (std::string(name) + ".tsv"), lines_text(count, false));
  }
  const TextTask task = text_task(folder.path());
  EXPECT_EQ(task.data.train.size(), 60);
  EXPECT_EQ(task.data.validation.size(), 20);
  EXPECT_EQ(task.data.test.size(), 10);
  const Splits again =
      labelled_texts(folder.path(), {}, task.data.train.info().vocabulary, task.length);
  EXPECT_EQ(again.validation.size(), 20);
}

TEST(TextTask, WordsComeFromTheTrainingSetAlone) {
  const TemporaryFolder folder;
  std::string text = lines_text(60, false);
  for (int i = 0; i < 60; ++i) text += fmt::format("art\tword{} word{}\n", i, i);
  write_file_atomically(folder / "news.tsv", text);
  const TextTask task = text_task(folder / "news.tsv");
  // Of the 60 words that stand in one text each, those of validation and test are unknown.
  const auto& words = task.data.train.info().vocabulary;
  const auto own =
      std::ranges::count_if(words, [](const auto& w) { return w.starts_with("word"); });
  EXPECT_GT(own, 30);
  EXPECT_LT(own, 55);
}

TEST(TextTask, SaysWhatLooksLikeAMistake) {
  const TemporaryFolder folder;
  std::string text;
  for (int i = 0; i < 40; ++i)
    text += fmt::format("{}\tword{} and more\n", i % 2 ? "b" : i % 4 ? "a" : "A", i % 4);
  write_file_atomically(folder / "case.tsv", text);
  const TextTask task = text_task(folder / "case.tsv");
  EXPECT_EQ(std::ranges::count(task.notes,
                               "warning: the classes 'A' and 'a' differ by upper and lower case "
                               "alone, and are learned as two"),
            1);
  text = "label,text\n";
  for (int i = 0; i < 40; ++i)
    text += fmt::format("{},word{} and more\n", i % 5 ? std::string(1, "ab"[i % 2]) : "", i % 4);
  write_file_atomically(folder / "gaps.csv", text);
  const TextTask gaps =
      text_task(folder / "gaps.csv", {.columns = {.text = "text", .target = "label"}});
  EXPECT_EQ(gaps.notes[0], "8 rows without a label are left out");
}

TEST(TextTask, SaysWhatItCannotLearn) {
  const TemporaryFolder folder;
  write_file_atomically(folder / "one.tsv", "a\tx y z x\na\tx y z y\n");
  EXPECT_EQ(message_of([&] { text_task(folder / "one.tsv"); }),
            "all texts of 'one.tsv' have the label 'a'; expected at least 2 classes to tell apart");
  // neg and pos are both known, and need both.
  write_file_atomically(folder / "pos.tsv", "pos\tx y z x\npos\tx y z y\n");
  EXPECT_EQ(
      message_of([&] { text_task(folder / "pos.tsv"); }),
      "all texts of 'pos.tsv' have the label 'pos'; expected at least 2 classes to tell apart");
  write_file_atomically(folder / "once.tsv", "a\tx y\nb\tz u\n");
  EXPECT_EQ(message_of([&] { text_task(folder / "once.tsv", {.validation = 0, .test = 0}); }),
            "no word of 'once.tsv' occurs twice");
}

}  // namespace
}  // namespace linnet::test
