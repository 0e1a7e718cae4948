// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <linnet/importance.h>
#include <linnet/tables.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "backend/plugin/cuda_plugin.h"
#include "base/check.h"
#include "base/files.h"
#include "base/folder.h"
#include "base/process.h"
#include "base/thread_team.h"
#include "commands/commands.h"
#include "commands/interrupt.h"
#include "commands/search_processes.h"
#include "commands/train.h"
#include "commands/train_options.h"
#include "config/column_sets.h"
#include "config/options.h"
#include "config/search_space.h"
#include "describe/nearest.h"
#include "report/html_report.h"
#include "report/json.h"
#include "report/machine.h"
#include "report/runs.h"
#include "report/saved_run.h"

namespace linnet::command {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostBytes = std::size_t{16} << 20;
constexpr std::int64_t kMostAttempts = 100;  // at values that no run has had
constexpr const char* kPlanFile = "search.toml";
constexpr const char* kBest = "best";

struct SearchArguments {
  std::string file;
  std::string out;
  int threads = 0;
  std::string device;
  std::optional<std::int64_t> runs;
  bool json = false;
};

/// A training of the search.
struct Trial {
  std::vector<SearchValue> values = {};
  std::int64_t epochs = 0;           ///< above 0: instead of the configuration's
  std::string name = {};             ///< of its folder
  std::optional<double> score = {};  ///< none: it failed
  std::int64_t trained = 0;          ///< epochs
  std::string failure = {};
  std::vector<std::string> left_out = {};         ///< columns, by `select`, `forward`, `genetic`
  std::vector<std::string> columns = {};          ///< that are used, by the last two
  std::vector<ColumnImportance> importance = {};  ///< of the others, in its validation set
};

/// Runs trainings and keeps what they gave.
class Search {
 public:
  Search(const SearchArguments& arguments, SearchPlan plan, fs::path folder)
      : arguments_(arguments), plan_(std::move(plan)), folder_(std::move(folder)) {}

  /// False where a signal has ended it.
  bool run() {
    switch (plan_.method) {
      case SearchMethod::random: return all(random_trials());
      case SearchMethod::grid: return all(trials(grid_values(plan_)));
      case SearchMethod::halving: return halve(random_trials());
      case SearchMethod::grow: return grow(trials(growing_values(plan_)));
      case SearchMethod::select: return select();
      case SearchMethod::forward:
      case SearchMethod::genetic: return choose_columns();
    }
    return true;
  }

  /// Best first; those that failed last.
  std::vector<Trial> ranked() const {
    std::vector<Trial> sorted = done_;
    std::ranges::stable_sort(sorted, [&](const Trial& a, const Trial& b) { return better(a, b); });
    return sorted;
  }
  /// As they are shown: of `select` the steps in their order, else the best first.
  std::vector<Trial> listed() const {
    return plan_.method == SearchMethod::select ? done_ : ranked();
  }
  const SearchPlan& plan() const { return plan_; }

 private:
  double cost(const Trial& trial) const {
    if (!trial.score) return std::numeric_limits<double>::infinity();
    return plan_.is_loss() ? *trial.score : -*trial.score;
  }
  /// Of halving those that were trained longer come first: they have won.
  bool better(const Trial& a, const Trial& b) const {
    if (a.score.has_value() != b.score.has_value()) return a.score.has_value();
    if (a.epochs != b.epochs) return a.epochs > b.epochs;
    return cost(a) < cost(b);
  }

  std::vector<Trial> trials(std::vector<std::vector<SearchValue>> values) const {
    std::vector<Trial> all;
    for (std::size_t i = 0; i < values.size(); ++i) {
      all.push_back({.values = std::move(values[i]), .name = fmt::format("run-{:03}", i + 1)});
    }
    return all;
  }

  /// No two alike, as long as there are others.
  std::vector<Trial> random_trials() const {
    std::vector<std::vector<SearchValue>> all;
    for (std::int64_t i = 0; i < plan_.runs; ++i) {
      for (std::int64_t attempt = 0; attempt < kMostAttempts; ++attempt) {
        std::vector<SearchValue> values = random_values(plan_, i, attempt);
        if (std::ranges::count(all, values) > 0) continue;
        all.push_back(std::move(values));
        break;
      }
    }
    return trials(std::move(all));
  }

