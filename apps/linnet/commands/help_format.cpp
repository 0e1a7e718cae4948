// SPDX-License-Identifier: Apache-2.0
#include "commands/help_format.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "config/options.h"
#include "describe/nearest.h"

namespace linnet::command {
namespace {

constexpr std::size_t kColumns = 100;
constexpr std::size_t kLeft = 28;         // columns of names
constexpr std::size_t kMostChoices = 40;  // bytes of choices beside a name

/// Breaks the text into lines of at most `columns` columns; all but the first are indented.
std::string wrapped(std::string_view text, std::size_t columns, std::size_t indent) {
  std::string out;
  std::size_t used = 0;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find_first_of(" \n"), text.size());
    if (end > 0) {
      if (used > 0 && used + 1 + end > columns) {
        out += "\n" + std::string(indent, ' ');
        used = 0;
      }
      out += (used > 0 ? " " : "") + std::string(text.substr(0, end));
      used += end + (used > 0 ? 1 : 0);
    }
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

/// Returns "N" of "INT:N", "{on,off}" of "TEXT:{on,off}", "NUMBER" of "FLOAT:FLOAT in [0 - 1]".
std::string value_of(const std::string& type) {
  const std::size_t colon = type.find(':');
  const std::string name = colon == std::string::npos ? type : type.substr(colon + 1);
  if (name.find(" in [") != std::string::npos) return type.starts_with("FLOAT") ? "NUMBER" : "N";
  if (name.starts_with("share")) return "SHARE";
  return name == "FLOAT" ? "NUMBER" : name;
}

/// Returns "1 to 1024" of "INT:INT in [1 - 1024]"; "" of a type without a range.
std::string range_of(const std::string& type) {
  const std::size_t begin = type.find(" in [");
  if (begin == std::string::npos) return "";
  std::string range = type.substr(begin + 5, type.size() - begin - 6);
  return range.replace(range.find(" - "), 3, " to ");
}

std::string option_text(const CLI::Option& option, bool positional) {
  std::string left = "  " + option.get_name(positional, !positional);
  std::string right = option.get_description();
  const std::string type = option.get_type_name();
  if (const std::size_t comma = left.find(','); comma != std::string::npos)
    left.insert(comma + 1, " ");
  constexpr std::string_view kOff = "{false}";  // after the name that turns a flag off
  if (const std::size_t off = left.find(kOff); off != std::string::npos)
    left.erase(off, kOff.size());
  if (option.get_items_expected_max() != 0) {
    std::string value = takes_column(option) ? "COLUMN" : value_of(type);
    if (value.starts_with('{') && value.size() > kMostChoices) {
      right += fmt::format("{}{}", right.ends_with(':') ? " " : ": ",
                           fmt::join(choices_of(option), ", "));
      value = "NAME";
    }
    if (!positional) left += " " + value;
    if (option.get_expected_max() == CLI::detail::expected_max_vector_size) left += " ...";
    if (const std::string range = range_of(type); !range.empty())
      right += fmt::format("; {}", range);
    if (!option.get_default_str().empty()) {
      right += fmt::format(" (default: {})", option.get_default_str());
    }
  }
  const std::string gap =
      left.size() < kLeft ? std::string(kLeft - left.size(), ' ') : "\n" + std::string(kLeft, ' ');
  return left + gap + wrapped(right, kColumns - kLeft, kLeft) + "\n";
}

std::string group_text(const std::string& title, const std::vector<const CLI::Option*>& options,
                       bool positional = false) {
  if (options.empty()) return "";
  std::string text = "\n" + title + ":\n";
  for (const CLI::Option* option : options) text += option_text(*option, positional);
  return text;
}

std::vector<std::string> groups_of(const CLI::App& app) {
  std::vector<std::string> groups = app.get_groups();
  std::erase(groups, "");  // of hidden options
  const auto first = std::ranges::find(groups, kMostUsed);
  if (first != groups.end()) std::rotate(groups.begin(), first, first + 1);
  return groups;
}

/// Returns the words of a usage line after the name.
std::string arguments_of(const CLI::App& app) {
  std::string text = " [OPTIONS]";
  for (const CLI::Option* option :
       app.get_options([](const CLI::Option* o) { return o->get_positional(); })) {
    const bool several = option->get_expected_max() > 1;
    const std::string name = option->get_name(true) + (several ? "..." : "");
    text += option->get_required() ? " " + name : " [" + name + "]";
  }
  return text + (app.get_subcommands({}).empty() ? "" : " COMMAND");
}

/// Returns "linnet data info" of that command.
std::string path_of(const CLI::App& command) {
  const CLI::App* parent = command.get_parent();
  return (parent == nullptr ? "" : path_of(*parent) + " ") + command.get_name();
}

std::vector<std::string> names_of(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands({})) names.push_back(command->get_name());
  return names;
}

}  // namespace

std::string HelpFormat::make_help(const CLI::App* app, std::string name,
                                  CLI::AppFormatMode /*mode*/) const {
  std::string text = wrapped(app->get_description(), kColumns, 0) +
                     fmt::format("\nUsage: {}{}\n", name, arguments_of(*app));
  text +=
      group_text("Arguments",
                 app->get_options([](const CLI::Option* o) { return o->get_positional(); }), true);
  const auto is_help = [&](const CLI::Option* o) { return o == app->get_help_ptr(); };
  for (const std::string& group : groups_of(*app)) {
    text += group_text(group, app->get_options([&](const CLI::Option* o) {
      return o->nonpositional() && o->get_group() == group && !is_help(o);
    }));
  }
  text += group_text("Help", app->get_options(is_help));
  const auto commands = app->get_subcommands({});
  if (!commands.empty()) text += "\nCommands:\n";
  for (const CLI::App* command : commands) {
    text += fmt::format("  {:<{}}{}\n", command->get_name(), kLeft - 2, command->get_description());
  }
  const std::string notes = app->get_footer();
  std::string_view footer = notes;
  if (!footer.empty()) text += "\n";
  while (!footer.empty()) {
    const std::size_t end = std::min(footer.find('\n'), footer.size());
    text += wrapped(footer.substr(0, end), kColumns, 2) + "\n";
    footer.remove_prefix(std::min(end + 1, footer.size()));
  }
  return text;
}

std::string missing_argument(const CLI::App& command, const std::string& message) {
  const std::vector<std::string> commands = names_of(command);
  if (!commands.empty()) {
    return fmt::format("`{}` needs a command: {}", path_of(command), listed(commands));
  }
  const std::string name = message.substr(0, message.find(' '));
  const CLI::Option* option = command.get_option_no_throw(name);
  if (option == nullptr) return message;
  return fmt::format("`{}` needs {}: {}", path_of(command), name,
                     wrapped(option->get_description(), std::string::npos, 0));
}

}  // namespace linnet::command
