// SPDX-License-Identifier: Apache-2.0
// What a build for Windows has instead of launch.cpp, serve.cpp, measure_memory.cpp and
// side_by_side.cpp: sentences.
#include <string>

#include "base/check.h"
#include "commands/commands.h"
#include "commands/measure_memory.h"
#include "commands/side_by_side.h"
#include "subcommands.h"

namespace linnet::command {
namespace {

void add_refused(CLI::App& app, Action& action, const char* name, const char* help,
                 const char* why) {
  CLI::App* command = app.add_subcommand(name, help);
  command->prefix_command();  // takes all that follows
  command->callback([&action, why] { action = [why]() -> int { fail("{}", why); }; });
}

}  // namespace

void add_launch(CLI::App& app, Action& action) {
  add_refused(app, action, "launch", "Unavailable on Windows: trains on several processes (ranks)",
              "Windows builds of Linnet train in one process; `linnet launch` needs Linux");
}

void add_serve(CLI::App& app, Action& action) {
  add_refused(app, action, "serve", "Unavailable on Windows: answers predictions over HTTP",
              "Windows builds of Linnet have no server; `linnet serve` needs Linux, and `linnet "
              "predict` answers here");
}

std::size_t measure_memory(const Job&, bool, std::int64_t, const MemoryPlan&) {
  fail("Windows builds of Linnet measure no memory; leave out --verify");
}

std::string run_again(const std::vector<std::string>&) {
  fail("Windows builds of Linnet measure no memory; leave out --verify");
}

std::size_t most_side_by_side(const Job&, std::size_t) { return 0; }

bool run_side_by_side(const SideBySide&) { fail("Windows builds of Linnet train in one process"); }

}  // namespace linnet::command
