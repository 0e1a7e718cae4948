// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <linnet/importance.h>
#include <linnet/table_transform.h>

#include <algorithm>
#include <memory>

#include "base/check.h"
#include "base/files.h"
#include "base/utf8.h"
#include "commands/commands.h"
#include "config/device.h"
#include "config/model_rows.h"
#include "config/options.h"
#include "report/html_report.h"
#include "report/json.h"
#include "report/saved_run.h"
#include "tasks/table/model_rows.h"

namespace linnet::command {
namespace {

constexpr std::size_t kColumnsOfThePage = 6;  // with the largest importance

struct ImportanceArguments {
  GivenOptions given;
  std::string run;
  std::string data;
  std::string sheet;
  std::vector<std::string> columns;
  std::string page;
  ImportanceOptions importance;
  PartialDependenceOptions dependence;
  DeviceOptions on;
  int threads = 0;
  bool json = false;
};

/// The most important first.
std::vector<ColumnImportance> ranked(const Importance& importance) {
  std::vector<ColumnImportance> columns = importance.columns;
  std::ranges::stable_sort(columns, std::greater<>(), &ColumnImportance::mean);
  return columns;
}

Json dependence_json(const PartialDependence& of) {
  Json json{{"column", of.column}, {"outputs", of.outputs}, {"points", Json::array()}};
  for (std::size_t i = 0; i < of.texts.size(); ++i) {
    const Json value = of.values.empty() ? Json(of.texts[i]) : Json(of.values[i]);
    json["points"].push_back({{"value", value}, {"mean", of.means[i]}});
  }
  return json;
}

std::string dependence_text(const PartialDependence& of) {
  std::string text = fmt::format("partial dependence on '{}'\n", escaped(of.column));
  text += fmt::format("{:>16}", "value");
  for (const std::string& output : of.outputs) text += fmt::format(" {:>12}", escaped(output));
  text += "\n";
  for (std::size_t i = 0; i < of.texts.size(); ++i) {
    text += of.values.empty() ? fmt::format("{:>16.16}", escaped(of.texts[i]))
                              : fmt::format("{:>16.6g}", of.values[i]);
    for (std::size_t o = 0; o < of.outputs.size(); ++o) {
      const auto letters = std::ranges::count_if(of.outputs[o], begins_character);
      const std::ptrdiff_t width = std::max<std::ptrdiff_t>(letters, 12);
      text += fmt::format(" {:>{}.5g}", of.means[i][o], width);
    }
    text += "\n";
  }
  return text;
}

std::string importance_text(const Importance& importance, const Table& rows) {
  std::string text = fmt::format("{}: {} rows, {} {:.4f}\n", rows.name(), rows.rows(),
                                 importance.score, importance.baseline);
  std::size_t width = 6;
  for (const ColumnImportance& one : importance.columns)
    width = std::max(width, escaped(one.column).size());
  text += fmt::format("{:<{}}  {:>10}  {:>8}\n", "column", width, "importance", "std");
  for (const ColumnImportance& one : ranked(importance)) {
    text +=
        fmt::format("{:<{}}  {:>10.4f}  {:>8.4f}\n", escaped(one.column), width, one.mean, one.std);
  }
  return text;
}

ReportPlot plot_of(const PartialDependence& of) {
  ReportPlot plot{.title = fmt::format("Partial dependence on '{}'", of.column),
                  .x_name = of.column,
                  .y_name = of.outputs.size() == 1 ? of.outputs[0] : "mean probability"};
  for (std::size_t o = 0; o < of.outputs.size(); ++o) {
    ReportSeries series{.name = of.outputs.size() > 1 ? of.outputs[o] : "", .colour = o};
    for (std::size_t i = 0; i < of.texts.size(); ++i) {
      series.points.push_back(
          {of.values.empty() ? static_cast<double>(i) : of.values[i], of.means[i][o]});
    }
    if (of.values.empty()) {
      ReportSeries dots = series;
      dots.name.clear();
      dots.form = ReportSeries::Form::dots;
      plot.series.push_back(std::move(dots));
    }
    plot.series.push_back(std::move(series));
  }
  if (of.values.empty()) plot.x_texts = of.texts;
  return plot;
}

void write_page(const ImportanceArguments& arguments, const Importance& importance,
                const std::vector<PartialDependence>& dependences, const Table& rows) {
  Report page;
  page.title = fmt::format("What matters to {} in {}", arguments.run, rows.name());
  page.subtitle = fmt::format(
      "{} rows, {} {:.4f}. Importance: how much of it is lost when a column's values are permuted "
      "among the rows, mean and std of {} permutations.",
      grouped(std::to_string(rows.rows())), importance.score, importance.baseline,
      arguments.importance.repeats);
  ReportTable table{.title = "Importance of the columns",
                    .header = {"column", "importance", "std"}};
  for (const ColumnImportance& one : ranked(importance)) {
    table.rows.push_back(
        {one.column, fmt::format("{:.4f}", one.mean), fmt::format("{:.4f}", one.std)});
  }
  page.tables.push_back(std::move(table));
  for (const PartialDependence& of : dependences) page.plots.push_back(plot_of(of));
  write_file_atomically(arguments.page, html_report(page));
}

int importance_of(const ImportanceArguments& arguments) {
  auto [run, on, model, task] =
      load_run(arguments.run, arguments.on, arguments.threads, arguments.given);
  const bool dependence = !arguments.columns.empty() || arguments.json || !arguments.page.empty();
  if (!dependence) {
    arguments.given.refuse({"--points", "--rows"}, "partial dependence",
                           "--column, --report or --json ask for it");
  }
  require(task.takes_rows(model), "'{}' did not learn from a table, so it has no columns",
          arguments.run);
  const ModelRows measurable = measurable_rows(arguments.data, arguments.sheet, model);
  for (const std::string& note : measurable.notes) print_note("{}", note);
  const Table& rows = measurable.table;
  const Importance importance = permutation_importance(model, rows, arguments.importance);
  std::vector<std::string> columns = arguments.columns;
  if (columns.empty() && dependence) {
    for (const ColumnImportance& one : ranked(importance)) {
      if (columns.size() < kColumnsOfThePage) columns.push_back(one.column);
    }
  }
  std::vector<PartialDependence> dependences;
  for (const std::string& column : columns) {
    dependences.push_back(partial_dependence(model, rows, column, arguments.dependence));
  }
  if (!arguments.page.empty()) write_page(arguments, importance, dependences, rows);
  if (!arguments.json) {
    std::string text = importance_text(importance, rows);
    if (!arguments.columns.empty()) {
      for (const PartialDependence& of : dependences) text += dependence_text(of);
    }
    print_out(text);
    return kSuccess;
  }
  Json json{{"model", run.model.string()},
            {"data", rows.name()},
            {"rows", rows.rows()},
            {"score", importance.score},
            {"baseline", importance.baseline},
            {"repeats", arguments.importance.repeats},
            {"columns", Json::array()}};
  for (const ColumnImportance& one : ranked(importance)) {
    json["columns"].push_back(
        {{"column", one.column}, {"mean", one.mean}, {"std", one.std}, {"losses", one.losses}});
  }
  for (const PartialDependence& of : dependences) {
    json["partial_dependence"].push_back(dependence_json(of));
  }
  print_json(json);
  return kSuccess;
}

}  // namespace

void add_importance(CLI::App& app, Action& action) {
  auto o = std::make_shared<ImportanceArguments>();
  CLI::App* command =
      app.add_subcommand("importance",
                         "Measures how much a table's columns matter to a trained model");
  command->add_option("RUN", o->run, "A run folder, or a trained model (.safetensors)")->required();
  command->add_option("FILE", o->data, "A table with the target")->required();
  add_sheet_option(*command, o->sheet);
  command
      ->add_option("--column", o->columns,
                   "Column whose partial dependence is printed: the mean prediction by its value;\n"
                   "may be given several times")
      ->allow_extra_args(false);
  command->add_option("--repeats", o->importance.repeats, "Permutations of each column")
      ->check(at_least(1, 100000));
  command->add_option("--seed", o->importance.seed, "Random seed of the permutations")
      ->check(at_least(0, kLargestSeed));
  command->add_option("--points", o->dependence.points, "Most values of partial dependence")
      ->check(at_least(2, 1000));
  command
      ->add_option("--rows", o->dependence.most_rows,
                   "Most rows that partial dependence averages over; 0: all")
      ->check(at_least(0));
  command->add_option("--report", o->page,
                      "Write importance and partial dependence to this HTML file");
  add_device_options(*command, o->on);
  add_threads_option(*command, o->threads);
  command->add_flag("--json", o->json, "Print one JSON object");
  set_most_used(*command, {"--column", "--report", "--repeats", "--seed", "--json"});
  command->footer(
      "Importance is the score (accuracy, ROC AUC or R²) that is lost when a column's values are\n"
      "permuted among the rows.\n"
      "Example: linnet importance runs/first penguins.csv --report importance.html");
  act(*command, o, action, importance_of);
}

}  // namespace linnet::command
