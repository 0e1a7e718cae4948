// SPDX-License-Identifier: Apache-2.0
#include "commands/search_trials.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <linnet/tables.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <system_error>
#include <utility>

#include "base/check.h"
#include "base/counted.h"
#include "base/folder.h"
#include "commands/commands.h"
#include "commands/train.h"
#include "config/column_sets.h"
#include "describe/nearest.h"
#include "report/run_folder.h"
#include "report/runs.h"
#include "report/saved_run.h"

namespace linnet::command {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kMostAttempts = 100;  // at values that no run has had
constexpr double kResults = 0.02;            // share of the time for what follows the trainings
constexpr double kOutside = 0.05;            // seconds of it
constexpr double kSlower = 1.2;              // what is planned may take longer
constexpr double kMostASecond = 100;         // trials that could end
constexpr std::int64_t kRehearsed = 9;       // a rehearsal trains a ninth of the epochs
constexpr double kWatched = 0.1;             // share of the time until the first one is judged
constexpr double kHopeless = 1.5;            // times the time that is given

/// A round of a halving.
struct Rung {
  std::int64_t trials = 0;
  std::int64_t epochs = 0;  ///< of each
};

/// Returns the rounds of a halving whose last one trains `epochs` epochs.
std::vector<Rung> rungs_of(std::int64_t trials, std::int64_t epochs, std::int64_t factor) {
  std::vector<Rung> rungs{{trials, epochs}};
  while (rungs.back().trials > std::max<std::int64_t>(factor - 1, 1)) {
    rungs.push_back({(rungs.back().trials + factor - 1) / factor, epochs});
  }
  for (std::size_t i = rungs.size() - 1; i > 0; --i) {
    rungs[i - 1].epochs = std::max<std::int64_t>(rungs[i].epochs / factor, 1);
  }
  return rungs;
}

/// Returns the seconds of the epochs of a run, and their number.
std::pair<double, std::int64_t> seconds_of_epochs(const Json& run) {
  double seconds = 0;
  for (const Json& epoch : run["epochs"]) seconds += epoch.value("seconds", 0.0);
  return {seconds, std::ssize(run["epochs"])};
}

void remove_run(const fs::path& folder) {
  std::error_code none;
  fs::remove_all(folder, none);
}

}  // namespace

Search::Search(const SearchArguments& arguments, SearchPlan plan, fs::path folder)
    : arguments_(arguments),
      plan_(std::move(plan)),
      folder_(std::move(folder)),
      budget_(budget_of(arguments.within, arguments.begun)) {
  limit_.left = [this] {
    return is_hopeless() ? 0 : (1 - kResults) * budget_->seconds() - kOutside - budget_->passed();
  };
}

bool Search::run() {
  by_method();
  return !interrupted_;
}

bool Search::by_method() {
  std::vector<Trial> all;
  switch (plan_.method) {
    case SearchMethod::random: all = random_trials(); break;
    case SearchMethod::grid: all = first_trials(grid_values(plan_)); break;
    case SearchMethod::halving: return halve(random_trials());
    case SearchMethod::grow: return grow(first_trials(growing_values(plan_)));
    case SearchMethod::select: return select();
    case SearchMethod::forward:
    case SearchMethod::genetic: return choose_columns();
  }
  if (!budget_ || plan_.method == SearchMethod::grid) most_ = all.size();
  return train_all(all);
}

std::vector<Trial> Search::ranked(std::vector<Trial> trials) const {
  std::stable_sort(trials.begin(), trials.end(),
                   [&](const Trial& a, const Trial& b) { return better(a, b); });
  return trials;
}

std::vector<Trial> Search::listed() const {
  return plan_.method == SearchMethod::select ? done_ : ranked();
}

double Search::cost(const Trial& trial) const {
  if (!trial.score) return std::numeric_limits<double>::infinity();
  return plan_.is_loss() ? *trial.score : -*trial.score;
}

/// A trial of a halving that was trained longer is better: it has won a round.
bool Search::better(const Trial& a, const Trial& b) const {
  if (a.score.has_value() != b.score.has_value()) return a.score.has_value();
  if (a.epochs != b.epochs) return a.epochs > b.epochs;
  return cost(a) < cost(b);
}

