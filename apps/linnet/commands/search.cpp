// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <linnet/tables.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/check.h"
#include "base/files.h"
#include "base/folder.h"
#include "commands/commands.h"
#include "commands/interrupt.h"
#include "commands/search_trials.h"
#include "config/options.h"
#include "config/search_space.h"
#include "describe/nearest.h"
#include "report/html_report.h"
#include "report/json.h"

namespace linnet::command {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostBytes = std::size_t{16} << 20;
constexpr const char* kPlanFile = "search.toml";
constexpr const char* kBest = "best";

/// Returns the number of runs of the search that `folder` holds, nothing where the folder is new.
/// Throws Error where that search differs from `plan` in more than its number of runs.
std::optional<std::int64_t> runs_before(const fs::path& folder, const SearchPlan& plan) {
  const fs::path kept = folder / kPlanFile;
  if (!is_file(kept)) return std::nullopt;
  SearchPlan before = read_search(read_text(kept, kMostBytes), kept);
  const std::int64_t runs = before.runs;
  before.runs = plan.runs;
  require(before == plan,
          "the folder '{}' holds another search ({}); name another folder with --out",
          folder.string(), kPlanFile);
  return runs;
}

/// Makes the folder that of this search: a new one, or one whose search goes on with as many runs
/// or more.
void claim(const fs::path& folder, const SearchPlan& plan, const std::string& text) {
  if (const std::optional<std::int64_t> before = runs_before(folder, plan)) {
    require(*before <= plan.runs,
            "the search in '{}' has {} runs, which cannot become {}: expected at least as many, or "
            "another folder with --out",
            folder.string(), *before, plan.runs);
    if (*before == plan.runs) return;
  } else {
    std::error_code error;
    const bool empty = !fs::exists(folder, error) || fs::is_empty(folder, error);
    require(empty,
            "the folder '{}' holds something else than a search; name another one with --out",
            folder.string());
    fs::create_directories(folder, error);
    require(!error, "cannot make the folder '{}': {}", folder.string(), error.message());
  }
  write_file_atomically(folder / kPlanFile, text);
}

void keep_best(const fs::path& folder, const Trial& best) {
  std::error_code error;
  fs::remove_all(folder / kBest, error);
  fs::create_directories(folder / kBest, error);
  fs::directory_iterator entry(folder / best.name, error);
  for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
    const fs::path& file = entry->path();
    if (!is_file(file)) continue;  // its checkpoints stay where they are
    fs::copy_file(file, folder / kBest / file.filename(), error);
    require(!error, "cannot copy '{}': {}", file.string(), error.message());
  }
  require(!error, "cannot read the folder '{}': {}", (folder / best.name).string(),
          error.message());
}

Json json_of(const Search& search, const fs::path& folder) {
  const SearchPlan& plan = search.plan();
  Json json{{"folder", folder.string()},
            {"best", (folder / kBest).string()},
            {"metric", plan.metric},
            {"seed", plan.seed},
            {"runs", Json::array()}};
  for (const Trial& trial : search.listed()) {
    Json values = Json::object();
    for (std::size_t i = 0; i < plan.values.size(); ++i) {
      std::visit([&](const auto& of) { values[plan.values[i].path] = of; }, trial.values[i]);
    }
    Json run{{"run", trial.name},
             {"score", trial.score ? Json(*trial.score) : Json()},
             {"epochs", trial.trained},
             {"values", std::move(values)}};
    if (chooses_columns(plan.method)) run["left_out"] = trial.left_out;
    if (plan.method == SearchMethod::select) {
      run["importance"] = trial.importance;
    }
    if (!trial.columns.empty()) run["columns"] = trial.columns;
    if (!trial.failure.empty()) run["failure"] = trial.failure;
    json["runs"].push_back(std::move(run));
  }
  return json;
}

/// The steps of `select`: what each has left out beside those before it.
ReportTable steps_of(const Search& search) {
  ReportTable table{.title = "Steps",
                    .header = {"run", search.plan().metric, "epochs", "columns", "left out"}};
  for (const Trial& trial : search.listed()) {
    table.rows.push_back({trial.name, trial.score ? fmt::format("{:.5g}", *trial.score) : "failed",
                          std::to_string(trial.trained), std::to_string(trial.importance.size()),
                          trial.left_out.empty() ? "" : trial.left_out.back()});
  }
  return table;
}

ReportTable table_of(const Search& search) {
  if (search.plan().method == SearchMethod::select) return steps_of(search);
  ReportTable table{.title = "Runs", .header = {"run", search.plan().metric, "epochs"}};
  const bool of_columns = chooses_columns(search.plan().method);
  if (of_columns) table.header.emplace_back("columns");
  for (const SearchedValue& value : search.plan().values) table.header.push_back(value.path);
  for (const Trial& trial : search.ranked()) {
    std::vector<std::string> row{trial.name,
                                 trial.score ? fmt::format("{:.5g}", *trial.score) : "failed",
                                 std::to_string(trial.trained)};
    if (of_columns) row.push_back(fmt::format("{}", fmt::join(trial.columns, ", ")));
    for (const SearchValue& value : trial.values) row.push_back(shown_value(value));
    table.rows.push_back(std::move(row));
  }
  return table;
}

