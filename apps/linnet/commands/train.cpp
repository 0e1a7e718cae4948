// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <linnet/trainer.h>
#include <linnet/version.h>

#include <cmath>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include "base/check.h"
#include "base/files.h"
#include "commands/commands.h"
#include "commands/interrupt.h"
#include "commit.h"
#include "config/device.h"
#include "config/images.h"
#include "config/loss.h"
#include "config/named_data.h"
#include "config/optimizer.h"
#include "config/options.h"
#include "config/workloads.h"
#include "data/folder.h"
#include "data/vocabulary.h"
#include "describe/nearest.h"
#include "model/optimizer_fields.h"
#include "report/json.h"
#include "report/machine.h"
#include "report/metrics.h"
#include "report/progress.h"
#include "report/run_folder.h"
#include "report/run_record.h"
#include "report/training.h"

namespace linnet::command {
namespace {

struct TrainOptions {
  std::string config;
  std::string workload;
  std::optional<std::string> data;
  DeviceOptions on;
  std::optional<std::string> optimizer;
  std::optional<double> learning_rate;
  std::optional<std::string> schedule;
  LossSettings loss;
  std::optional<std::int64_t> batch;
  std::optional<std::int64_t> prefetch;
  bool streamed = false;
  bool drop_last = false;
  ImageSettings images;
  std::optional<std::int64_t> epochs;
  std::optional<int> threads;
  std::optional<std::uint64_t> seed;
  std::string out;
  bool json = false;
};

Job job_of(const TrainOptions& options) {
  Job job = job_from(options.config, options.workload, "linnet train");
  require(!job.forward_only,
          "{} computes features and has nothing to train: it is for `linnet bench {} --mode infer` "
          "and `linnet predict`",
          job.name, job.name);
  TrainingOptions& t = job.training;
  if (options.optimizer) t.optimizer = optimizer_of_kind(job, *options.optimizer);
  if (options.learning_rate) learning_rate_of(t.optimizer) = *options.learning_rate;
  if (options.schedule) t.schedule = schedule_of_kind(job, *options.schedule);
  apply(options.loss, job);
  if (options.seed) t.seed = *options.seed;
  job.data = options.data.value_or(job.data);
  apply(options.on, job.model);
  job.model.threads = options.threads.value_or(job.model.threads);
  job.model.seed = t.seed;
  t.batch = options.batch.value_or(t.batch);
  t.streamed = t.streamed || options.streamed;
  t.prefetch = options.prefetch.value_or(t.prefetch);
  t.epochs = options.epochs.value_or(t.epochs);
  t.drop_last = t.drop_last || options.drop_last;
  apply(options.images, job);
  return job;
}

/// Shows, saves and records a training as it goes.
class Watcher : public Callback {
 public:
  /// `words`: of texts, kept beside the model.
  Watcher(Model& model, RunFolder& folder, const std::vector<std::string>& words,
          std::int64_t epochs, InterruptGuard& guard)
      : model_(model), folder_(folder), words_(words), epochs_(epochs), guard_(guard) {}

  void on_progress(const Progress& progress) override {
    guard_.training();
    samples_ = progress.samples;
    display_.progress(progress);
  }
  void on_evaluation(const EvaluationProgress& progress) override { display_.evaluation(progress); }
  void on_epoch(const EpochReport& report) override {
    display_.epoch(report, epochs_);
    if (!saved_at_stop_) save();
    saved_epoch_ = report.epoch;
    folder_.append_history(to_json(report, report.train.samples >= samples_));
  }
  bool stop_requested() override { return InterruptGuard::requested(); }
  /// A second signal may come at any time, and what sent the first may not wait long.
  void on_stop() override {
    save();
    saved_at_stop_ = true;
    line(
        fmt::format("linnet: interrupted; the model is saved in '{}'; evaluating it (a second "
                    "signal ends it at once)",
                    folder_.model().string()));
  }

  void line(const std::string& text) { display_.line(text); }
  /// The last epoch whose weights are in the folder; 0: none.
  std::int64_t saved_epoch() const { return saved_epoch_; }