  bool all(std::vector<Trial> wanted) { return train_all(wanted); }

  /// Trains trials that don't wait for each other.
  bool train_all(std::vector<Trial>& wanted) {
    const std::size_t at_once = most_at_once(wanted);
    if (at_once > 1) return train_side_by_side(wanted, at_once);
    for (Trial& trial : wanted) {
      if (!train_one(trial, wanted.size())) return false;
    }
    return true;
  }

  /// Successive halving (Jamieson and Talwalkar, 2016): all for a few epochs, the best of them for
  /// `factor` times as many, and so on to the configuration's number.
  bool halve(std::vector<Trial> wanted) {
    const std::int64_t epochs = epochs_of(wanted.front());
    std::int64_t rungs = 1;
    for (std::int64_t left = std::ssize(wanted); left > plan_.factor - 1 && left > 1; ++rungs) {
      left = (left + plan_.factor - 1) / plan_.factor;
    }
    for (std::int64_t rung = rungs - 1; rung >= 0; --rung) {
      std::int64_t share = epochs;
      for (std::int64_t i = 0; i < rung; ++i)
        share = std::max<std::int64_t>(share / plan_.factor, 1);
      for (Trial& trial : wanted) {
        trial.epochs = share;
        trial.name = trial.name.substr(0, 7) + fmt::format("-epochs-{}", share);
      }
      if (!train_all(wanted)) return false;
      std::ranges::stable_sort(wanted, {}, [&](const Trial& trial) { return cost(trial); });
      const auto kept = (std::ssize(wanted) + plan_.factor - 1) / plan_.factor;
      wanted.resize(static_cast<std::size_t>(kept));
    }
    return true;
  }

  /// Until a larger network stops improving the score.
  bool grow(std::vector<Trial> wanted) {
    double best = std::numeric_limits<double>::infinity();
    for (Trial& trial : wanted) {
      if (!train_one(trial, wanted.size())) return false;
      if (!(cost(trial) < best)) break;
      best = cost(trial);
    }
    return true;
  }

  /// Leaves out the least important column and trains again, as long as there are several.
  bool select() {
    const Job job = job_of_columns();
    require(!job.task->row_numbers(false).empty(),
            "method = \"select\" measures columns on the validation set; validation in [data] is "
            "0");
    const std::int64_t columns = std::ssize(job.task->columns());
    const std::int64_t most = std::min(plan_.runs, columns);
    std::vector<std::string> left_out;
    for (std::int64_t step = 1; step <= most; ++step) {
      Trial trial{.name = fmt::format("run-{:03}", step), .left_out = left_out};
      if (!train_one(trial, static_cast<std::size_t>(most))) return false;
      if (!trial.score) break;
      done_.back().importance = importance_of(trial);
      const auto& all = done_.back().importance;
      if (all.size() < 2) break;
      left_out.push_back(std::ranges::min_element(all, {}, &ColumnImportance::mean)->column);
    }
    return true;
  }

  /// Trains with sets of columns, from few to more or in generations.
  bool choose_columns() {
    const std::vector<std::string> all = job_of_columns().task->columns();
    const bool forward = plan_.method == SearchMethod::forward;
    const auto count = static_cast<double>(all.size());
    const double sets = forward ? count * (count + 1) / 2 : std::exp2(count) - 1;
    const auto most = static_cast<std::int64_t>(std::min(static_cast<double>(plan_.runs), sets));
    const CostOfColumns cost_of = [&](const ColumnSet& used) -> std::optional<double> {
      Trial trial{.name = fmt::format("run-{:03}", done_.size() + 1)};
      for (std::size_t i = 0; i < all.size(); ++i) {
        (used[i] ? trial.columns : trial.left_out).push_back(all[i]);
      }
      if (!train_one(trial, static_cast<std::size_t>(most))) return std::nullopt;
      return cost(done_.back());
    };
    return forward ? forward_selection(all.size(), most, cost_of)
                   : genetic_selection(all.size(), most, plan_.seed, cost_of);
  }

