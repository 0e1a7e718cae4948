// SPDX-License-Identifier: Apache-2.0
#include "commands/train_report.h"

#include <fmt/format.h>
#include <linnet/importance.h>
#include <linnet/intervals.h>
#include <linnet/prediction_report.h>
#include <linnet/tables.h>
#include <linnet/version.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/bytes_text.h"
#include "base/counted.h"
#include "base/files.h"
#include "base/join.h"
#include "commit.h"
#include "model/optimizers.h"
#include "report/machine.h"
#include "report/metrics.h"
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

/// "adam, constant 0.001", or the name alone of an optimizer without a learning rate.
std::string update_text(const TrainingOptions& training) {
  const double* rate = learning_rate_of(training.optimizer);
  if (rate == nullptr) return std::string(name_of(training.optimizer));
  return fmt::format("{}, {} {}", name_of(training.optimizer), name_of(training.schedule), *rate);
}

/// "123 rows train, 18 validate, 36 test."
std::string sizes_of(const Splits& splits, std::string_view what) {
  std::string text = fmt::format("{} {} train", grouped(std::to_string(splits.train.size())), what);
  for (const auto& [part, verb] :
       {std::pair(&splits.validation, "validate"), std::pair(&splits.test, "test")}) {
    if (part->size() > 0)
      text += fmt::format(", {} {}", grouped(std::to_string(part->size())), verb);
  }
  return text + ".";
}

/// Begins with a capital and ends with a full stop.
std::string sentence(std::string text) {
  if (text.empty()) return text;
  if (text[0] >= 'a' && text[0] <= 'z') text[0] = static_cast<char>(text[0] - 'a' + 'A');
  if (!text.ends_with('.') && !text.ends_with('!') && !text.ends_with('?')) text += '.';
  return text;
}

void add_notes(Report& report, const Json& summary, const History& history,
               const std::string& of_data, const std::string& worse) {
  const auto add = [&](const std::string& note) {
    const std::string text = sentence(note);
    const bool there = std::ranges::count(report.notes, text) > 0;
    if (!text.empty() && !there) report.notes.push_back(text);
  };
  for (const Json& warning : summary.value("warnings", Json::array())) {
    if (warning != worse) add("Warning: " + warning.get<std::string>());
  }
  for (std::size_t at = 0; at < of_data.size();) {
    const std::size_t end = std::min(of_data.find('\n', at), of_data.size());
    add(of_data.substr(at, end - at));
    at = end + 1;
  }
  for (const std::string& note : history.notes) add(note);
}

/// The columns of a table that matter most, measured on some of its rows that measure the model.
ReportBars important_columns(const Job& job, Model& model, const HeldOut& held) {
  constexpr std::size_t kMostRows = 1000;
  constexpr std::size_t kMostColumns = 200;  // of which each is permuted a few times
  constexpr std::size_t kShown = 10;
  const std::optional<Table> table = job.task->table();
  if (!table || held.numbers.empty() || job.task->columns().size() > kMostColumns) return {};
  const std::size_t count = std::min(kMostRows, held.numbers.size());
  std::vector<std::int64_t> rows;
  for (std::size_t i = 0; i < count; ++i) {
    rows.push_back(held.numbers[i * held.numbers.size() / count] - 1);
  }
  Importance importance;
  try {
    importance = permutation_importance(model, table->take(rows));
  } catch (const Error&) {
    return {};  // a score that is undefined on these rows
  }
  std::ranges::stable_sort(importance.columns, std::greater<>(), &ColumnImportance::mean);
  ReportBars bars{.title = "What matters most",
                  .note = fmt::format("How much {} is lost when a column's values are permuted "
                                      "among the rows: {} {} rows, 5 permutations.",
                                      importance.score, grouped(std::to_string(count)), held.part)};
  for (const ColumnImportance& column : importance.columns) {
    if (bars.bars.size() < kShown) bars.bars.emplace_back(column.column, column.mean);
  }
  return bars;
}

std::vector<float> predicted(Model& model, const Job& job, const Dataset& data) {
  if (data.size() == 0) return {};
  return predictions_of(model, data, 256, job.training.loss_options.ignore_index);
}

std::optional<Metrics> measured(const Job& job, const Model& model,
                                std::span<const float> predictions, const Dataset& data) {
  if (predictions.empty()) return std::nullopt;
  return measure_for(model, predictions, data, job.training.loss_options.ignore_index);
}

/// What the model is worth on what is held out, sample by sample.
ShownReport shown_report(const Job& job, const Model& model, const HeldOut& held) {
  ShownReport shown;
  PredictionReportOptions of;
  of.ignore_index = job.training.loss_options.ignore_index;
  of.probabilities = has_probabilities(model);
  of.value_names = job.task->targets(model);
  shown.report = report_for(model, held.predictions, held.data, of);
  shown.names.rows = held.numbers;
  // The validation set gave the intervals.
  if (held.part == "test") shown.intervals = interval_scores(model, shown.report);
  return shown;
}

