// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/importance.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "commands/side_by_side.h"
#include "commands/train_options.h"
#include "commands/train_within.h"
#include "config/search_space.h"
#include "report/json.h"

namespace linnet::command {

/// The arguments of `linnet search`.
struct SearchArguments {
  std::string file;
  std::string out;
  int threads = 0;
  std::string device;
  std::optional<std::int64_t> runs;
  std::string within;  ///< the time that the command may take; empty: any
  std::chrono::steady_clock::time_point begun = std::chrono::steady_clock::now();
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
  std::vector<std::string> left_out = {};  ///< columns, by `select`, `forward`, `genetic`
  std::vector<std::string> columns = {};   ///< that are used, by the last two
  Json importance = Json::object();        ///< of the others, in its validation set, by `select`
};

/// Runs trainings and keeps what they gave.
class Search {
 public:
  Search(const SearchArguments& arguments, SearchPlan plan, std::filesystem::path folder);
  Search(const Search&) = delete;
  Search& operator=(const Search&) = delete;

  /// Returns false where a signal has ended it. Throws Error for a time that is too short.
  bool run();
  /// Returns the trials, the best first, those that failed last.
  std::vector<Trial> ranked() const { return ranked(done_); }
  /// Returns the trials as they are shown: of `select` the steps in their order, else ranked().
  std::vector<Trial> listed() const;
  const SearchPlan& plan() const { return plan_; }

  /// Returns SearchPlan::runs of the same search without a limit of time; nothing where there was
  /// none.
  std::optional<std::int64_t> runs_in_time() const;
  /// Returns the time that was given, what it took, the share of it in epochs, and a note.
  Json time_json() const;

 private:
  std::vector<Trial> ranked(std::vector<Trial> trials) const;
  double cost(const Trial& trial) const;
  bool better(const Trial& a, const Trial& b) const;
  std::vector<Trial> trials(std::vector<std::vector<SearchValue>> values) const;
  std::vector<Trial> first_trials(std::vector<std::vector<SearchValue>> values) const;
  std::vector<Trial> random_trials() const;
  bool by_method();
  bool train_all(std::vector<Trial>& wanted);
  bool train_in_processes(std::vector<Trial>& wanted, std::size_t at_once);
  bool train_one(Trial& trial);
  bool halve(std::vector<Trial> wanted);
  std::int64_t fitting_halving(std::vector<Trial> first);
  bool grow(std::vector<Trial> wanted);
  bool select();
  bool choose_columns();
  Job job_of_columns() const;
  Json importance_of(const Trial& trial) const;
  TrainOptions options_of(const Trial& trial) const;
  void check_metric(const Job& job) const;
  std::int64_t epochs_of(const Trial& trial) const;
  bool is_there(const Trial& trial) const;
  void note(Trial& trial, bool there);
  void read_score(Trial& trial, const Json& run) const;
  void tell(const Trial& trial, bool there) const;
  double trained_share(const Trial& trial) const;
  bool is_hopeless();
  [[noreturn]] void refuse_time(const std::vector<Trial>& begun) const;

  const SearchArguments& arguments_;
  SearchPlan plan_;
  std::filesystem::path folder_;
  std::shared_ptr<KeptTask> kept_ = std::make_shared<KeptTask>();
  std::vector<Trial> done_;
  std::size_t most_ = 0;  ///< trials that there may be; 0: any number
  bool interrupted_ = false;

  std::optional<TimeBudget> budget_;
  ProcessLimit limit_;
  std::size_t at_once_ = 1;
  std::int64_t halved_ = 0;         ///< first trials of a halving in time
  double start_ = 0;                ///< seconds of a training of a halving beside its epochs
  double epoch_ = 0;                ///< seconds of an epoch of it
  double first_begun_ = -1;         ///< when the first trial began, in seconds
  const Trial* watched_ = nullptr;  ///< the first trial while it trains, if its length is known
  double watched_at_ = 0;           ///< seconds
  double training_seconds_ = 0;     ///< of all epochs, evaluations included
};

/// Returns a value as tables show it.
std::string shown_value(const SearchValue& value);

}  // namespace linnet::command