std::vector<Trial> Search::trials(std::vector<std::vector<SearchValue>> values) const {
  std::vector<Trial> all;
  for (std::size_t i = 0; i < values.size(); ++i) {
    all.push_back({.values = std::move(values[i]), .name = fmt::format("run-{:03}", i + 1)});
  }
  return all;
}

std::vector<Trial> Search::first_trials(std::vector<std::vector<SearchValue>> values) const {
  values.resize(std::min(values.size(), static_cast<std::size_t>(plan_.runs)));
  return trials(std::move(values));
}

/// No two alike, as long as there are others. In time they are as many as could end, up to the
/// first one that is like another.
std::vector<Trial> Search::random_trials() const {
  std::vector<std::vector<SearchValue>> all;
  std::set<std::string> known;
  const double could = budget_ ? std::min(kMostASecond * budget_->seconds(), 1.0 * kMostRuns) : 0;
  const std::int64_t most = std::max(plan_.runs, static_cast<std::int64_t>(could));
  for (std::int64_t i = 0; i < most; ++i) {
    const auto before = std::ssize(all);
    for (std::int64_t attempt = 0; attempt < kMostAttempts; ++attempt) {
      std::vector<SearchValue> values = random_values(plan_, i, attempt);
      std::string key;
      for (const SearchValue& value : values) key += text_of(value) + '\n';
      if (!known.insert(std::move(key)).second) continue;
      all.push_back(std::move(values));
      break;
    }
    if (budget_ && std::ssize(all) == before) break;
  }
  return trials(std::move(all));
}

/// Trains trials that don't wait for each other.
bool Search::train_all(std::vector<Trial>& wanted) {
  const Job job = job_of(options_of(wanted.front()));
  check_metric(job);
  const std::size_t at_once = most_side_by_side(job, wanted.size());
  require(!budget_ || at_once > 0,
          "--within ends a search's trainings in time in processes of their own, which Linnet has "
          "on the CPUs of Linux alone: leave it out, or add --device cpu");
  if (at_once > 1 || budget_) return train_in_processes(wanted, at_once);
  return std::ranges::all_of(wanted, [&](Trial& trial) { return train_one(trial); });
}

bool Search::train_in_processes(std::vector<Trial>& wanted, std::size_t at_once) {
  if (!budget_) {  // else the first ones would wait for it
    for (const Trial& trial : wanted) {
      if (!is_there(trial)) check_metric(job_of(options_of(trial)));
    }
  }
  at_once_ = std::max(at_once_, at_once);
  const bool selects = plan_.method == SearchMethod::select;
  const std::size_t before = done_.size();
  std::vector<bool> there;
  limit_.begun = 0;
  const bool whole = run_side_by_side(
      {.count = wanted.size(),
       .at_once = at_once,
       .begin =
           [&](std::size_t i) {
             there.push_back(is_there(wanted[i]));
             if (budget_ && !there[i]) {
               const Job job = job_of(options_of(wanted[i]));
               check_metric(job);
               if (first_begun_ < 0) {
                 watched_at_ = first_begun_ = budget_->passed();
                 if (job.training.patience == 0) watched_ = &wanted[i];
               }
             }
             return !there[i] || selects;
           },
       .train =
           [&](std::size_t i, std::string& said) {
             TrainOptions options = options_of(wanted[i]);
             if (at_once > 1) options.threads = 1;
             if (!there[i]) {
               const int status = train_in_folder(options, folder_ / wanted[i].name);
               if (status != kSuccess) return status;
             }
             if (selects) said = importance_of(wanted[i]).dump();
             return kSuccess;
           },
       .ended =
           [&](std::size_t i, const std::string& said, const std::string& failure) {
             watched_ = nullptr;
             wanted[i].failure = failure;
             if (failure.empty() && selects) wanted[i].importance = object_of(said);
             note(wanted[i], there[i]);
           },
       .limit = budget_ ? &limit_ : nullptr});
  interrupted_ = !whole;
  if (interrupted_ || !limit_.over) return whole;
  if (done_.empty()) refuse_time(wanted);
  for (std::size_t i = done_.size() - before; i < limit_.begun; ++i) {
    if (!there[i]) remove_run(folder_ / wanted[i].name);
  }
  return false;
}