std::string text_of(const ReportTable& table) {
  std::vector<std::vector<std::string>> rows{table.header};
  rows.insert(rows.end(), table.rows.begin(), table.rows.end());
  std::vector<std::size_t> widths(table.header.size());
  for (const auto& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string text;
  for (const auto& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      text += i == 0 ? fmt::format("{:<{}}", row[i], widths[i])
                     : fmt::format("  {:>{}}", row[i], widths[i]);
    }
    text += "\n";
  }
  return text;
}

int search_file(const SearchArguments& arguments) {
  require(
      !is_table_name(arguments.file),
      "'{}' is a table; expected a configuration (TOML) with file = \"{}\" in [data] and [search]",
      arguments.file, arguments.file);
  const std::string text = read_text(arguments.file, kMostBytes);
  SearchPlan plan = read_search(text, arguments.file);
  const fs::path folder = arguments.out.empty() ? fs::path("runs") / fs::path(arguments.file).stem()
                                                : fs::path(arguments.out);
  std::string kept = text;
  const bool chosen = plan.method == SearchMethod::random || plan.method == SearchMethod::halving;
  if (!arguments.within.empty() && chosen) plan.runs = runs_before(folder, plan).value_or(1);
  plan.runs = arguments.runs.value_or(plan.runs);
  if (plan.runs != read_search(text, arguments.file).runs) {
    kept = search_text(text, arguments.file, plan.runs);
  }
  claim(folder, plan, kept);
  Search search(arguments, std::move(plan), folder);
  if (!search.run()) {
    print_note("interrupted; the same command goes on with '{}'", folder.string());
    return kInterrupted;
  }
  InterruptGuard guard({});  // what follows is not left half written
  guard.reporting(false);
  if (const std::optional<std::int64_t> runs = search.runs_in_time()) {
    write_file_atomically(folder / kPlanFile, search_text(text, arguments.file, *runs));
  }
  const std::vector<Trial> ranked = search.ranked();
  require(ranked.front().score.has_value(), "each training failed, the first one: {}",
          ranked.front().failure);
  keep_best(folder, ranked.front());
  Json json = json_of(search, folder);
  if (!arguments.within.empty()) json["within"] = search.time_json();
  const ReportTable table = table_of(search);
  write_file_atomically(folder / "search.json", json.dump(2) + "\n");
  Report page;
  page.title = fmt::format("Search of {}", arguments.file);
  page.subtitle = fmt::format("{} runs; the best is {}", ranked.size(), ranked.front().name);
  page.tables.push_back(table);
  write_file_atomically(folder / "search.html", html_report(page));
  if (arguments.json) {
    print_json(json);
  } else {
    print_out(text_of(table));
    const Trial& best = ranked.front();
    print_note("the best run is kept in {}{}", (folder / kBest).string(),
               !best.columns.empty()   ? "; with " + quoted(best.columns)
               : best.left_out.empty() ? ""
                                       : "; without " + quoted(best.left_out));
    if (json.contains("within")) print_note("{}", json["within"]["note"].get<std::string>());
  }
  return kSuccess;
}

}  // namespace

void add_search(CLI::App& app, Action& action) {
  auto o = std::make_shared<SearchArguments>();
  CLI::App* command = app.add_subcommand(
      "search", "Trains with many settings, prints a table of the runs, and keeps the best");
  command
      ->add_option(
          "FILE", o->file,
          "A configuration of `linnet train` (TOML) in which searched values are\n"
          "{ search = [16, 32] } or { search = { from = 1e-4, to = 1e-2, log = true } }.\n"
          "[search] says how: method (random, grid, halving, grow; select leaves out the\n"
          "least important columns of a table, forward adds the best ones, genetic breeds\n"
          "sets of them), runs, seed, metric (validation_loss, ...), points of a range in\n"
          "a grid, factor of halving")
      ->required();
  command->add_option("--out", o->out,
                      "Folder of the runs; runs/<name> if not given. The same command again "
                      "continues a search that was stopped");
  CLI::Option* runs =
      command
          ->add_option("--runs", o->runs,
                       "Number of runs instead of that in [search], at most; a larger one than "
                       "before goes on with a search that is finished")
          ->check(at_least(1, kMostRuns));
  add_within_option(*command, o->within,
                    "Trains as many runs as fit, random and halving without a number of runs")
      .excludes(runs);
  command->add_option("--device", o->device, "Device of all runs");
  add_threads_option(*command, o->threads);
  command->add_flag("--json", o->json, "Print one JSON object");
  command->footer("Example: linnet search penguins.toml --out penguins-search");
  command->callback([&action, o] { action = [o] { return search_file(*o); }; });
}

}  // namespace linnet::command
