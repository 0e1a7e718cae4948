// SPDX-License-Identifier: Apache-2.0
#include "json.h"
#include "machine.h"
#include "options.h"

#include <fmt/format.h>

#include <memory>

namespace linnet::command {
namespace {

constexpr std::string_view kNoCuda = "not in this build";

int devices(bool json) {
  const Machine machine = this_machine();
  if (json) {
    print_json({{"cpu",
                 {{"name", machine.processor},
                  {"flags", machine.flags},
                  {"cores", machine.cores},
                  {"memory_bytes", machine.memory_bytes},
                  {"available_bytes", machine.available_bytes}}},
                {"cuda", kNoCuda}});
    return kSuccess;
  }
  print_out(
      fmt::format("cpu   {}\n      {} usable processors, {} of memory ({} free)\n      {}\n"
                  "cuda  {}\n",
                  machine.processor, machine.cores, bytes_text(machine.memory_bytes),
                  bytes_text(machine.available_bytes), fmt::join(machine.flags, " "), kNoCuda));
  return kSuccess;
}

}  // namespace

void add_devices(CLI::App& app, Action& action) {
  auto json = std::make_shared<bool>(false);
  CLI::App* command = app.add_subcommand("devices", "What this computer can train on");
  command->add_flag("--json", *json, "Print one JSON object");
  command->footer("Example: linnet devices --json");
  command->callback([&action, json] { action = [json] { return devices(*json); }; });
}

}  // namespace linnet::command