bool Search::train_one(Trial& trial) {
  if (budget_) {
    std::vector<Trial> one{trial};
    const bool goes_on = train_all(one);
    trial = one.front();
    return goes_on;
  }
  const fs::path folder = folder_ / trial.name;
  const bool there = is_there(trial);
  if (!there) {
    const TrainOptions options = options_of(trial);
    // A mistake of the configuration ends the search, a training's does not.
    check_metric(job_of(options));
    try {
      interrupted_ = train_in_folder(options, folder) != kSuccess;
      if (interrupted_) return false;
    } catch (const Error& error) {
      trial.failure = error.what();
    }
  }
  if (plan_.method == SearchMethod::select && trial.failure.empty()) {
    trial.importance = importance_of(trial);
  }
  note(trial, there);
  return true;
}

/// Successive halving (Jamieson and Talwalkar, 2016): all for a few epochs, the best of them for
/// `factor` times as many, and so on to the configuration's number.
bool Search::halve(std::vector<Trial> wanted) {
  const std::int64_t epochs = epochs_of(wanted.front());
  if (budget_) {
    halved_ = fitting_halving(wanted);
    if (halved_ == 0) return false;
    wanted.resize(static_cast<std::size_t>(halved_));
  }
  for (const Rung& rung : rungs_of(std::ssize(wanted), epochs, plan_.factor)) {
    wanted.resize(static_cast<std::size_t>(rung.trials));
    for (Trial& trial : wanted) {
      trial.epochs = rung.epochs;
      trial.name =
          trial.name.substr(0, trial.name.find("-epochs")) + fmt::format("-epochs-{}", rung.epochs);
    }
    most_ = wanted.size();
    if (budget_) limit_.longest = start_ + epoch_ * static_cast<double>(rung.epochs);
    if (!train_all(wanted)) return false;
    wanted = ranked(std::move(wanted));
  }
  return true;
}

/// Returns the largest number of first trials of which all rounds fit into the time, by short
/// trainings of as many as run at once; 0: a signal has ended these.
std::int64_t Search::fitting_halving(std::vector<Trial> first) {
  const std::int64_t epochs = epochs_of(first.front());
  const std::int64_t share = std::max<std::int64_t>(epochs / kRehearsed, 1);
  const std::size_t at_once = most_side_by_side(job_of(options_of(first.front())), first.size());
  first.resize(std::max<std::size_t>(at_once, 1));
  for (std::size_t i = 0; i < first.size(); ++i) {
    first[i].epochs = share;
    first[i].name = fmt::format("rehearsal-{}", i + 1);
    remove_run(folder_ / first[i].name);  // of a search that was killed
  }
  const bool whole = train_all(first);
  if (!whole && !interrupted_) refuse_time(first);
  for (const Trial& trial : first) {
    const auto [seconds, trained] = seconds_of_epochs(run_json(folder_ / trial.name));
    if (trained > 0) epoch_ = std::max(epoch_, seconds / static_cast<double>(trained));
    remove_run(folder_ / trial.name);
  }
  if (!whole) return 0;
  start_ = std::max(limit_.longest - static_cast<double>(share) * epoch_, 0.0);
  done_.clear();
  training_seconds_ = 0;
  const double left = limit_.left();
  const auto side_by_side = static_cast<std::int64_t>(at_once);
  std::int64_t fitting = 0;
  for (std::int64_t trials = 1; trials <= kMostRuns; ++trials) {
    double needed = 0;
    for (const Rung& rung : rungs_of(trials, epochs, plan_.factor)) {
      const std::int64_t turns = (rung.trials + side_by_side - 1) / side_by_side;
      needed += static_cast<double>(turns) * (start_ + epoch_ * static_cast<double>(rung.epochs));
    }
    if (kSlower * needed <= left) fitting = trials;
    if (static_cast<double>(trials / side_by_side) * (start_ + epoch_) > left) break;
  }
  const double one = start_ + epoch_ * static_cast<double>(epochs);
  require(fitting > 0,
          "--within {} is too short: a training of {} takes {:.2g} s, and {:.2g} s have passed "
          "before the first one; give at least {:.2g}s",
          arguments_.within, counted(epochs, "epoch"), one, budget_->passed(),
          budget_->passed() + kSlower * one + kOutside);
  return std::max(fitting, plan_.runs);
}