  /// Throws Error unless columns can be left out.
  Job job_of_columns() const {
    Job job = job_of(options_of({}));
    require(job.task->table() && job.task->folds() == 0,
            "method = \"{}\" leaves out columns of a table: [data] names its file and target, "
            "without folds",
            name_of(plan_.method));
    require(job.task->fixed_network().empty(),
            "method = \"{}\" compares losses, which depend on the columns of a novelty; name a "
            "target in [data]",
            name_of(plan_.method));
    return job;
  }

  std::vector<ColumnImportance> importance_of(const Trial& trial) const {
    const Job job = job_of(options_of(trial));
    ModelOptions on = job.model;
    Model model = load_model(find_run(folder_ / trial.name), on);
    std::vector<std::int64_t> rows = job.task->row_numbers(false);
    for (std::int64_t& row : rows) --row;  // which count from 1
    return permutation_importance(model, job.task->table()->take(rows), {.seed = plan_.seed})
        .columns;
  }

  TrainOptions options_of(const Trial& trial) const {
    TrainOptions options;
    options.config = arguments_.file;
    options.configuration = configuration_with(plan_, trial.values, trial.epochs, trial.left_out);
    options.threads = arguments_.threads;
    if (!arguments_.device.empty()) options.on.set_device(arguments_.device);
    options.quiet = true;
    return options;
  }

  /// What no training can give is known before the first one.
  void check_metric(const Job& job) const {
    require(job.task->folds() == 0,
            "'folds' in [data] measures without keeping a model, and a search keeps its best one; "
            "leave 'folds' out");
    if (plan_.is_loss()) return;
    require(job.task->learns_classes(),
            "metric = \"{}\" is the share of right classes, and the training learns no classes; "
            "expected validation_loss or train_loss",
            plan_.metric);
  }

  std::int64_t epochs_of(const Trial& trial) const {
    return job_of(options_of(trial)).training.epochs;
  }

  bool is_there(const Trial& trial) const {
    const fs::path folder = folder_ / trial.name;
    return is_file(folder / "summary.json") && run_json(folder)["state"] == "done";
  }

  /// Returns how many trials train at the same time, each on one thread: those of a table, whose
  /// networks are too small to keep several threads busy. Each needs at least the memory that this
  /// process took to read the table.
  std::size_t most_at_once(const std::vector<Trial>& wanted) const {
    const Job job = job_of(options_of(wanted.front()));
    const std::string& device = job.model.device;
    const bool on_cpu =
        device == "cpu" || (device == "auto" && !prefers_cuda(job.model.cuda.library));
    if (!job.task->table() || !on_cpu || !can_run_side_by_side()) return 1;
    const int threads = job.model.threads > 0 ? job.model.threads : available_processors();
    const std::size_t most = std::min(wanted.size(), static_cast<std::size_t>(threads));
    const std::size_t free = free_bytes();  // 0: unknown
    return free == 0
               ? most
               : std::clamp<std::size_t>(free / std::max<std::size_t>(peak_bytes(), 1), 1, most);
  }

  bool train_side_by_side(std::vector<Trial>& wanted, std::size_t at_once) {
    std::vector<std::size_t> left;
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      if (is_there(wanted[i])) continue;
      check_metric(job_of(options_of(wanted[i])));
      left.push_back(i);
    }
    std::size_t told = 0;
    const auto tell_until = [&](std::size_t end) {
      for (; told < end; ++told) note(wanted[told], wanted.size(), true);
    };
    const bool whole =
        run_side_by_side({.count = left.size(),
                          .at_once = at_once,
                          .train =
                              [&](std::size_t i) {
                                const Trial& trial = wanted[left[i]];
                                TrainOptions options = options_of(trial);
                                options.threads = 1;
                                return train_in_folder(options, folder_ / trial.name);
                              },
                          .ended =
                              [&](std::size_t i, const std::string& failure) {
                                tell_until(left[i]);
                                wanted[told].failure = failure;
                                note(wanted[told], wanted.size(), false);
                                ++told;
                              }});
    if (whole) tell_until(wanted.size());
    return whole;
  }

