// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "commands/commands.h"

namespace linnet::command {

// Each declares one subcommand of `data`; choosing it sets `action`.
void add_data_info(CLI::App& data, Action& action);
void add_data_convert(CLI::App& data, Action& action);

}  // namespace linnet::command