/// Until a larger network stops improving the score.
bool Search::grow(std::vector<Trial> wanted) {
  most_ = wanted.size();
  double best = std::numeric_limits<double>::infinity();
  for (Trial& trial : wanted) {
    if (!train_one(trial)) return false;
    if (!(cost(trial) < best)) break;
    best = cost(trial);
  }
  return true;
}

/// Leaves out the least important column and trains again, as long as there are several.
bool Search::select() {
  const Job job = job_of_columns();
  require(!job.task->row_numbers(false).empty(),
          "method = \"select\" measures columns on the validation set; validation in [data] is "
          "0");
  const std::int64_t columns = std::ssize(job.task->columns());
  const std::int64_t most = std::min(plan_.runs, columns);
  most_ = static_cast<std::size_t>(most);
  std::vector<std::string> left_out;
  for (std::int64_t step = 1; step <= most; ++step) {
    Trial trial{.name = fmt::format("run-{:03}", step), .left_out = left_out};
    if (!train_one(trial)) return false;
    if (!trial.score) break;
    std::string least;
    for (const auto& [column, mean] : trial.importance.items()) {
      if (least.empty() || mean < trial.importance[least]) least = column;
    }
    if (trial.importance.size() < 2) break;
    left_out.push_back(least);
  }
  return true;
}

/// Trains with sets of columns, from few to more or in generations.
bool Search::choose_columns() {
  const std::vector<std::string> all = job_of_columns().task->columns();
  const bool forward = plan_.method == SearchMethod::forward;
  const auto count = static_cast<double>(all.size());
  const double sets = forward ? count * (count + 1) / 2 : std::exp2(count) - 1;
  const auto most = static_cast<std::int64_t>(std::min(static_cast<double>(plan_.runs), sets));
  most_ = static_cast<std::size_t>(most);
  const CostOfColumns cost_of = [&](const ColumnSet& used) -> std::optional<double> {
    Trial trial{.name = fmt::format("run-{:03}", done_.size() + 1)};
    for (std::size_t i = 0; i < all.size(); ++i) {
      (used[i] ? trial.columns : trial.left_out).push_back(all[i]);
    }
    if (!train_one(trial)) return std::nullopt;
    return cost(done_.back());
  };
  return forward ? forward_selection(all.size(), most, cost_of)
                 : genetic_selection(all.size(), most, plan_.seed, cost_of);
}

