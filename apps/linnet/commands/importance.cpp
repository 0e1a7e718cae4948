// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <linnet/importance.h>
#include <linnet/table_transform.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>

#include "base/check.h"
#include "base/files.h"
#include "base/utf8.h"
#include "commands/commands.h"
#include "commands/train_within.h"
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
constexpr std::int64_t kMostRepeats = 100'000;

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
  std::string within;  ///< the time that the command may take; empty: any
  std::chrono::steady_clock::time_point begun = std::chrono::steady_clock::now();
  bool json = false;
};

/// Ends the permutations in time: a round of them begins only if it would end in time even if it
/// took as long as the longest one.
class PermutationLimit {
 public:
  /// `after`: the number of permutations that take as long as what follows them.
  PermutationLimit(const TimeBudget& budget, double after)
      : budget_(budget), after_(after), begun_(budget.passed()) {}

  bool goes_on(std::int64_t round, std::int64_t column) {
    const double now = budget_.passed();
    if (round + column > 0) one_ = std::max(one_, now - last_);
    last_ = now;
    if (column == 0) {
      if (round > 0) round_ = std::max(round_, now - round_begun_);
      round_begun_ = now;
    }
    const double needed = (column == 0 ? round_ : one_) + after_ * one_;
    return now + kSlower * needed + kOutside <= budget_.seconds();
  }

  /// Throws Error, with an estimate of the least time, unless each column was permuted. Returns how
  /// the time was spent. `given`: the budget as it was written.
  std::string note(const Importance& importance, const std::string& given) const {
    const auto columns = static_cast<double>(importance.columns.size());
    const auto rounds = std::ssize(importance.columns.front().losses);
    require(one_ > 0, "--within {} is too short: reading model and rows takes {:.2g} s", given,
            begun_);
    require(rounds > 0,
            "--within {} is too short: reading model and rows takes {:.2g} s, one permutation of "
            "each column {:.2g} s, results {:.2g} s; give at least {:.2g}s",
            given, begun_, columns * one_, after_ * one_,
            kSlower * (begun_ + (columns + after_) * one_) + kOutside);
    return fmt::format(
        "{} permutations of each column took {:.0f} % of {}; --repeats {} repeats the measurement",
        rounds, 100 * (last_ - begun_) / budget_.seconds(), given, rounds);
  }

 private:
  static constexpr double kSlower = 1.05;   // what is planned may take longer
  static constexpr double kOutside = 0.05;  // seconds of what is not planned

  const TimeBudget& budget_;
  double after_;
  double begun_;
  double last_ = 0;
  double one_ = 0;  ///< seconds of the longest permutation
  double round_ = 0;
  double round_begun_ = 0;
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

/// `more`: what the first line ends with.
std::string importance_text(const Importance& importance, const Table& rows,
                            const std::string& more) {
  std::string text = fmt::format("{}: {} rows, {} {:.4f}{}\n", rows.name(), rows.rows(),
                                 importance.score, importance.baseline, more);
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
      importance.columns.front().losses.size());
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
  std::vector<std::string> columns = arguments.columns;
  ImportanceOptions how = arguments.importance;
  const std::optional<TimeBudget> budget = budget_of(arguments.within, arguments.begun);
  std::optional<PermutationLimit> limit;
  if (budget) {
    const std::size_t all = columns.empty() && dependence ? kColumnsOfThePage : columns.size();
    const auto averaged = static_cast<double>(arguments.dependence.most_rows);
    const auto count = static_cast<double>(rows.rows());
    const double share = averaged == 0 ? 1 : std::min(averaged / count, 1.0);
    limit.emplace(*budget, share * static_cast<double>(arguments.dependence.points) *
                               static_cast<double>(all));
    how.repeats = kMostRepeats;
    how.goes_on = [&](std::int64_t round, std::int64_t column) {
      return limit->goes_on(round, column);
    };
  }
  const Importance importance = permutation_importance(model, rows, how);
  const std::string note = limit ? limit->note(importance, arguments.within) : "";
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
    const std::size_t repeats = importance.columns.front().losses.size();
    std::string text =
        importance_text(importance, rows,
                        limit ? fmt::format(", {} permutations of each column", repeats) : "");
    if (!arguments.columns.empty()) {
      for (const PartialDependence& of : dependences) text += dependence_text(of);
    }
    print_out(text);
    if (limit) print_note("{}", note);
    return kSuccess;
  }
  Json json{{"model", run.model.string()},
            {"data", rows.name()},
            {"rows", rows.rows()},
            {"score", importance.score},
            {"baseline", importance.baseline},
            {"repeats", importance.columns.front().losses.size()},
            {"columns", Json::array()}};
  for (const ColumnImportance& one : ranked(importance)) {
    json["columns"].push_back(
        {{"column", one.column}, {"mean", one.mean}, {"std", one.std}, {"losses", one.losses}});
  }
  for (const PartialDependence& of : dependences) {
    json["partial_dependence"].push_back(dependence_json(of));
  }
  if (limit) {
    json["within"]["seconds"] = budget->seconds();
    json["within"]["note"] = note;
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
  CLI::Option* repeats =
      command->add_option("--repeats", o->importance.repeats, "Permutations of each column")
          ->check(at_least(1, kMostRepeats));
  add_within_option(*command, o->within, "Permutes each column as often as fits").excludes(repeats);
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
