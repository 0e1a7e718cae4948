// SPDX-License-Identifier: Apache-2.0
#include <linnet/layers.h>
#include <linnet/predictor.h>
#include <linnet/table_task.h>
#include <linnet/trainer.h>

#include <array>
#include <cmath>
#include <cstring>
#include <fstream>
#include <limits>
#include <stdexcept>

#include "../temporary_folder.h"
#include "c_api.h"

namespace linnet::testing {
namespace {

/// 200 samples of four numbers, whose labels say which of the first three is the largest.
struct Data {
  Data() {
    for (std::size_t i = 0; i < 200; ++i) {
      const float* row = &x[i * 4];
      labels.push_back(row[0] > row[1] ? (row[0] > row[2] ? 0 : 2) : (row[1] > row[2] ? 1 : 2));
    }
  }
  linnet_array inputs() const {
    return {nullptr, x.data(), x.size() * 4, dims.data(), 2, LINNET_F32};
  }
  linnet_array targets() const {
    return {nullptr, labels.data(), labels.size() * 4, dims.data(), 1, LINNET_I32};
  }

  std::vector<float> x = numbers(800);
  std::vector<std::int32_t> labels;
  std::array<std::int64_t, 2> dims{200, 4};
};

std::int32_t train(linnet_model* model, const Data& data, const char* options,
                   linnet_progress_function progress = nullptr, void* user = nullptr,
                   linnet_training_report* report = nullptr) {
  const linnet_array inputs = data.inputs();
  const linnet_array targets = data.targets();
  return linnet_train(model, &inputs, 1, &targets, 1, options, progress, user, report);
}

std::vector<float> predicted(const linnet_model* model, const Data& data) {
  std::vector<float> outputs(600);
  EXPECT_EQ(linnet_predict(model, 200, data.x.data(), 800, outputs.data(), 600), LINNET_OK);
  return outputs;
}

TEST(CTrain, GivesTheBitsOfCpp) {
  const Data data;
  const OwnedModel model = make_model();
  linnet_training_report report{};
  report.size = sizeof(report);
  ASSERT_EQ(train(model.get(), data,
                  R"({"epochs": 4, "batch": 32, "seed": 7, "validation": 0.2,
                      "optimizer": {"kind": "adamw", "learning_rate": 0.01},
                      "schedule": "cosine", "clip": {"norm": 1.0}})",
                  nullptr, nullptr, &report),
            LINNET_OK)
      << linnet_last_error();
  Model cpp(small_network(), {.device = "cpu", .threads = 1, .seed = 3});
  const Dataset all({{.name = "input", .data = Tensor::borrow(data.x, {200, 4})}},
                    {{.name = "output", .data = Tensor::borrow(data.labels, {200})}});
  const auto [rest, held_out] = all.split(0.2, {.seed = 7});
  const History history = linnet::train(cpp, Splits{.train = rest, .validation = held_out},
                                        {.epochs = 4,
                                         .batch = 32,
                                         .optimizer = AdamW{.learning_rate = 0.01},
                                         .schedule = CosineDecay{},
                                         .clip = {.norm = 1},
                                         .seed = 7});
  const Tensor expected = cpp.predict(Tensor::borrow(data.x, {200, 4}));
  EXPECT_TRUE(same_bits(Tensor(predicted(model.get(), data), {200, 3}), expected));
  EXPECT_EQ(report.epochs, 4);
  EXPECT_EQ(report.loss, history.epochs.back().train.loss);
  EXPECT_EQ(report.validation_loss, history.epochs.back().validation.loss);
  EXPECT_EQ(report.validation_accuracy, history.epochs.back().validation.accuracy);
  EXPECT_TRUE(std::isnan(report.test_loss));
  EXPECT_EQ(report.interrupted, 0);

  const linnet_array inputs = data.inputs();
  const linnet_array targets = data.targets();
  double loss = 0;
  double accuracy = 0;
  ASSERT_EQ(linnet_evaluate(model.get(), &inputs, 1, &targets, 1, &loss, &accuracy), LINNET_OK);
  const Evaluation seen = evaluate(cpp, all);
  EXPECT_EQ(loss, seen.loss);
  EXPECT_EQ(accuracy, seen.accuracy);
}

struct Heard {
  int calls = 0;
  std::int64_t stop_at = 0;
  linnet_progress last{};
  static std::int32_t hear(const linnet_progress* progress, void* user) {
    auto* self = static_cast<Heard*>(user);
    self->last = *progress;
    self->calls += progress->epoch_ended;
    return progress->epoch_ended != 0 && progress->epoch == self->stop_at ? 1 : 0;
  }
};

TEST(CTrain, TellsItsProgressAndStops) {
  const Data data;
  const OwnedModel model = make_model();
  Heard heard;
  ASSERT_EQ(train(model.get(), data, R"({"epochs": 3})", &Heard::hear, &heard), LINNET_OK);
  EXPECT_EQ(heard.calls, 3);
  EXPECT_EQ(heard.last.size, sizeof(linnet_progress));
  EXPECT_EQ(heard.last.epoch, 3);
  EXPECT_EQ(heard.last.epochs, 3);
  EXPECT_EQ(heard.last.samples_done, 200);
  EXPECT_TRUE(std::isnan(heard.last.validation_loss));
  EXPECT_TRUE(std::isfinite(heard.last.loss));

  heard = {.stop_at = 2};
  linnet_training_report report{};
  report.size = sizeof(report);
  ASSERT_EQ(train(model.get(), data, R"({"epochs": 1000})", &Heard::hear, &heard, &report),
            LINNET_OK);
  EXPECT_EQ(heard.calls, 2);
  EXPECT_EQ(report.epochs, 2);
  EXPECT_EQ(report.interrupted, 1);
}