/// What the intervals of a model are worth on the test set: of each target.
Json interval_scores_json(const ShownReport& shown) {
  Json json = Json::array();
  for (std::size_t i = 0; i < shown.intervals.size(); ++i) {
    Json one{{"target", shown.report.values[i].name}};
    one.update(to_json(shown.intervals[i]));
    json.push_back(std::move(one));
  }
  return json;
}

}  // namespace

HeldOut held_out_of(Model& model, const Job& job, const Splits& splits, bool own) {
  HeldOut held{.part = splits.test.size() > 0 ? "test" : "validation",
               .what = std::string(job.task->samples(splits.train))};
  if (own) return held;
  const bool test = held.part == "test";
  held.data = test ? splits.test : splits.validation;
  held.predictions = predicted(model, job, held.data);
  held.metrics = measured(job, model, held.predictions, held.data);
  held.numbers = job.task->row_numbers(test);
  if (held.metrics) held.shown = shown_report(job, model, held);
  return held;
}

Json summary_json(const Job& job, const Model& model, const History& history,
                  const LoadedData& data, const HeldOut& held, const RunFolder& folder) {
  const std::int64_t samples = history.epochs.empty() ? 0 : history.epochs.front().train.samples;
  Json json;
  add_setup(json, job, model, data.splits.train, data.splits.test.size(), history.epochs.size());
  add_scores(json, history.epochs);
  if (held.metrics && held.part == "test" && std::isfinite(held.metrics->r_squared))
    json["test_r_squared"] = held.metrics->r_squared;
  if (held.shown && !held.shown->intervals.empty()) {
    json["test_intervals"] = interval_scores_json(*held.shown);
  }
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

void write_report(const Job& job, const Json& summary, const History& history, Model& model,
                  const LoadedData& data, const HeldOut& held, const Rivals& rivals,
                  const std::string& sections, const RunFolder& folder) {
  Report report;
  report.sections = sections;
  report.title = job.task->title(job.name, data.splits.train);
  report.subtitle = sizes_of(data.splits, held.what);
  report.warns = !rivals.worse.empty();
  report.verdict = sentence(report.warns ? "Warning: " + rivals.worse : rivals.verdict);
  report.rivals = rivals.table;
  if (!history.interrupted) report.importance = important_columns(job, model, held);
  add_notes(report, summary, history, data.note, rivals.worse);
  add_epochs(report, history);
  report.measured = held.part;
  if (held.metrics) {
    add_mistakes(report, *held.metrics, held.predictions, held.data,
                 data.splits.train.info().vocabulary, job.training.loss_options.ignore_index);
    add_predictions(report, *held.shown);
  }
  const auto bytes = [&](const char* key) { return bytes_text(summary[key].get<std::size_t>()); };
  const auto text = [&](const char* key) {
    return summary[key].is_string() ? summary[key].get<std::string>() : summary[key].dump();
  };
  report.facts = {
      result_of(summary, "test"),
      result_of(summary, "train"),
      {"samples per second",
       grouped(fmt::format("{:.0f}", summary["samples_per_second"].get<double>()))},
      {"median epoch", fmt::format("{:.3f} s", summary["epoch_seconds"]["median"].get<double>())},
      {"start-up", fmt::format("{:.3f} s", history.startup_seconds)},
      {"memory planned / allocated", bytes("planned_bytes") + " / " + bytes("peak_bytes")},
      {"parameters", grouped(text("parameters"))},
      device_fact(model, summary),
      {"precision", text("precision")},
      {"batch", text("batch")},
      {"epochs", text("epochs") + (history.interrupted     ? " (interrupted)"
                                   : history.stopped_early ? " (stopped early)"
                                                           : "")},
      {"optimizer", update_text(job.training)},
      {"seed", text("seed")},
      {"processor", summary["machine"]["processor"].get<std::string>()},
      {"Linnet", fmt::format("{}, commit {}", version(), kCommit)},
  };
  std::erase_if(report.facts, [](const auto& fact) { return fact.second == kNotMeasured; });
  write_file_atomically(folder.report(), html_report(report));
}

void report_metrics(const Job& job, Model& model, const HeldOut& held, const Splits& splits,
                    const RunFolder& folder, Watcher& watcher) {
  Json json = Json::object();
  const auto add = [&](Json& to, std::string_view what, const Metrics& metrics,
                       const Dataset& data) {
    to = to_json(metrics, data.classes());
    std::string before = fmt::format("linnet: {}", what);
    for (const std::string& line : metrics_lines(metrics, data.classes())) {
      watcher.line(std::exchange(before, "") + line);
    }
  };
  if (held.metrics && held.part == "test") add(json, "", *held.metrics, held.data);
  const std::optional<Metrics> validation =
      held.part == "validation"
          ? held.metrics
          : measured(job, model, predicted(model, job, splits.validation), splits.validation);
  if (validation) add(json["validation"], "validation ", *validation, splits.validation);
  if (json.empty()) return;
  write_file_atomically(folder.metrics(),
                        json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
}

}  // namespace linnet::command
