// SPDX-License-Identifier: Apache-2.0
#include "commands/launch.h"

#include <fmt/format.h>
#include <linnet/error.h>

#include <bit>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "base/check.h"
#include "commands/rank_processes.h"
#include "config/options.h"
#include "report/json.h"

namespace linnet::command {
namespace {

namespace fs = std::filesystem;

struct LaunchOptions {
  int ranks = 0;
  int max_restarts = 0;
  std::string logs;
  std::string program;
  std::vector<std::string> arguments;
};

/// Returns the folder for output, empty where the system has none for temporary files.
fs::path temporary_folder() {
  std::error_code error;
  std::string name = (fs::temp_directory_path(error) / "linnet-launch-XXXXXX").string();
  require(!error && ::mkdtemp(name.data()) != nullptr,
          "there is no folder for temporary files; name one with --logs");
  return name;
}

fs::path own_program() {
  std::error_code error;
  fs::path program = fs::read_symlink("/proc/self/exe", error);
  require(!error, "cannot find this program's file; name it with --program");
  return program;
}

/// Returns the arguments of a run that goes on from the last checkpoint: --resume in place of
/// --out.
std::vector<std::string> continued(std::vector<std::string> arguments) {
  for (std::string& argument : arguments) {
    if (argument == "--out") argument = "--resume";
    if (argument.starts_with("--out=")) argument.replace(0, 5, "--resume");
  }
  return arguments;
}

bool names_run(const std::vector<std::string>& arguments) {
  for (const std::string& argument : arguments) {
    for (const char* option : {"--out", "--resume"}) {
      if (argument == option || argument.starts_with(std::string(option) + "=")) return true;
    }
  }
  return false;
}

void say(const std::string& sentence) { print_note("{}", sentence); }

int launch(const LaunchOptions& options) {
  require(options.ranks >= 1 && options.ranks <= 1024 &&
              std::has_single_bit(static_cast<unsigned>(options.ranks)),
          "expected a power of two up to 1024 for -n; got {}", options.ranks);
  require(options.max_restarts >= 0, "expected at least 0 for --max-restarts; got {}",
          options.max_restarts);
  require(options.max_restarts == 0 || !options.program.empty() || names_run(options.arguments),
          "--max-restarts needs the run folder that a restart continues: add --out FOLDER");
  RankCommand command;
  command.ranks = options.ranks;
  const bool temporary = options.logs.empty();
  command.logs = temporary ? temporary_folder() : fs::path(options.logs);
  std::error_code error;
  fs::create_directories(command.logs, error);
  require(!error, "cannot make the folder '{}': {}", command.logs.string(), error.message());
  command.arguments = options.arguments;
  command.arguments.insert(command.arguments.begin(),
                           options.program.empty() ? own_program().string()
                                                   : fs::absolute(options.program, error).string());

  const LaunchSignals signals;
  for (int restarts = 0;; ++restarts) {
    const JobEnd end = run_ranks(command, signals);
    if (end.sentence.empty() || end.interrupted) {
      if (temporary) fs::remove_all(command.logs, error);
      return end.status;
    }
    // A mistake of the user repeats itself.
    const bool again = restarts < options.max_restarts && end.status != kUserError;
    say(fmt::format("{}; {}", end.sentence,
                    again ? fmt::format("restart {} of {} from the last checkpoint", restarts + 1,
                                        options.max_restarts)
                          : fmt::format("output of the other ranks: {}", command.logs.string())));
    if (!again) return end.status;
    command.arguments = continued(std::move(command.arguments));
  }
}

}  // namespace

void add_launch(CLI::App& app, Action& action) {
  auto o = std::make_shared<LaunchOptions>();
  CLI::App* command =
      app.add_subcommand("launch", "Trains on several processes (ranks) of this machine");
  command->add_option("-n,--ranks", o->ranks, "Number of ranks, a power of two")
      ->required()
      ->check(at_least(1));
  command->add_option("--max-restarts", o->max_restarts,
                      "How often all ranks are started again, from the last checkpoint, after one "
                      "has died")
      ->check(at_least(0));
  command->add_option("--logs", o->logs,
                      "Folder for the output of all ranks but rank 0, as rank-1.log; a temporary "
                      "folder if not given");
  command->add_option("--program", o->program, "Program that each rank runs in place of linnet");
  command->add_option("arguments", o->arguments, "What each rank runs, after --: train ...")
      ->required();
  command->footer("Example: linnet launch -n 4 -- train --workload mnist-cnn --out runs/mnist");
  command->callback([&action, o] { action = [o] { return launch(*o); }; });
}

}  // namespace linnet::command
