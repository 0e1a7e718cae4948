// SPDX-License-Identifier: Apache-2.0
#include "commands/data_commands.h"

namespace linnet::command {

void add_data(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand("data", "Describes and converts data sets");
  command->require_subcommand(1);
  command->footer("Example: linnet data info path/to/mnist");
  add_data_info(*command, action);
  add_data_convert(*command, action);
}

}  // namespace linnet::command
