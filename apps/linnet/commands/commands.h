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

/// Runs the chosen subcommand after all arguments are read; returns the exit status. Each command of
/// the folder declares itself by add_NAME(app, action), which CMakeLists.txt lists; choosing it sets
/// `action`.
using Action = std::function<int()>;

/// Makes a parsed `command` run as `run(*options)`, with the options that it was given.
template <class Options, class Run>
void act(CLI::App& command, const std::shared_ptr<Options>& options, Action& action, Run run) {
  command.callback([&command, options, &action, run] {
    options->given = GivenOptions(command);
    action = [options, run] { return run(*options); };
  });
}

}  // namespace linnet::command
