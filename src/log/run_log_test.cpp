// SPDX-License-Identifier: Apache-2.0
#include <linnet/run_log.h>

#include <gtest/gtest.h>
#include <linnet/linnet.h>

#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "base/files.h"
#include "log/network_graph.h"
#include "message_of.h"
#include "model/model_state.h"
#include "temporary_folder.h"
#include "train/lines.h"
#include "weights.h"

namespace linnet::testing {
namespace {

Model model_of() {
  return Model(Network({2}, {Dense{.units = 8}, Tanh{}, Dense{.units = 1}}),
               {.device = "cpu", .threads = 1, .seed = 3});
}

Trainer trainer_of(const Model& model) {
  return Trainer(model, {.optimizer = Adam{.learning_rate = 0.01}}, {.seed = 1});
}

std::vector<std::string> lines_of(const std::filesystem::path& path) {
  std::istringstream file(read_file(path));
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  return lines;
}

TEST(JsonLinesLog, HasALineAnEpoch) {
  const TemporaryFolder folder;
  const Dataset data = line_data(20);
  JsonLinesLog log(folder / "history.jsonl");
  Trainer trainer = trainer_of(model_of());
  const History history =
      trainer.fit(data, {.epochs = 2, .batch = 8, .validation = data, .callback = &log});
  const auto lines = lines_of(folder / "history.jsonl");
  ASSERT_EQ(lines.size(), 2U);
  const auto last = nlohmann::json::parse(lines[1]);
  EXPECT_EQ(last["epoch"], 2);
  EXPECT_EQ(last["train_loss"], history.epochs[1].train.loss);
  EXPECT_EQ(last["validation_loss"], history.epochs[1].validation.loss);
  EXPECT_TRUE(last["train_accuracy"].is_null());
  EXPECT_TRUE(last["test_loss"].is_null());
  EXPECT_EQ(last["samples"], 20);
  EXPECT_EQ(last["complete"], true);
}

TEST(CsvLog, HasAHeaderAndIsContinued) {
  const TemporaryFolder folder;
  const Dataset data = line_data(20);
  Trainer trainer = trainer_of(model_of());
  for (int run = 0; run < 2; ++run) {
    CsvLog log(folder / "history.csv");
    trainer.fit(data, {.epochs = 1, .batch = 8, .callback = &log});
  }
  const auto lines = lines_of(folder / "history.csv");
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_EQ(lines[0],
            "epoch,train_loss,train_accuracy,validation_loss,validation_accuracy,test_loss,"
            "test_accuracy,learning_rate,seconds,samples,samples_per_second,complete");
  EXPECT_EQ(lines[1].substr(0, 2), "1,");
  EXPECT_EQ(lines[2].substr(0, 2), "2,");
  EXPECT_NE(lines[2].find(",,,,,,0.01,"), std::string::npos) << lines[2];
}

TEST(CsvLog, QuotesNamesAndRefusesOtherColumns) {
  const TemporaryFolder folder;
  CsvLog log(folder / "history.csv");
  EpochReport report;
  report.epoch = 1;
  report.validation.metrics = {{"a,\"b\"", 0.25}};
  log.on_epoch(report);
  const auto lines = lines_of(folder / "history.csv");
  EXPECT_TRUE(lines[0].ends_with(",\"validation_a,\"\"b\"\"\"")) << lines[0];
  EXPECT_TRUE(lines[1].ends_with(",true,0.25")) << lines[1];
  report.validation.metrics.clear();
  EXPECT_TRUE(message_of([&] { log.on_epoch(report); }).starts_with("cannot continue '"));
  EXPECT_EQ(lines_of(folder / "history.csv"), lines);
}

TEST(TableLogs, BeginAgainWithTheEpochsThatWereDone) {
  const TemporaryFolder folder;
  JsonLinesLog json(folder / "history.jsonl");
  CsvLog csv(folder / "history.csv");
  CallbackList both({&json, &csv});
  std::vector<EpochReport> epochs(4);
  for (std::int64_t i = 0; i < 4; ++i) epochs[static_cast<std::size_t>(i)].epoch = i + 1;
  for (int i = 0; i < 3; ++i) both.on_epoch(epochs[static_cast<std::size_t>(i)]);
  const auto wanted = lines_of(folder / "history.jsonl");
  ResumeReport resumed;
  resumed.epochs = {epochs[0], epochs[1]};
  both.on_resume(resumed);
  EXPECT_EQ(lines_of(folder / "history.jsonl").size(), 2U);
  both.on_epoch(epochs[2]);
  EXPECT_EQ(lines_of(folder / "history.jsonl"), wanted);
  const auto rows = lines_of(folder / "history.csv");
  ASSERT_EQ(rows.size(), 4U);  // with the header
  EXPECT_EQ(rows[3].substr(0, 2), "3,");
}

TEST(TensorBoardLog, WritesGraphLossesAndWeights) {
  const TemporaryFolder folder;
  const Model model = model_of();
  const Dataset data = line_data(20);
  TensorBoardLog log(folder.path(), {.model = model});
  Trainer trainer = trainer_of(model);
  trainer.fit(data, {.epochs = 2, .batch = 8, .callback = &log});
  std::filesystem::path file;
  for (const auto& entry : std::filesystem::directory_iterator(folder.path())) file = entry.path();
  const std::string bytes = read_file(file);
  const auto count = [&](const std::string& tag) {
    int found = 0;
    for (std::size_t at = bytes.find(tag); at != std::string::npos; at = bytes.find(tag, at + 1)) {
      ++found;
    }
    return found;
  };
  EXPECT_EQ(count("loss/step"), 6);
  EXPECT_EQ(count("loss/train"), 2);
  EXPECT_EQ(count("weight/dense_2.bias"), 2);
  EXPECT_EQ(count("dense_1/dense"), 2);  // as a node, and as the input of tanh
  EXPECT_EQ(count("accuracy/"), 0);
  EXPECT_EQ(message_of([&] {
              log.image("x", Tensor(DType::f32, {2, 2, 1}), 0);
            }),
            "expected an image of u8 (height, width, 1 or 3) for the log; got f32 (2, 2, 1)");
}

TEST(NetworkGraph, NamesEveryInputThatANodeReads) {
  const Network network({28, 28, 1},
                        {Conv2d{.filters = 4}, BatchNorm{}, ReLU{}, Flatten{}, Dense{.units = 10}});
  const auto nodes = network_graph(network.definition());
  std::vector<std::string> names;
  std::size_t inputs = 0;
  for (const GraphNode& node : nodes) {
    names.push_back(node.name);
    for (const std::string& input : node.inputs) {
      EXPECT_NE(std::find(names.begin(), names.end(), input), names.end()) << input;
      ++inputs;
    }
  }
  EXPECT_EQ(names[0], "input");
  EXPECT_EQ(nodes[0].shape, (std::vector<std::int64_t>{-1, 28, 28, 1}));
  EXPECT_GE(inputs, 9U);
}

TEST(CallbackList, CallsEachAndWaitsForNoStepThatNobodyHears) {
  struct Counter : Callback {
    void on_epoch(const EpochReport& /*report*/) override { ++epochs; }
    void on_end(const History& /*history*/) override { ++ends; }
    bool stop_requested() override { return epochs == stop_after; }
    int epochs = 0;
    int ends = 0;
    int stop_after = -1;
  };
  struct Listener : Counter {
    void on_batch(const StepResult& /*step*/) override { ++batches; }
    int batches = 0;
  };
  const Dataset data = line_data(20);
  Trainer trainer = trainer_of(model_of());
  Counter first;
  Counter second;
  CallbackList deaf({&first, &second});
  trainer.fit(data, {.epochs = 2, .batch = 8, .callback = &deaf});
  EXPECT_EQ(first.epochs + second.epochs, 4);
  EXPECT_EQ(first.ends + second.ends, 2);
  EXPECT_FALSE(deaf.hears_batches());
  Listener listener;
  CallbackList all({&first, &listener});
  trainer.fit(data, {.epochs = 2, .batch = 8, .callback = &all});
  EXPECT_EQ(listener.batches, 6);
  EXPECT_TRUE(all.hears_batches());
  second.stop_after = second.epochs;
  CallbackList stopping({&second, &first});
  EXPECT_TRUE(trainer.fit(data, {.epochs = 2, .batch = 8, .callback = &stopping}).interrupted);
  EXPECT_EQ(message_of([] { CallbackList({nullptr}); }), "expected a callback; got a null pointer");
}

}  // namespace
}  // namespace linnet::testing
