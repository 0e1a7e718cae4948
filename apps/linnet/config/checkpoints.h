// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/checkpoint.h>

#include <CLI/CLI.hpp>

#include <cstdint>
#include <optional>
#include <string>

#include "config/section.h"

namespace linnet::command {

/// Options of `linnet train` for checkpoints.
struct CheckpointSettings {
  std::optional<std::string> every;
  std::optional<std::int64_t> keep;
  std::optional<std::string> on_failed_save;
};

/// Adds --checkpoint-every, --keep-checkpoints and --on-failed-save.
void add_checkpoint_options(CLI::App& command, CheckpointSettings& settings);
void apply(const CheckpointSettings& settings, Checkpoints& checkpoints);

/// Reads the keys of the same names of [training].
void read_checkpoints(Section& section, Checkpoints& checkpoints);

}  // namespace linnet::command
