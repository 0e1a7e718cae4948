// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <linnet/optimize_inputs.h>
#include <linnet/table_transform.h>

#include <algorithm>
#include <memory>
#include <optional>

#include "base/check.h"
#include "base/utf8.h"
#include "commands/commands.h"
#include "config/device.h"
#include "config/model_rows.h"
#include "config/options.h"
#include "describe/nearest.h"
#include "report/json.h"
#include "report/saved_run.h"
#include "table/values.h"

namespace linnet::command {
namespace {

constexpr std::size_t kMostShown = 20;  // of a Pareto front, in text

struct OptimizeArguments {
  GivenOptions given;
  std::string run;
  std::string data;
  std::string sheet;
  std::vector<std::string> minimize;
  std::vector<std::string> maximize;
  std::vector<std::string> targets;
  std::vector<std::string> ranges;
  OptimizeOptions options;
  DeviceOptions on;
  int threads = 0;
  bool json = false;
};

/// What stands before and after the last '=' of "y=5".
std::pair<std::string, std::string> parts_of(const std::string& text, const char* option,
                                             const char* form) {
  const std::size_t at = text.rfind('=');
  require(at != std::string::npos && at > 0, "{} is {}; got '{}'", option, form, text);
  return {text.substr(0, at), text.substr(at + 1)};
}

std::vector<SearchGoal> goals_of(const OptimizeArguments& arguments) {
  std::vector<SearchGoal> goals;
  for (const std::string& of : arguments.minimize) {
    goals.push_back({.kind = SearchGoal::Kind::minimize, .of = of});
  }
  for (const std::string& of : arguments.maximize) {
    goals.push_back({.kind = SearchGoal::Kind::maximize, .of = of});
  }
  for (const std::string& text : arguments.targets) {
    const auto [of, value] = parts_of(text, "--target", "OUTPUT=NUMBER, e.g. y=5");
    const std::optional<double> number = number_of(value, '.');
    require(number.has_value(), "--target is OUTPUT=NUMBER, e.g. y=5; got '{}'", text);
    goals.push_back({.kind = SearchGoal::Kind::target, .of = of, .value = *number});
  }
  require(!goals.empty(), "say what is wanted: --minimize, --maximize or --target");
  return goals;
}

void apply_range(const std::string& text, std::vector<SearchColumn>& columns) {
  constexpr const char* kForm = "COLUMN=LOW..HIGH, e.g. x1=0..10";
  const auto [name, range] = parts_of(text, "--range", kForm);
  const std::size_t dots = range.find("..");
  std::optional<double> low;
  std::optional<double> high;
  if (dots != std::string::npos) {
    low = number_of(range.substr(0, dots), '.');
    high = number_of(range.substr(dots + 2), '.');
  }
  require(low && high, "--range is {}; got '{}'", kForm, text);
  const auto found = std::ranges::find(columns, name, &SearchColumn::name);
  if (found == columns.end()) {
    std::vector<std::string> names;
    for (const SearchColumn& one : columns) names.push_back(one.name);
    fail("--range: the model reads no column '{}'{}", name, did_you_mean(name, names));
  }
  require(found->choices.empty(), "--range: the column '{}' is not a number", name);
  found->low = *low;
  found->high = *high;
}

Json inputs_json(const OptimizeResult& result, const OptimizedInputs& one,
                 const std::vector<SearchColumn>& columns) {
  Json inputs = Json::object();
  for (std::size_t i = 0; i < result.columns.size(); ++i) {
    const bool number = columns[i].choices.empty();
    inputs[result.columns[i]] =
        number ? Json(number_of(one.inputs[i], '.').value_or(0)) : Json(one.inputs[i]);
  }
  Json outputs = Json::object();
  for (std::size_t i = 0; i < result.outputs.size(); ++i) {
    outputs[result.outputs[i]] = number_json(one.outputs[i]);
  }
  return {{"goals", one.goals}, {"inputs", std::move(inputs)}, {"outputs", std::move(outputs)}};
}

/// Numbers with six digits; other texts as they are.
std::string shown(const std::string& text, const SearchColumn& column) {
  if (!column.choices.empty()) return escaped(text);
  return fmt::format("{:.6g}", number_of(text, '.').value_or(0));
}

std::string text_of(const OptimizeResult& result, const std::vector<SearchGoal>& goals,
                    const std::vector<SearchColumn>& columns) {
  std::vector<std::string> header;
  for (const SearchGoal& goal : goals) header.push_back(goal.of);
  header.insert(header.end(), result.columns.begin(), result.columns.end());
  for (std::string& name : header) name = escaped(name);
  std::vector<std::vector<std::string>> rows{header};
  const std::size_t count = std::min(result.best.size(), kMostShown);
  for (std::size_t i = 0; i < count; ++i) {
    const OptimizedInputs& one =
        result.best[count > 1 ? i * (result.best.size() - 1) / (count - 1) : 0];
    std::vector<std::string> row;
    for (const double goal : one.goals) row.push_back(fmt::format("{:.6g}", goal));
    for (std::size_t k = 0; k < one.inputs.size(); ++k) {
      row.push_back(shown(one.inputs[k], columns[k]));
    }
    rows.push_back(std::move(row));
  }
  std::string text;
  if (rows.size() == 2) {
    std::size_t width = 0;
    for (const std::string& name : header) width = std::max(width, name.size());
    for (std::size_t i = 0; i < header.size(); ++i) {
      text += fmt::format("{:<{}}  {}\n", header[i], width, rows[1][i]);
    }
  } else {
    std::vector<std::size_t> widths(header.size());
    for (const auto& row : rows) {
      for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
    }
    for (const auto& row : rows) {
      for (std::size_t i = 0; i < row.size(); ++i) {
        text += fmt::format("{}{:>{}}", i > 0 ? "  " : "", row[i], widths[i]);
      }
      text += "\n";
    }
    text += fmt::format("{} of {} points of the Pareto front\n", count, result.best.size());
  }
  return text;
}

std::vector<SearchColumn> columns_of(const Task& task, const Model& model, const std::string& data,
                                     const std::string& sheet) {
  require(!data.empty() || sheet.empty(), "--sheet names a sheet of --data, which is not given");
  if (!data.empty()) {
    return search_columns(model, read_model_rows(data, task.reading(model), sheet));
  }
  try {
    return search_columns(model);
  } catch (const Error& error) {
    fail("{}: --data FILE", error.what());
  }
}

int optimize(const OptimizeArguments& arguments) {
  OptimizeOptions options = arguments.options;
  options.goals = goals_of(arguments);
  auto [run, on, model, task] =
      load_run(arguments.run, arguments.on, arguments.threads, arguments.given);
  require(task.takes_rows(model), "'{}' did not learn from a table, so it has no columns to search",
          arguments.run);
  std::vector<SearchColumn> columns = columns_of(task, model, arguments.data, arguments.sheet);
  for (const std::string& range : arguments.ranges) apply_range(range, columns);
  const OptimizeResult result = optimize_inputs(model, columns, options);
  if (!arguments.json) {
    print_out(text_of(result, options.goals, columns));
    return kSuccess;
  }
  Json json{{"model", run.model.string()},
            {"evaluations", result.evaluations},
            {"best", Json::array()}};
  for (const OptimizedInputs& one : result.best) {
    json["best"].push_back(inputs_json(result, one, columns));
  }
  print_json(json);
  return kSuccess;
}

}  // namespace

void add_optimize(CLI::App& app, Action& action) {
  auto o = std::make_shared<OptimizeArguments>();
  CLI::App* command =
      app.add_subcommand("optimize",
                         "Searches inputs of a table's model for which its outputs are as wanted");
  command->add_option("MODEL", o->run, "A run folder, or a trained model (.safetensors)")
      ->required();
  command->add_option(
      "--data", o->data,
      "A table whose rows say between which values each column is searched; else the\n"
      "rows that the model was trained on do");
  add_sheet_option(*command, o->sheet);
  command
      ->add_option("--minimize", o->minimize,
                   "An output, or a linear expression of outputs and columns; of classes the\n"
                   "probability, by the class's name. Two goals give a Pareto front")
      ->allow_extra_args(false);
  command->add_option("--maximize", o->maximize, "The same, to be as large as possible")
      ->allow_extra_args(false);
  command->add_option("--target", o->targets, "The same, to be near a number: y=5")
      ->allow_extra_args(false);
  command
      ->add_option("--subject", o->options.constraints,
                   "Constraint, linear in columns and outputs: 'x1 + 2*x2 <= 3', 'y = 5',\n"
                   "'island = Biscoe', 'island != Dream', 'count(x1, x2, x3) <= 2',\n"
                   "'x1 <= 1 or x1 >= 3'; may be given several times, all are met")
      ->allow_extra_args(false);
  command
      ->add_option("--range", o->ranges,
                   "Search a column of numbers between these values: x1=0..10; may be given\n"
                   "several times")
      ->allow_extra_args(false);
  command->add_option("--population", o->options.population, "Inputs in each generation")
      ->check(at_least(4, 100000));
  command->add_option("--generations", o->options.generations, "Generations of the search")
      ->check(at_least(1, 100000));
  command->add_option("--seed", o->options.seed, "Random seed of the search")
      ->check(at_least(0, kLargestSeed));
  add_device_options(*command, o->on);
  add_threads_option(*command, o->threads);
  command->add_flag("--json", o->json, "Print one JSON object");
  set_most_used(*command, {"--minimize", "--maximize", "--target", "--range", "--json"});
  command->footer(
      "Names that are not words stand in double quotes: '\"body mass\" <= 4000'.\n"
      "Example: linnet optimize airfoil --minimize noise --subject 'x1 <= 3'");
  act(*command, o, action, optimize);
}

}  // namespace linnet::command
