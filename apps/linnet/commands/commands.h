// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>

#include <functional>
#include <memory>

#include "config/given.h"

namespace linnet::command {

inline constexpr int kSuccess = 0;
inline constexpr int kInternalError = 1;
inline constexpr int kUserError = 2;
inline constexpr int kFailed = 3;  ///< a benchmark whose loss does not fall
inline constexpr int kInterrupted = 130;

/// Runs the chosen subcommand after all arguments are read; returns the exit status.
using Action = std::function<int()>;

/// Makes a parsed `command` run as `run(*options)`, with the options that it was given.
template <class Options, class Run>
void act(CLI::App& command, const std::shared_ptr<Options>& options, Action& action, Run run) {
  command.callback([&command, options, &action, run] {
    options->given = GivenOptions(command);
    action = [options, run] { return run(*options); };
  });
}

// Each declares one subcommand of `app`; choosing it sets `action`.
void add_train(CLI::App& app, Action& action);
void add_predict(CLI::App& app, Action& action);
void add_evaluate(CLI::App& app, Action& action);
void add_importance(CLI::App& app, Action& action);
void add_optimize(CLI::App& app, Action& action);
void add_search(CLI::App& app, Action& action);
void add_export(CLI::App& app, Action& action);
void add_quantize(CLI::App& app, Action& action);
void add_runs(CLI::App& app, Action& action);
void add_serve(CLI::App& app, Action& action);
void add_summary(CLI::App& app, Action& action);
void add_plan(CLI::App& app, Action& action);
void add_max_batch(CLI::App& app, Action& action);
void add_profile(CLI::App& app, Action& action);
void add_bench(CLI::App& app, Action& action);
void add_convert(CLI::App& app, Action& action);
void add_features(CLI::App& app, Action& action);
void add_devices(CLI::App& app, Action& action);
void add_layers(CLI::App& app, Action& action);
void add_optimizers(CLI::App& app, Action& action);
void add_data(CLI::App& app, Action& action);
void add_completion(CLI::App& app, Action& action);

}  // namespace linnet::command
