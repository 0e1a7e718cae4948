// SPDX-License-Identifier: Apache-2.0
// The command `linnet`: arguments, errors and exit status; each subcommand has a file of its own.
#include <fmt/format.h>
#include <linnet/error.h>
#include <linnet/ranks.h>
#include <linnet/version.h>

#include <algorithm>
#include <exception>
#include <filesystem>
#include <system_error>

#include "base/console.h"
#include "base/memory.h"
#include "commands/commands.h"
#include "commands/help_format.h"
#include "commands/launch.h"
#include "commands/propose.h"
#include "commit.h"
#include "describe/nearest.h"
#include "describe/other_names.h"
#include "report/json.h"
#include "subcommands.h"

namespace linnet::command {
namespace {

int report(int status, std::string sentence) {
  while (!sentence.empty() && (sentence.back() == '\n' || sentence.back() == ' ')) {
    sentence.pop_back();
  }
  print_note("error: {}", sentence);
  return status;
}

std::vector<std::string> subcommand_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    names.push_back(command->get_name());
  }
  return names;
}

/// Returns the subcommand that the arguments chose, for its help and its options.
const CLI::App& chosen(const CLI::App& app) {
  const auto parsed = app.get_subcommands();
  return parsed.empty() ? app : chosen(*parsed.front());
}

/// Returns "batch_size" for "batch-size".
std::string snake_case(std::string name) {
  std::ranges::replace(name, '-', '_');
  return name;
}

/// CLI11 names the arguments that are left over; this adds what may have been meant.
std::string unexpected(const CLI::App& app) {
  const CLI::App& command = chosen(app);
  const std::vector<std::string> left = app.remaining(true);
  if (left.empty()) return "unexpected arguments";
  const std::string& first = left.front();
  if (first.empty() || first[0] != '-') {
    return fmt::format("unexpected argument '{}'{}", first,
                       &command == &app ? did_you_mean(first, subcommand_names(app)) : "");
  }
  const std::string given = first.substr(0, first.find('='));
  std::vector<std::string> options;
  std::vector<std::string> names;
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& name : option->get_lnames()) {
      options.push_back("--" + name);
      names.push_back(snake_case(name));
    }
  }
  const std::string name = snake_case(given.substr(std::min<std::size_t>(2, given.size())));
  for (const std::string_view ours : other_names(name)) {
    const auto found = std::ranges::find(names, ours);
    if (found == names.end()) continue;
    return fmt::format("unknown option '{}'; did you mean '{}'?", given,
                       options[static_cast<std::size_t>(found - names.begin())]);
  }
  return fmt::format("unknown option '{}'{}", given, did_you_mean(given, options));
}

int run(int argc, char** argv) {
  CLI::App app("Linnet trains and runs neural networks on CPUs and NVIDIA GPUs.", "linnet");
  app.set_version_flag("--version", fmt::format("linnet {} ({})", version(), kCommit));
  app.require_subcommand(1);
  app.formatter(std::make_shared<HelpFormat>());
  Action action;
  add_subcommands(app, action);
  if (argc == 1) {
    print_out(help_page(app));
    return kUserError;
  }
  const std::vector<std::string> commands = subcommand_names(app);
  if (argc > 1 && argv[1][0] != '-' &&
      std::find(commands.begin(), commands.end(), argv[1]) == commands.end()) {
    std::error_code none;
    const auto type = std::filesystem::symlink_status(argv[1], none).type();
    const bool there =
        type != std::filesystem::file_type::not_found && type != std::filesystem::file_type::none;
    if (there && argc == 2) {
      print_out(proposal(argv[1]));
      return kSuccess;
    }
    if (there) {
      return report(kUserError,
                    fmt::format("'{0}' is not a command; `linnet {0}` alone says what to "
                                "run, e.g. `linnet train {0} ...`",
                                argv[1]));
    }
    const std::string near = did_you_mean(argv[1], commands);
    return report(kUserError, near.empty()
                                  ? fmt::format("there is no command, file or folder '{}'; "
                                                "expected {}",
                                                argv[1], listed(commands))
                                  : fmt::format("there is no command '{}'{}", argv[1], near));
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    print_out(app.get_subcommands().empty() ? help_page(app) : app.help());
    return kSuccess;
  } catch (const CLI::CallForVersion& version) {
    print_out(std::string(version.what()) + "\n");
    return kSuccess;
  } catch (const CLI::ExtrasError&) {
    return report(kUserError, unexpected(app));
  } catch (const CLI::RequiredError& error) {
    // Without a command CLI11 asks for one and does not say what it did not understand.
    return report(kUserError, app.remaining().empty() ? missing_argument(chosen(app), error.what())
                                                      : unexpected(app));
  } catch (const CLI::ParseError& error) {
    return report(kUserError, error.what());
  }
  return action();
}

}  // namespace
}  // namespace linnet::command

int main(int argc, char** argv) {
  using namespace linnet::command;
  linnet::prepare_streams();
  argv = linnet::utf8_arguments(argc, argv);
  try {
    // Whatever is known to be large says so itself.
    return linnet::in_memory(fmt::format("what `linnet {}` needs", argc > 1 ? argv[1] : ""),
                             [&] { return run(argc, argv); });
  } catch (const linnet::RankError& error) {
    return report(kLostRank, error.what());
  } catch (const linnet::Error& error) {
    return report(kUserError, error.what());
  } catch (const std::exception& error) {
    return report(kInternalError,
                  fmt::format("internal error, please report it: {}", error.what()));
  }
}
