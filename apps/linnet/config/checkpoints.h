// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/checkpoint.h>

#include <CLI/CLI.hpp>

#include <optional>
#include <string>

#include "config/section.h"

namespace linnet::command {

/// Adds --checkpoint-every.
void add_checkpoint_option(CLI::App& command, std::optional<std::string>& every);
/// Sets when checkpoints are written: "10m", "500steps" or "epoch". Throws Error for other texts.
void set_interval(const std::string& text, Checkpoints& checkpoints);

/// Reads the key checkpoint_every of [training].
void read_interval(Section& section, Checkpoints& checkpoints);

}  // namespace linnet::command