  /// Keeps what a trial gave, and tells it.
  void note(Trial& trial, std::size_t count, bool there) {
    read_score(trial, run_json(folder_ / trial.name));
    done_.push_back(trial);
    tell(trial, count, there);
  }

  bool train_one(Trial& trial, std::size_t count) {
    const fs::path folder = folder_ / trial.name;
    const bool there = is_there(trial);
    if (!there) {
      TrainOptions options = options_of(trial);
      check_metric(job_of(
          options));  // a mistake of the configuration ends the search, a training's does not
      try {
        if (train_in_folder(options, folder) != kSuccess) return false;
      } catch (const Error& error) {
        trial.failure = error.what();
      }
    }
    note(trial, count, there);
    return true;
  }

  void read_score(Trial& trial, const Json& run) const {
    trial.score.reset();
    trial.trained = 0;
    for (const Json& epoch : run["epochs"]) {
      ++trial.trained;
      const Json score = epoch.value(plan_.metric, Json());
      if (!score.is_number() || !trial.failure.empty()) continue;
      const auto value = score.get<double>();
      const bool first = !trial.score;
      if (first || (plan_.is_loss() ? value < *trial.score : value > *trial.score)) {
        trial.score = value;
      }
    }
    require(trial.score || !trial.failure.empty(),
            "the training in '{}' has no {}, by which the search chooses: hold samples out with "
            "validation = 0.1 in [data]",
            (folder_ / trial.name).string(), plan_.metric);
  }

  void tell(const Trial& trial, std::size_t count, bool there) const {
    std::string text = trial.score ? fmt::format("{} {:.4g}", plan_.metric, *trial.score)
                                   : "failed: " + trial.failure;
    for (std::size_t i = 0; i < plan_.values.size(); ++i) {
      text += fmt::format(", {} {}", plan_.values[i].path, shown_value(trial.values[i]));
    }
    if (!trial.columns.empty()) {
      text += fmt::format(", with {}", quoted(trial.columns));
    } else if (!trial.left_out.empty()) {
      text += fmt::format(", without {}", quoted(trial.left_out));
    }
    print_note("{} of {}: {}{}", trial.name, count, text, there ? " (from before)" : "");
  }

 public:
  static std::string shown_value(const SearchValue& value) {
    const auto* number = std::get_if<double>(&value);
    return number != nullptr ? fmt::format("{:.4g}", *number) : text_of(value);
  }

 private:
  const SearchArguments& arguments_;
  SearchPlan plan_;
  fs::path folder_;
  std::vector<Trial> done_;
};

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
    require(!counts_runs(plan.method) || *before <= plan.runs,
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
      run["importance"] = Json::object();
      for (const ColumnImportance& of : trial.importance) run["importance"][of.column] = of.mean;
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
    for (const SearchValue& value : trial.values) row.push_back(Search::shown_value(value));
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
  if (arguments.runs) {
    require(counts_runs(plan.method),
            "--runs is for random, halving, select, forward and genetic; the values of '{}' alone "
            "say how many runs "
            "this search has",
            arguments.file);
    plan.runs = *arguments.runs;
    kept = search_text(text, arguments.file, plan.runs);
  }
  claim(folder, plan, kept);
  Search search(arguments, std::move(plan), folder);
  if (!search.run()) {
    print_note("interrupted; the same command goes on with '{}'", folder.string());
    return kInterrupted;
  }
  const std::vector<Trial> ranked = search.ranked();
  require(ranked.front().score.has_value(), "each training failed, the first one: {}",
          ranked.front().failure);
  keep_best(folder, ranked.front());
  const Json json = json_of(search, folder);
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
  command
      ->add_option("--runs", o->runs,
                   "Number of runs instead of that in [search]; a larger one than before goes on "
                   "with a search that is finished")
      ->check(at_least(1, kMostRuns));
  command->add_option("--device", o->device, "Device of all runs");
  add_threads_option(*command, o->threads);
  command->add_flag("--json", o->json, "Print one JSON object");
  command->footer("Example: linnet search penguins.toml --out penguins-search");
  command->callback([&action, o] { action = [o] { return search_file(*o); }; });
}

}  // namespace linnet::command
