// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <linnet/metrics.h>
#include <linnet/prediction_report.h>
#include <linnet/training_warnings.h>

#include <array>
#include <cstdint>
#include <limits>
#include <memory>
#include <string_view>
#include <utility>

#include "base/check.h"
#include "base/files.h"
#include "base/utf8.h"
#include "commands/commands.h"
#include "commands/forecast.h"
#include "commands/run_data.h"
#include "config/device.h"
#include "config/options.h"
#include "config/views.h"
#include "report/json.h"
#include "report/metrics.h"
#include "report/prediction_report.h"
#include "report/saved_run.h"
#include "tasks/task.h"
#include "train/metrics_of_model.h"

namespace linnet::command {
namespace {

struct EvaluateOptions : RunDataOptions {
  std::string run;
  std::string part;
  DeviceOptions on;
  std::int64_t batch = 256;
  std::optional<std::string> views;
  std::string cost;
  std::string page;
  bool json = false;
};

/// In the order in which a part is looked for where none is named.
const std::vector<std::string>& part_names() {
  static const std::vector<std::string> names{"test", "validation", "train"};
  return names;
}

struct Chosen {
  std::string name;
  Dataset data;
};

Chosen choose(const Splits& splits, const EvaluateOptions& options) {
  const std::array all{splits.test, splits.validation, splits.train};  // as part_names()
  for (std::size_t i = 0; i < all.size(); ++i) {
    const std::string& name = part_names()[i];
    if (options.part.empty() ? all[i].size() == 0 : options.part != name) continue;
    require(all[i].size() > 0, "'{}' has no {} set", options.data, name);
    return {name, all[i]};
  }
  fail("'{}' has no samples", options.data);
}

/// row_numbers: of a table's rows in their file; empty: other data.
ShownReport report_of(const std::vector<float>& predictions, const Dataset& data,
                      const Model& model, std::vector<std::int64_t> row_numbers,
                      const EvaluateOptions& options) {
  ShownReport shown;
  if (!options.cost.empty()) shown.cost = cost_of(options.cost);
  PredictionReportOptions report;
  report.ignore_index = options.ignore_index;
  report.probabilities = has_probabilities(model);
  report.value_names = task_of(model).targets(model);
  shown.report = report_for(model, predictions, data, report);
  require(!shown.cost || !shown.report.classes.empty(),
          "--cost chooses thresholds of classes; '{}' has values", data.info().name);
  shown.names.rows = std::move(row_numbers);
  shown.intervals = interval_scores(model, shown.report);
  return shown;
}

void write_page(const EvaluateOptions& options, const std::string& part, const Dataset& data,
                const Metrics& metrics, const ShownReport& shown,
                const std::vector<std::string>& classes) {
  Report page;
  page.title = fmt::format("{} on {}", options.run, data.info().name);
  page.subtitle = fmt::format("{} set, {} samples. {}", part, metrics.samples,
                              metrics_lines(metrics, classes).front());
  page.held_out = part;
  page.measured = part;
  add_predictions(page, shown);
  for (std::size_t c = 0; c < metrics.scores.classes.size(); ++c) {
    page.class_names.push_back(class_name(classes, c));
  }
  page.confusion = metrics.confusion;
  write_file_atomically(options.page, html_report(page));
}

int evaluate_run(const EvaluateOptions& options) {
  auto [run, on, model, task] = load_run(options.run, options.on, options.threads, options.given);
  if (task.answers_tables()) {
    options.given.refuse({"--part", "--force", "--ignore-index", "--cost", "--report", "--batch",
                          "--tta", "--text", "--target", "--seed", "--image-size", "--channels",
                          "--on-bad-image"},
                         "other models", fmt::format("'{}' forecasts a series", options.run));
    return print_series_scores(task, model, options.data, options.sheet, options.json);
  }
  model = with_views(std::move(model), options.views);
  const RunData loaded = load_run_data(options, run, task, model);
  auto [part, data] = choose(loaded.splits, options);
  const double seen = seen_share(model, data);
  data = fit_samples(std::move(data), model);
  if (const std::optional<TaskReport> own = task.score(model, data, part)) {
    options.given.refuse({"--ignore-index", "--cost", "--report", "--batch", "--text", "--target"},
                         "other models", fmt::format("'{}' takes {}", options.run, task.takes()));
    return print_own_scores(*own, options.data, seen, options.json);
  }
  // The numbers of what follows are the model's, so its names are.
  const std::vector<std::string>& classes =
      model.class_names().empty() ? data.classes() : model.class_names();
  const Dataset named = with_class_names(data, model.class_names());
  const std::vector<float> predictions =
      predictions_of(model, named, options.batch, options.ignore_index);
  const Metrics metrics = measure_for(model, predictions, named, options.ignore_index);
  const ShownReport shown = report_of(predictions, named, model, loaded.row_numbers, options);
  if (!options.page.empty()) write_page(options, part, named, metrics, shown, classes);
  warn_of_seen(seen);
  if (options.json) {
    Json json{{"model", run.model.string()}, {"data", data.info().name}, {"part", part}};
    add_device(json, model, on);
    json["metrics"] = to_json(metrics, classes);
    json["report"] = to_json(shown);
    print_json(json);
    return kSuccess;
  }
  std::string text =
      fmt::format("{}, {} set: {} samples\n", data.info().name, part, metrics.samples);
  for (const std::string& line : metrics_lines(metrics, classes)) text += escaped(line) + "\n";
  for (const std::string& line : report_lines(shown)) text += escaped(line) + "\n";
  print_out(text);
  return kSuccess;
}

}  // namespace

void add_evaluate(CLI::App& app, Action& action) {
  auto o = std::make_shared<EvaluateOptions>();
  CLI::App* command =
      app.add_subcommand("evaluate", "Prints the metrics of a saved run on a data set");
  command->add_option("RUN", o->run, "A run folder, or a trained model (.safetensors)")->required();
  add_run_data_options(*command, *o);
  command
      ->add_option("--part", o->part,
                   "The split to evaluate; the first of these that has samples if not given")
      ->check(one_of(part_names()));
  command->add_flag(
      "--force", o->force,
      "Take classes of other names than the model's by number; of a table, leave such rows out");
  command
      ->add_option("--ignore-index", o->ignore_index,
                   "Label whose samples are left out, as in the loss")
      ->check(at_least(-std::numeric_limits<std::int32_t>::max()));
  command->add_option("--cost", o->cost,
                      "What a false positive and a false negative cost, FP=1,FN=5: names the\n"
                      "probability from which on a class is predicted at the least cost");
  command->add_option("--report", o->page, "Write the report with its plots to this HTML file");
  command->add_option("--batch", o->batch, "Samples in a batch")->check(at_least(1));
  add_views_option(*command, o->views);
  add_device_options(*command, o->on);
  add_threads_option(*command, o->threads);
  command->add_flag("--json", o->json, "Print one JSON object");
  set_most_used(*command, {"--data", "--part", "--report", "--cost", "--json"});
  command->footer(
      "Image files are resized to the size of the training; if the training cropped them, the "
      "centre is taken.\n"
      "Example: linnet evaluate runs/first --data fashion-mnist");
  act(*command, o, action, evaluate_run);
}

}  // namespace linnet::command