/// Throws Error unless columns can be left out.
Job Search::job_of_columns() const {
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

/// Returns the importance of each column that is not left out, by its name.
Json Search::importance_of(const Trial& trial) const {
  const Job job = job_of(options_of(trial));
  ModelOptions on = job.model;
  Model model = load_model(find_run(folder_ / trial.name), on);
  std::vector<std::int64_t> rows = job.task->row_numbers(false);
  for (std::int64_t& row : rows) --row;  // which count from 1
  const Importance all =
      permutation_importance(model, job.task->table()->take(rows), {.seed = plan_.seed});
  Json columns = Json::object();
  for (const ColumnImportance& of : all.columns) columns[of.column] = of.mean;
  return columns;
}

TrainOptions Search::options_of(const Trial& trial) const {
  TrainOptions options;
  options.config = arguments_.file;
  options.configuration = configuration_with(plan_, trial.values, trial.epochs, trial.left_out);
  options.threads = arguments_.threads;
  if (!arguments_.device.empty()) options.on.set_device(arguments_.device);
  options.quiet = true;
  options.kept = kept_;
  return options;
}

/// What no training can give is known before the first one.
void Search::check_metric(const Job& job) const {
  require(job.task->folds() == 0,
          "'folds' in [data] measures without keeping a model, and a search keeps its best one; "
          "leave 'folds' out");
  if (plan_.is_loss()) return;
  require(job.task->learns_classes(),
          "metric = \"{}\" is the share of right classes, and the training learns no classes; "
          "expected validation_loss or train_loss",
          plan_.metric);
}

std::int64_t Search::epochs_of(const Trial& trial) const {
  return job_of(options_of(trial)).training.epochs;
}

bool Search::is_there(const Trial& trial) const {
  const fs::path folder = folder_ / trial.name;
  return is_file(folder / "summary.json") && run_json(folder)["state"] == "done";
}

/// Keeps what a trial gave, and tells it.
void Search::note(Trial& trial, bool there) {
  const Json run = run_json(folder_ / trial.name);
  read_score(trial, run);
  if (!there) training_seconds_ += seconds_of_epochs(run).first;
  done_.push_back(trial);
  tell(trial, there);
}

void Search::read_score(Trial& trial, const Json& run) const {
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

void Search::tell(const Trial& trial, bool there) const {
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
  const std::string of = most_ > 0 ? fmt::format(" of {}", most_) : "";
  print_note("{}{}: {}{}", trial.name, of, text, there ? " (from before)" : "");
}

/// Returns the share of its epochs that a trial has trained, as far as it has told.
double Search::trained_share(const Trial& trial) const {
  const fs::path file = folder_ / trial.name / kProgressFile;
  if (!is_file(file)) return 0;
  const Json told = read_object(file);
  if (told.is_null()) return 0;  // half of one
  const auto number = [&](const char* key) { return told.value(key, 0.0); };
  return (number("epoch") - 1 + number("samples_done") / number("samples")) / number("epochs");
}

/// Returns whether the first trial will not end in time by far.
bool Search::is_hopeless() {
  const double now = budget_->passed();
  const double trains = now - first_begun_;
  if (watched_ == nullptr || now - watched_at_ < 1 || trains < kWatched * budget_->seconds()) {
    return false;
  }
  watched_at_ = now;
  const double share = trained_share(*watched_);
  return share > 0 && trains > kHopeless * share * budget_->seconds();
}

/// Removes the trials that have begun, and says how much time the first one needs.
void Search::refuse_time(const std::vector<Trial>& begun) const {
  const double now = budget_->passed();
  const Trial& first = begun.front();
  const std::int64_t epochs = epochs_of({.values = first.values, .left_out = first.left_out});
  const auto trained = seconds_of_epochs(run_json(folder_ / first.name)).second;
  const double ended = static_cast<double>(trained) / static_cast<double>(epochs);
  const double share = std::max(ended, trained_share(first));
  const double begins = first_begun_ < 0 ? now : first_begun_;
  const double needs = share > 0 ? begins + (now - begins) / share : 2 * now;
  for (std::size_t i = 0; i < limit_.begun; ++i) remove_run(folder_ / begun[i].name);
  fail(
      "--within {} is too short: {:.2g} s passed before the first training, which ended {} of {} "
      "epochs in {:.2g} s; give at least {:.2g}s",
      arguments_.within, begins, trained, epochs, now - begins, kSlower * std::max(needs, now));
}

std::optional<std::int64_t> Search::runs_in_time() const {
  if (!budget_) return {};
  return plan_.method == SearchMethod::halving ? halved_ : std::ssize(done_);
}

Json Search::time_json() const {
  const double took = budget_->passed();
  const double share = training_seconds_ / (static_cast<double>(at_once_) * took);
  const bool halving = plan_.method == SearchMethod::halving;
  std::string note =
      fmt::format("{} took {:.1f} s of {}, {:.0f} % of it in epochs, {} at a time",
                  counted(done_.size(), "run"), took, arguments_.within, 100 * share, at_once_);
  if (halving && limit_.over) {
    note += "; it was cut short, since its runs became slower than in the rehearsal";
  } else if (!halving && !limit_.over) {
    note += "; there are no others";
  } else if (!halving && most_ > done_.size()) {
    note += fmt::format("; {} of {} were left out", most_ - done_.size(), most_);
  }
  note += fmt::format("; --runs {} {} the search", *runs_in_time(),
                      halving && limit_.over ? "ends" : "repeats");
  Json json;
  json["seconds"] = budget_->seconds();
  json["took"] = took;
  json["share"] = share;
  json["note"] = note;
  return json;
}

std::string shown_value(const SearchValue& value) {
  const auto* number = std::get_if<double>(&value);
  return number != nullptr ? fmt::format("{:.4g}", *number) : text_of(value);
}

}  // namespace linnet::command
