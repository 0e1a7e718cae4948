// SPDX-License-Identifier: Apache-2.0
#include "commands/train_report.h"

#include <fmt/format.h>
#include <linnet/prediction_report.h>
#include <linnet/table_task.h>
#include <linnet/version.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/files.h"
#include "commit.h"
#include "model/optimizers.h"
#include "report/machine.h"
#include "report/prediction_report.h"
#include "report/run_record.h"
#include "report/training.h"
#include "train/metrics_of_model.h"

namespace linnet::command {
namespace {

constexpr const char* kNotMeasured = "–";

/// The whole epochs; all, if none is whole.
std::vector<double> epoch_seconds(const History& history) {
  std::vector<double> seconds;
  for (const EpochReport& epoch : history.epochs) seconds.push_back(epoch.seconds);
  const bool whole = history.epochs.back().train.samples == history.epochs.front().train.samples;
  if (!whole) seconds.pop_back();
  return seconds;
}

/// ("test accuracy", "98.31 %"), or R², or the loss where there is neither; of "test" or "train".
std::pair<std::string, std::string> result_of(const Json& summary, const std::string& part) {
  const std::string words = part == "train" ? "training" : part;
  const auto number = [&](const char* what) {
    const Json value = summary.value(part + what, Json());
    return value.is_number() ? value.get<double>() : ReportEpoch::kNone;
  };
  if (std::isfinite(number("_accuracy"))) {
    return {words + " accuracy", fmt::format("{:.2f} %", 100 * number("_accuracy"))};
  }
  if (std::isfinite(number("_r_squared"))) {
    return {words + " R²", fmt::format("{:.4f}", number("_r_squared"))};
  }
  if (!std::isfinite(number("_loss"))) return {words + " loss", kNotMeasured};
  return {words + " loss", fmt::format("{:.4f}", number("_loss"))};
}

std::pair<std::string, std::string> device_fact(const Model& model, const Json& summary) {
  if (model.device() == "cpu") {
    return {"device, threads", fmt::format("cpu, {}", model.threads())};
  }
  return {"device, graph", fmt::format("{}, {}", summary["device_name"].get<std::string>(),
                                       summary["graph"].get<std::string>())};
}

}  // namespace

Json summary_json(const Job& job, const Model& model, const History& history,
                  const LoadedData& data, const std::optional<Metrics>& test,
                  const RunFolder& folder) {
  const std::int64_t samples = history.epochs.empty() ? 0 : history.epochs.front().train.samples;
  Json json;
  add_setup(json, job, model, data.splits.train, data.splits.test.size(), history.epochs.size());
  add_scores(json, history.epochs);
  if (test && std::isfinite(test->r_squared)) json["test_r_squared"] = test->r_squared;
  add_speed(json, samples, spread_of(epoch_seconds(history)));
  json["startup_seconds"] = history.startup_seconds;
  json["peak_bytes"] = peak_bytes();
  json["planned_bytes"] = history.planned_bytes;
  json["shards"] = history.shards;
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

std::string test_result(const Json& summary) {
  const bool tested = summary["test_loss"].is_number() || summary["test_accuracy"].is_number();
  const auto [what, value] = result_of(summary, tested ? "test" : "train");
  return what + " " + value;
}

void write_report(const Job& job, const Json& summary, const History& history, const Model& model,
                  const LoadedData& data, std::span<const float> predictions,
                  const std::optional<Metrics>& metrics, const std::string& sections,
                  const RunFolder& folder) {
  Report report;
  report.sections = sections;
  report.title = fmt::format("{} on {}", job.name, data.splits.train.info().name);
  report.subtitle = fmt::format("{} {}, commit {}; {}", "Linnet", version(), kCommit,
                                summary["machine"]["processor"].get<std::string>());
  if (summary.contains("warnings")) {
    report.subtitle =
        fmt::format("Warning: {}. {}", summary["warnings"][0].get<std::string>(), report.subtitle);
  }
  if (!data.note.empty()) {
    std::string notes = data.note;
    std::ranges::replace(notes, '\n', ';');
    report.subtitle += ". " + notes;
  }
  for (const std::string& note : history.notes) report.subtitle += ". " + note;
  add_epochs(report, history);
  if (metrics) {
    add_mistakes(report, *metrics, predictions, data.splits.test,
                 job.training.loss_options.ignore_index);
    ShownReport shown;
    PredictionReportOptions of;
    of.ignore_index = job.training.loss_options.ignore_index;
    of.probabilities = has_probabilities(model);
    of.value_names = model.table().targets();
    shown.report = report_for(model, predictions, data.splits.test, of);
    if (job.table != nullptr) shown.names.rows = job.table->test_rows;
    add_predictions(report, shown);
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
      {"memory planned / allocated", bytes("planned_bytes") + " / " + bytes("peak_bytes")},
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
  std::erase_if(report.facts, [](const auto& fact) { return fact.second == kNotMeasured; });
  write_file_atomically(folder.report(), html_report(report));
}

std::vector<float> predictions_of(Model& model, const Job& job, const Dataset& data) {
  if (data.size() == 0) return {};
  return linnet::predictions_of(model, data, 256, job.training.loss_options.ignore_index);
}

std::optional<Metrics> measured(const Job& job, const Model& model,
                                std::span<const float> predictions, const Dataset& data) {
  if (predictions.empty()) return std::nullopt;
  return measure_for(model, predictions, data, job.training.loss_options.ignore_index);
}

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
          measured(job, model, predictions_of(model, job, splits.validation), splits.validation)) {
    add(json["validation"], "validation ", *validation, splits.validation);
  }
  if (json.empty()) return;
  write_file_atomically(folder.metrics(),
                        json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
}

}  // namespace linnet::command
