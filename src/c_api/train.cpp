// SPDX-License-Identifier: Apache-2.0
#include <linnet/table_task.h>
#include <linnet/trainer.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <limits>
#include <memory>
#include <string>
#include <tuple>
#include <utility>

#include "c_api/arrays.h"
#include "c_api/errors.h"
#include "c_api/handles.h"
#include "c_api/options.h"
#include "tasks/options.h"

namespace linnet::c_api {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

double loss_of(const Evaluation& of) { return of.samples > 0 ? of.loss : kNone; }
double accuracy_of(const Evaluation& of) { return of.samples > 0 ? of.accuracy : kNone; }

/// Calls the program's function.
class Progresses final : public Callback {
 public:
  Progresses(linnet_progress_function function, void* user, std::int64_t epochs)
      : function_(function), user_(user), epochs_(epochs) {}

  void on_progress(const Progress& progress) override {
    tell({.size = sizeof(linnet_progress),
          .epoch = progress.epoch,
          .epochs = progress.epochs,
          .samples_done = progress.samples_done,
          .samples = progress.samples,
          .loss = progress.loss,
          .accuracy = progress.accuracy,
          .validation_loss = kNone,
          .validation_accuracy = kNone,
          .epoch_ended = 0});
  }
  void on_epoch(const EpochReport& report) override {
    tell({.size = sizeof(linnet_progress),
          .epoch = report.epoch,
          .epochs = epochs_,
          .samples_done = report.train.samples,
          .samples = report.train.samples,
          .loss = report.train.loss,
          .accuracy = report.train.accuracy,
          .validation_loss = loss_of(report.validation),
          .validation_accuracy = accuracy_of(report.validation),
          .epoch_ended = 1});
  }
  bool stop_requested() override { return stop_; }

 private:
  void tell(const linnet_progress& progress) { stop_ = function_(&progress, user_) != 0 || stop_; }

  linnet_progress_function function_;
  void* user_;
  std::int64_t epochs_;
  bool stop_ = false;
};

/// Fills the part of the caller's struct that both know.
void put_report(const History& history, linnet_training_report* report) {
  if (report == nullptr) return;
  linnet_training_report all{};
  all.loss = all.accuracy = all.validation_loss = all.validation_accuracy = kNone;
  all.test_loss = all.test_accuracy = kNone;
  if (!history.epochs.empty()) {
    const EpochReport& last = history.epochs.back();
    all.loss = loss_of(last.train);
    all.accuracy = accuracy_of(last.train);
    all.validation_loss = loss_of(last.validation);
    all.validation_accuracy = accuracy_of(last.validation);
    all.test_loss = loss_of(last.test);
    all.test_accuracy = accuracy_of(last.test);
  }
  all.size = report->size;
  all.epochs = static_cast<std::int64_t>(history.epochs.size());
  all.stopped_early = history.stopped_early ? 1 : 0;
  all.interrupted = history.interrupted ? 1 : 0;
  std::memcpy(report, &all, std::min(report->size, sizeof(all)));
}

void check_report(const linnet_training_report* report) {
  require(report == nullptr || report->size >= sizeof(report->size),
          "expected 'size' of the report to be sizeof(linnet_training_report), {}; got {}",
          sizeof(linnet_training_report), report == nullptr ? 0 : report->size);
}

History trained(linnet_model& model, const Splits& data, const TrainingOptions& options,
                linnet_progress_function progress, void* user) {
  Progresses progresses(progress, user, options.epochs);
  History history = train(model.model, data, options, progress != nullptr ? &progresses : nullptr);
  model.forget_probabilities();
  return history;
}

}  // namespace
}  // namespace linnet::c_api

using namespace linnet;         // NOLINT(*-using-namespace): C functions have no namespace
using namespace linnet::c_api;  // NOLINT(*-using-namespace)

extern "C" {

std::int32_t linnet_train(linnet_model* model, const linnet_array* inputs,
                          std::int32_t inputs_count, const linnet_array* targets,
                          std::int32_t targets_count, const char* options,
                          linnet_progress_function progress, void* user,
                          linnet_training_report* report) noexcept {
  return guarded(__func__, [&] {
    need_model(model);
    check_report(report);
    const std::string where = "the options";
    Setting table = parse_options(options, where);
    double share = 0;
    if (const auto given = taken(table, "validation")) {
      share = FieldFormat<double>::read({"validation", where, *given});
    }
    TrainingOptions training;
    read_training_options(training, std::move(table), where);
    const Dataset data =
        dataset_of(model->model.network(), arrays_of(inputs, inputs_count, "inputs"),
                   arrays_of(targets, targets_count, "targets"));
    Splits splits{.train = data};
    if (share != 0) {
      std::tie(splits.train, splits.validation) = data.split(share, {.seed = training.seed});
    }
    put_report(trained(*model, splits, training, progress, user), report);
  });
}

std::int32_t linnet_train_table(const char* path, const char* target, const char* options,
                                linnet_progress_function progress, void* user,
                                linnet_training_report* report, linnet_model** model) noexcept {
  return guarded(__func__, [&] {
    need(path, "path", "the name of a table's file");
    need(target, "target", "the name of a column");
    need(model, "model", "a place for the model");
    check_report(report);
    Setting table = parse_options(options, "the options");
    const Setting training = taken_table(table, "training");
    TableOptions reading;
    read_options(reading, taken_table(table, "table"), "'table' of the options");
    TableTaskOptions splitting;
    read_options(splitting, taken_table(table, "task"), "'task' of the options");
    const ModelOptions on =
        read_model_options(taken_table(table, "model"), "'model' of the options");
    refuse_others(table, {"table", "task", "training", "model"});
    splitting.target = target;
    TableTask task = table_task(read_table(path, reading), splitting);
    read_training_options(task.training, training, "'training' of the options");
    auto made = std::make_unique<linnet_model>(Model(task.network, on));
    made->model.set_table(task.transform);
    put_report(trained(*made, task.data, task.training, progress, user), report);
    *model = made.release();
  });
}

std::int32_t linnet_evaluate(linnet_model* model, const linnet_array* inputs,
                             std::int32_t inputs_count, const linnet_array* targets,
                             std::int32_t targets_count, double* loss, double* accuracy) noexcept {
  return guarded(__func__, [&] {
    need_model(model);
    const Evaluation found =
        evaluate(model->model,
                 dataset_of(model->model.network(), arrays_of(inputs, inputs_count, "inputs"),
                            arrays_of(targets, targets_count, "targets")));
    if (loss != nullptr) *loss = found.loss;
    if (accuracy != nullptr) *accuracy = found.accuracy;
  });
}

}  // extern "C"