TEST(CTrain, FillsAnOlderReportNoFurther) {
  const Data data;
  const OwnedModel model = make_model();
  linnet_training_report report{};
  report.size = offsetof(linnet_training_report, accuracy);
  report.accuracy = -3;
  ASSERT_EQ(train(model.get(), data, nullptr, nullptr, nullptr, &report), LINNET_OK);
  EXPECT_EQ(report.epochs, 5);
  EXPECT_EQ(report.accuracy, -3);
  report.size = 0;
  expect_error(train(model.get(), data, nullptr, nullptr, nullptr, &report), LINNET_ERROR,
               "sizeof(linnet_training_report)");
}

TEST(CTrain, WhatItThrowsStaysInside) {
  const Data data;
  const OwnedModel model = make_model();
  expect_error(train(model.get(), data, nullptr,
                     [](const linnet_progress*, void*) -> std::int32_t {
                       throw std::runtime_error("not allowed");
                     }),
               LINNET_INTERNAL_ERROR, "linnet_train: not allowed");
  EXPECT_EQ(train(model.get(), data, R"({"epochs": 1})"), LINNET_OK);
}

TEST(CTrain, RefusesDataAndOptions) {
  Data data;
  const OwnedModel model = make_model();
  for (const auto& [options, words] :
       {std::pair{R"({"epoch": 1})", "did you mean 'epochs'?"},
        std::pair{R"({"epochs": 0})", "'epochs' in the options must be at least 1"},
        std::pair{R"({"optimizer": "adamm"})", "did you mean 'adam'?"},
        std::pair{R"({"optimizer": {"kind": "adam", "rate": 1}})", "unknown key 'rate'"},
        std::pair{R"({"optimizer": 3})", "a name, or an object"},
        std::pair{R"({"loss": "mse"})", "loss"}, std::pair{R"({"validation": 1})", "1"},
        std::pair{R"({"validation": "x"})", "'validation' in the options"}}) {
    expect_error(train(model.get(), data, options), LINNET_ERROR, words);
  }
  data.labels[3] = 3;
  EXPECT_EQ(train(model.get(), data, nullptr), LINNET_DATA_ERROR);
  data.labels[3] = 2;
  data.x[5] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(train(model.get(), data, nullptr), LINNET_DATA_ERROR);
  data.x[5] = 0;
  data.dims[0] = 199;
  EXPECT_EQ(train(model.get(), data, nullptr), LINNET_ERROR);
}

TEST(CTrain, ATableAsCppDoes) {
  const TemporaryFolder folder;
  std::ofstream file(folder / "t.csv");
  std::string rows = "colour,size\n";
  file << "size,colour,kind\n";
  const std::vector<float> sizes = numbers(300);
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const char* colour = i % 3 == 0 ? "red" : "blue";
    file << sizes[i] << ',' << colour << ',' << ((sizes[i] > 0) != (i % 3 == 0) ? "yes" : "no")
         << '\n';
    if (i < 5) rows += std::string(colour) + ',' + std::to_string(sizes[i]) + '\n';
  }
  file.close();
  const std::string path = (folder / "t.csv").string();
  linnet_model* made = nullptr;
  linnet_training_report report{};
  report.size = sizeof(report);
  ASSERT_EQ(linnet_train_table(path.c_str(), "kind",
                               R"({"training": {"epochs": 5}, "task": {"seed": 2},
                                   "model": {"threads": 1, "device": "cpu"}})",
                               nullptr, nullptr, &report, &made),
            LINNET_OK)
      << linnet_last_error();
  const OwnedModel model(made);
  EXPECT_GT(report.test_accuracy, 0);

  const TableTask task = table_task(read_table(path), {.target = "kind", .seed = 2});
  Model cpp(task.network, {.device = "cpu", .threads = 1});
  cpp.set_table(task.transform);
  TrainingOptions options = task.training;
  options.epochs = 5;
  linnet::train(cpp, task.data, options);

  std::int64_t count = 0;
  ASSERT_EQ(linnet_count_rows(made, rows.data(), rows.size(), &count), LINNET_OK);
  ASSERT_EQ(count, 5);
  std::vector<float> outputs(10);
  ASSERT_EQ(linnet_predict_rows(made, rows.data(), rows.size(), outputs.data(), 10, 1), LINNET_OK)
      << linnet_last_error();
  const Tensor expected = cpp.predict_probabilities(task.transform.inputs(parse_table(rows)));
  EXPECT_TRUE(same_bits(Tensor(outputs, {5, 2}), expected));
  const char* name = nullptr;
  ASSERT_EQ(linnet_model_class_name(made, 1, &name), LINNET_OK);
  EXPECT_STREQ(name, "yes");

  expect_error(linnet_predict_rows(made, rows.data(), rows.size(), outputs.data(), 9, 1),
               LINNET_ERROR, "'outputs' has 9 floats; expected 10 for (5, 2)");
  expect_error(linnet_predict_rows(made, "size\n1\n", 7, outputs.data(), 2, 1), LINNET_DATA_ERROR,
               "colour");
  expect_error(linnet_train_table(path.c_str(), "kin", nullptr, nullptr, nullptr, nullptr, &made),
               LINNET_DATA_ERROR, "kind");
  expect_error(linnet_train_table(path.c_str(), "kind", R"({"epochs": 3})", nullptr, nullptr,
                                  nullptr, &made),
               LINNET_ERROR, "unknown key 'epochs' in the options; known are");
  const OwnedModel plain = make_model();
  expect_error(linnet_count_rows(plain.get(), rows.data(), rows.size(), &count), LINNET_ERROR,
               "did not learn from a table");
}

}  // namespace
}  // namespace linnet::testing
