// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>

#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <vector>

namespace linnet::command {

inline constexpr int kSuccess = 0;
inline constexpr int kInternalError = 1;
inline constexpr int kUserError = 2;
inline constexpr int kFailed = 3;  ///< a benchmark whose loss does not fall
inline constexpr int kInterrupted = 130;

/// What the chosen subcommand does once all arguments are read; returns the exit status.
using Action = std::function<int()>;

// Each declares one subcommand of `app`; choosing it sets `action`.
void add_train(CLI::App& app, Action& action);
void add_predict(CLI::App& app, Action& action);
void add_evaluate(CLI::App& app, Action& action);
void add_summary(CLI::App& app, Action& action);
void add_plan(CLI::App& app, Action& action);
void add_profile(CLI::App& app, Action& action);
void add_bench(CLI::App& app, Action& action);
void add_devices(CLI::App& app, Action& action);
void add_data(CLI::App& app, Action& action);
void add_completion(CLI::App& app, Action& action);

/// Accepts one of `names`; the error names them all, and the nearest one if one is near.
CLI::Validator one_of(std::vector<std::string> names);
/// Where a name that one_of() has accepted stands in them.
std::size_t index_of(const std::vector<std::string>& names, const std::string& name);
/// Accepts integers of at least `least`, and at most `most`: sums and products of a few don't
/// overflow.
CLI::Validator at_least(long long least, long long most = std::numeric_limits<std::int32_t>::max());

}  // namespace linnet::command