 private:
  void save() {
    if (!words_.empty() && !is_file(folder_.vocabulary())) {
      write_vocabulary(folder_.vocabulary(), Vocabulary(words_));
    }
    model_.save(folder_.model());
  }

  Model& model_;
  RunFolder& folder_;
  const std::vector<std::string>& words_;
  std::int64_t epochs_;
  InterruptGuard& guard_;
  std::int64_t samples_ = 0;
  std::int64_t saved_epoch_ = 0;
  bool saved_at_stop_ = false;
  ProgressDisplay display_;
};

/// The training; its errors say which weights are kept.
History train_watched(Model& model, const LoadedData& data, const TrainingOptions& training,
                      Watcher& watcher, const RunFolder& folder) {
  try {
    return train(model, data.splits, training, &watcher);
  } catch (const Error& error) {
    if (watcher.saved_epoch() == 0) throw;
    fail("{}; the weights of epoch {} are kept in '{}'", error.what(), watcher.saved_epoch(),
         folder.model().string());
  }
}

/// The whole epochs; all, if none is whole.
std::vector<double> epoch_seconds(const History& history) {
  std::vector<double> seconds;
  for (const EpochReport& epoch : history.epochs) seconds.push_back(epoch.seconds);
  const bool whole = history.epochs.back().train.samples == history.epochs.front().train.samples;
  if (!whole) seconds.pop_back();
  return seconds;
}

Json summary_json(const Job& job, const Model& model, const History& history,
                  const LoadedData& data, const RunFolder& folder) {
  const EpochReport last = history.epochs.empty() ? EpochReport{} : history.epochs.back();
  const std::int64_t samples = history.epochs.empty() ? 0 : history.epochs.front().train.samples;
  const Json epoch = to_json(last, !history.interrupted);
  Json json;
  add_setup(json, job, model, data.splits.train, data.splits.test.size(), history.epochs.size());
  for (const char* key : {"train_loss", "train_accuracy", "validation_loss", "validation_accuracy",
                          "test_loss", "test_accuracy"}) {
    json[key] = epoch[key];
  }
  add_speed(json, samples, spread_of(epoch_seconds(history)));
  json["startup_seconds"] = history.startup_seconds;
  json["peak_bytes"] = peak_bytes();
  json["planned_bytes"] = history.planned_bytes;
  json["bad_images"] = data.splits.train.info().bad_files.size() +
                       data.splits.test.info().bad_files.size() +
                       data.splits.validation.info().bad_files.size();
  json["interrupted"] = history.interrupted;
  json["stopped_early"] = history.stopped_early;
  json["notes"] = history.notes;
  add_origin(json, model, job.model);
  json["folder"] = folder.path().string();
  return json;
}

/// ("test accuracy", "98.31 %"), or the loss where there is no accuracy; of "test" or "train".
std::pair<std::string, std::string> result_of(const Json& summary, const std::string& part) {
  const std::string words = part == "train" ? "training" : part;
  const auto number = [&](const char* what) {
    const Json& value = summary[part + what];
    return value.is_number() ? value.get<double>() : ReportEpoch::kNone;
  };
  if (std::isfinite(number("_accuracy"))) {
    return {words + " accuracy", fmt::format("{:.2f} %", 100 * number("_accuracy"))};
  }
  if (!std::isfinite(number("_loss"))) return {words + " loss", "–"};
  return {words + " loss", fmt::format("{:.4f}", number("_loss"))};
}

/// "test accuracy 98.31 %"; of the training where no samples are held out for a test.
std::string test_result(const Json& summary) {
  const bool tested = summary["test_loss"].is_number() || summary["test_accuracy"].is_number();
  const auto [what, value] = result_of(summary, tested ? "test" : "train");
  return what + " " + value;
}

std::pair<std::string, std::string> device_fact(const Model& model, const Json& summary) {
  if (model.device() == "cpu") {
    return {"device, threads", fmt::format("cpu, {}", model.threads())};
  }
  return {"device, graph", fmt::format("{}, {}", summary["device_name"].get<std::string>(),
                                       summary["graph"].get<std::string>())};
}

void write_report(const Job& job, const Json& summary, const History& history, const Model& model,
                  const LoadedData& data, std::span<const float> predictions,
                  const std::optional<Metrics>& metrics, const RunFolder& folder) {
  Report report;
  report.title = fmt::format("{} on {}", job.name, data.splits.train.info().name);
  report.subtitle = fmt::format("{} {}, commit {}; {}", "Linnet", version(), kCommit,
                                summary["machine"]["processor"].get<std::string>());
  if (!data.note.empty()) report.subtitle += ". " + data.note;
  for (const std::string& note : history.notes) report.subtitle += ". " + note;
  add_epochs(report, history);
  if (metrics) {
    add_mistakes(report, *metrics, predictions, data.splits.test,
                 job.training.loss_options.ignore_index);
  }
  const auto bytes = [&](const char* key) { return bytes_text(summary[key].get<std::size_t>()); };
  const auto text = [&](const char* key) {
    return summary[key].is_string() ? summary[key].get<std::string>() : summary[key].dump();
  };
  report.facts = {
      result_of(summary, "test"),
      result_of(summary, "train"),
      {"samples per second", fmt::format("{:.0f}", summary["samples_per_second"].get<double>())},
      {"median epoch", fmt::format("{:.3f} s", summary["epoch_seconds"]["median"].get<double>())},
      {"start-up", fmt::format("{:.3f} s", history.startup_seconds)},
      {"memory planned / held", bytes("planned_bytes") + " / " + bytes("peak_bytes")},
      {"parameters", text("parameters")},
      device_fact(model, summary),
      {"precision", text("precision")},
      {"batch", text("batch")},
      {"epochs", text("epochs") + (history.interrupted     ? " (interrupted)"
                                   : history.stopped_early ? " (stopped early)"
                                                           : "")},
      {"optimizer", fmt::format("{}, {} {}", text("optimizer"), text("schedule"),
                                learning_rate_of(job.training.optimizer))},
      {"seed", text("seed")},
  };
  write_file_atomically(folder.report(), html_report(report));
}

std::vector<float> predictions_of(Model& model, const Job& job, const Dataset& data) {
  if (data.size() == 0) return {};
  return linnet::predictions_of(model, data, 256, job.training.loss_options.ignore_index);
}

std::optional<Metrics> measured(const Job& job, std::span<const float> predictions,
                                const Dataset& data) {
  if (predictions.empty()) return std::nullopt;
  return measure(predictions, data, job.training.loss_options.ignore_index);
}

/// metrics.json (of the test set, and of a validation set in it), and its lines on the terminal.
void report_metrics(const Job& job, Model& model, const std::optional<Metrics>& test,
                    const Splits& splits, const RunFolder& folder, Watcher& watcher) {
  Json json = Json::object();
  const auto add = [&](Json& to, std::string_view what, const Metrics& metrics,
                       const Dataset& data) {
    to = to_json(metrics, data.classes());
    std::string before = fmt::format("linnet: {}", what);
    for (const std::string& line : metrics_lines(metrics, data.classes())) {
      watcher.line(std::exchange(before, "") + line);
    }
  };
  if (test) add(json, "", *test, splits.test);
  if (const auto validation =
          measured(job, predictions_of(model, job, splits.validation), splits.validation)) {
    add(json["validation"], "validation ", *validation, splits.validation);
  }
  if (json.empty()) return;
  write_file_atomically(folder.metrics(),
                        json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
}

int train_job(const TrainOptions& options) {
  const Job job = job_of(options);
  RunFolder folder(options.out, job.name);  // first: an hour of loading for a folder in use is lost
  InterruptGuard guard(folder.removable());  // to the end: a report half written is none
  const std::filesystem::path cache = cache_folder();
  if (cache.empty()) {
    fmt::print(stderr,
               "linnet: nothing is kept between runs: there is no cache folder (neither "
               "$XDG_CACHE_HOME nor $HOME is set, and there is no temporary folder)\n");
  } else {
    remove_leftovers(cache);
  }
  Model model(job.network, job.model);  // before the data: a missing device costs no download
  LoadedData data = load_data(job);
  if (!data.note.empty()) fmt::print(stderr, "linnet: {}\n", data.note);
  if (job.for_images)
    model = Model(fit_network(job, data.splits.train.inputs()[0].record()), job.model);
  Watcher watcher(model, folder, data.splits.train.info().vocabulary, job.training.epochs, guard);
  const TrainingOptions training = with_class_weights(job, data.splits.train);
  // A GPU may report nothing before the end of an epoch, which must not be lost then.
  if (model.device() != "cpu") guard.training();
  const History history = train_watched(model, data, training, watcher, folder);
  guard.reporting(history.interrupted);
  for (Dataset* part : {&data.splits.validation, &data.splits.test}) {
    if (part->size() > 0) *part = fit_samples(std::move(*part), model);
  }
  const std::vector<float> predictions = predictions_of(model, job, data.splits.test);
  const Json summary = summary_json(job, model, history, data, folder);
  write_file_atomically(folder.summary(),
                        summary.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
  const std::optional<Metrics> metrics = measured(job, predictions, data.splits.test);
  write_report(job, summary, history, model, data, predictions, metrics, folder);
  report_metrics(job, model, metrics, data.splits, folder, watcher);
  for (const std::string& note : history.notes) watcher.line("linnet: " + note);
  if (history.interrupted) {
    watcher.line(fmt::format("linnet: interrupted; everything so far is saved in {}",
                             folder.path().string()));
  } else {
    if (history.stopped_early)
      watcher.line("linnet: stopped early: the held-out loss did not improve");
    watcher.line(
        fmt::format("linnet: {}; report: {}", test_result(summary), folder.report().string()));
  }
  if (options.json) print_json(summary);
  return InterruptGuard::requested() ? kInterrupted : kSuccess;
}

}  // namespace

void add_train(CLI::App& app, Action& action) {
  auto o = std::make_shared<TrainOptions>();
  CLI::App* command = app.add_subcommand("train", "Trains a network and leaves a run folder");
  command->add_option("CONFIG", o->config, "Configuration file (TOML), or a workload");
  command->add_option("--workload", o->workload, "A built-in training, e.g. mnist-cnn");
  command->add_option("--data", o->data,
                      "A folder of data, or a name: " + listed(datasets::names()));
  command->add_option("--batch", o->batch, "Samples in a step")->check(at_least(1));
  command->add_flag("--drop-last", o->drop_last,
                    "Leave the samples beyond the last whole batch out of each epoch");
  command->add_option("--epochs", o->epochs, "Passes over the data")->check(at_least(1));
  command->add_flag("--streamed", o->streamed,
                    "Image files: decode them as batches need them; other data, on a GPU: keep "
                    "them in host memory and copy batch by batch");
  add_image_options(*command, o->images);
  command->add_option("--prefetch", o->prefetch, "Batches that a streamed training reads ahead")
      ->check(at_least(1, 1024));
  add_device_options(*command, o->on);
  command->add_option("--threads", o->threads, "Processors to use; 0: all")->check(at_least(0));
  command->add_option("--seed", o->seed, "Of weights, shuffle and dropout")
      ->check(at_least(0, std::numeric_limits<long long>::max()));
  command
      ->add_option("--optimizer", o->optimizer, "Update rule; settings of the configuration stay")
      ->check(one_of(optimizer_names()));
  command->add_option("--lr", o->learning_rate, "Learning rate");
  command
      ->add_option("--schedule", o->schedule,
                   "Learning-rate schedule; settings of the configuration stay")
      ->check(one_of(schedule_names()));
  add_loss_options(*command, o->loss);
  command->add_option("--out", o->out, "Run folder; runs/<name>-<time> if not given");
  command->add_flag("--json", o->json, "Print the summary as one JSON object");
  command->footer(
      "Example: linnet train --workload mnist-cnn --data fashion-mnist --epochs 5 --out "
      "runs/first");
  command->callback([&action, o] { action = [o] { return train_job(*o); }; });
}

}  // namespace linnet::command
