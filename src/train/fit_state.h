// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/callback.h>
#include <linnet/state.h>

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "train/early_stopping.h"
#include "train/fit_settings.h"

namespace linnet {

/// Describes where a fit stands between two steps: what it needs to continue beside the trainer's
/// state().
struct FitState {
  /// What the entries of a State that hold one begin with.
  static constexpr std::string_view kPrefix = "fit/";

  std::int64_t first_epoch = 1;
  std::int64_t last_epoch = 1;
  std::int64_t epoch = 1;           ///< that runs, or is next
  std::uint64_t updates = 0;        ///< of it done; its evaluations are not
  double seconds = 0;               ///< of it trained
  std::vector<double> counters;     ///< of it; empty before its first step
  std::vector<float> losses;        ///< of its newest steps
  std::int64_t best_step = -1;      ///< steps done at the end of the best epoch; -1: none was done
  bool stopped_early = false;       ///< ended by FitOptions::patience
  std::array<double, 2> waited{};   ///< EarlyStopping::memory()
  std::optional<State> best;        ///< its weights, where they are kept
  std::vector<EpochReport> epochs;  ///< those that are done
  FitSettings settings;
  std::map<std::string, std::string> engines;  ///< Model::engine_choices()

  bool ended() const { return stopped_early || epoch > last_epoch; }
  /// Adds it to a trainer's state. Of the steps of finished epochs the newest losses are kept.
  void save(State& state) const;
  /// Of a State with such entries; nothing for one without. Throws Error for entries that are
  /// missing or damaged.
  static std::optional<FitState> of(const State& state);
};

/// Says what a fit goes through.
struct FitLength {
  std::int64_t epochs = 1;
  std::uint64_t steps = 1;                ///< of an epoch
  std::array<std::int64_t, 3> samples{};  ///< for training, validation and test
};

/// Throws DataError that begins with `what` unless a stopped fit, after so many steps of the
/// trainer and so many epochs, can be one of this length.
void check_place(const FitState& stopped, const FitLength& length, std::uint64_t trainer_steps,
                 std::int64_t trainer_epochs, const std::string& what);

/// On the continuation of a stopped fit at so many steps. what: "the checkpoint 'x'", for a note on
/// a file of another version.
ResumeReport report_on(const FitState& stopped, std::uint64_t steps, const std::string& what);

}  // namespace linnet
