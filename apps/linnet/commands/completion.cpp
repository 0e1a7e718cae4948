// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "commands/commands.h"
#include "config/named_data.h"
#include "config/options.h"
#include "config/workloads.h"
#include "report/json.h"

namespace linnet::command {
namespace {

using Commands = std::vector<const CLI::App*>;

Commands subcommands(const CLI::App& app) {
  Commands all;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    all.push_back(command);
  }
  return all;
}

/// A quotation mark, one of the names of --thousands, would end the script's quotations.
std::vector<std::string> words_of(const CLI::Option& option) {
  std::vector<std::string> words = choices_of(option);
  std::erase(words, "'");
  return words;
}

std::vector<std::string> long_options(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

/// Returns all options of all subcommands that have choices, each once.
std::vector<std::pair<std::string, std::vector<std::string>>> choosers(const CLI::App& app) {
  std::vector<std::pair<std::string, std::vector<std::string>>> found;
  for (const CLI::App* command : subcommands(app)) {
    for (const CLI::Option* option : command->get_options()) {
      const std::vector<std::string> words = words_of(*option);
      if (words.empty() || option->get_lnames().empty()) continue;
      if (option->get_lnames().front() == "data") continue;  // of bench alone; see bash()
      const std::string name = "--" + option->get_lnames().front();
      const bool known = std::any_of(found.begin(), found.end(),
                                     [&](const auto& pair) { return pair.first == name; });
      if (!known) found.emplace_back(name, words);
    }
  }
  return found;
}

/// Returns all options of all subcommands that name columns, each once.
std::vector<std::string> column_options(const CLI::App& app) {
  std::set<std::string> names;
  for (const CLI::App* command : subcommands(app)) {
    for (const CLI::Option* option : command->get_options()) {
      if (takes_column(*option)) names.insert("--" + option->get_lnames().front());
    }
  }
  return {names.begin(), names.end()};
}

std::vector<std::string> names_of(const Commands& commands) {
  std::vector<std::string> names;
  for (const CLI::App* command : commands) names.push_back(command->get_name());
  return names;
}

std::string words_after(const CLI::App& command) {
  std::vector<std::string> words = names_of(subcommands(command));
  if (command.get_name() == "completion") words = {"bash", "zsh", "fish"};
  if (command.get_name() == "bench") words = workload_names();
  for (const std::string& option : long_options(command)) words.push_back(option);
  return fmt::format("{}", fmt::join(words, " "));
}

/// Completes names of columns from the first line of the table on the command line. What is in the
/// file is never evaluated.
constexpr std::string_view kBashColumns = R"bash(
_linnet_first_line() {
  case $1 in
    *.gz) gzip -dc -- "$1" ;;
    *.xz) xz -dc -- "$1" ;;
    *) cat -- "$1" ;;
  esac 2>/dev/null | head -n 1
}
_linnet_columns() {
  local file header separator=, mark others name most=0
  for file in "${COMP_WORDS[@]:2}"; do
    [[ $file =~ \.(csv|tsv|txt)(\.gz|\.xz)?$ && -f $file ]] && break
    file=
  done
  [[ $file ]] || return
  header=$(_linnet_first_line "$file")
  header=${header%$'\r'} header=${header#$'\xef\xbb\xbf'}
  for mark in , ';' $'\t' '|'; do
    others=${header//"$mark"/}
    (( ${#header} - ${#others} > most )) && { most=$(( ${#header} - ${#others} )); separator=$mark; }
  done
  while IFS= read -r name; do
    name=${name#\"} name=${name%\"}
    [[ $name == "$word"* ]] && COMPREPLY+=("$name")
  done <<< "${header//"$separator"/$'\n'}"
}
_linnet_files() {
  local file
  while IFS= read -r file; do COMPREPLY+=("$file"); done < <(compgen -f -- "$word")
}
)bash";

constexpr std::string_view kZshColumns = R"zsh(
_linnet_columns() {
  local file header separator=, mark others
  local -i most=0
  for file in $words; do
    file=${(Q)file}
    [[ $file == *.(csv|tsv|txt)(|.gz|.xz) && -f $file ]] && break
    file=
  done
  [[ -n $file ]] || return 1
  case $file in
    *.gz) header=$(gzip -dc -- $file 2>/dev/null | head -n 1) ;;
    *.xz) header=$(xz -dc -- $file 2>/dev/null | head -n 1) ;;
    *) header=$(head -n 1 -- $file) ;;
  esac
  header=${header%$'\r'}
  for mark in , ';' $'\t' '|'; do
    others=${header//"$mark"/}
    (( ${#header} - ${#others} > most )) && { most=$(( ${#header} - ${#others} )); separator=$mark }
  done
  local -a names
  names=("${(@ps:$separator:)header}")
  names=("${(@)${(@)names#\"}%\"}")
  compadd -a names
}
)zsh";

constexpr std::string_view kFishColumns = R"fish(
function __linnet_columns
    for file in (commandline -opc)
        string match -qr '\.(csv|tsv|txt)(\.gz|\.xz)?$' -- $file; and test -f $file; or continue
        switch $file
            case '*.gz'
                set header (gzip -dc -- $file 2>/dev/null | head -n 1)
            case '*.xz'
                set header (xz -dc -- $file 2>/dev/null | head -n 1)
            case '*'
                set header (head -n 1 -- $file)
        end
        set separator ,
        set most 0
        for mark in , ';' \t '|'
            set count (count (string split -- $mark $header))
            test $count -gt $most; and set most $count; and set separator $mark
        end
        string split -- $separator $header | string trim -c \r | string trim -c '"'
        return
    end
end
)fish";

std::string bash(const CLI::App& app) {
  std::string out =
      "# linnet completion bash" + std::string(kBashColumns) +
      "_linnet() {\n"
      "  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} words=\n"
      "  COMPREPLY=()\n  case $before in\n";
  for (const auto& [option, words] : choosers(app)) {
    out += fmt::format("    {}) COMPREPLY=($(compgen -W '{}' -- \"$word\")); return ;;\n", option,
                       fmt::join(words, " "));
  }
  out += fmt::format("    {}) _linnet_columns; return ;;\n", fmt::join(column_options(app), "|"));
  out += fmt::format(
      "    --data) [[ ${{COMP_WORDS[1]}} == bench ]] && {{\n"
      "        COMPREPLY=($(compgen -W 'resident streamed' -- \"$word\")); return; }}\n"
      "      COMPREPLY=($(compgen -d -W '{}' -- \"$word\")); return ;;\n"
      "    --workload) COMPREPLY=($(compgen -W '{}' -- \"$word\")); return ;;\n  esac\n",
      fmt::join(datasets::names(), " "), fmt::join(workload_names(), " "));
  out += fmt::format(
      "  if [[ $COMP_CWORD == 1 ]]; then words='{} {}'; else case ${{COMP_WORDS[1]}} in\n",
      fmt::join(names_of(subcommands(app)), " "), fmt::join(long_options(app), " "));
  for (const CLI::App* command : subcommands(app)) {
    out += fmt::format("    {}) words='{}' ;;\n", command->get_name(), words_after(*command));
  }
  return out +
         "  esac; fi\n  COMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n"
         "  [[ $word == -* || ( $COMP_CWORD == 1 && ! $word ) ]] || _linnet_files\n}\n"
         "complete -o filenames -F _linnet linnet\n";
}

std::string quoted(std::string text, bool zsh) {
  for (std::size_t at = 0; (at = text.find('\'', at)) != std::string::npos;) {
    const std::string_view escape = zsh ? "'\\''" : "\\'";
    text.replace(at, 1, escape);
    at += escape.size();
  }
  if (zsh) {
    for (const char special : {'[', ']', ':'}) {
      for (std::size_t at = 0; (at = text.find(special, at)) != std::string::npos; at += 2) {
        text.insert(at, 1, '\\');
      }
    }
  }
  return text;
}

std::string zsh(const CLI::App& app) {
  std::string out =
      "#compdef linnet" + std::string(kZshColumns) + "_linnet() {\n  local -a commands=(\n";
  for (const CLI::App* command : subcommands(app)) {
    out +=
        fmt::format("    '{}:{}'\n", command->get_name(), quoted(command->get_description(), true));
  }
  out +=
      "  )\n  if (( CURRENT == 2 )); then _describe command commands; return; fi\n"
      "  local chosen=$words[2]\n  shift words; (( CURRENT-- ))\n  case $chosen in\n";
  for (const CLI::App* command : subcommands(app)) {
    out += fmt::format("    {}) _arguments", command->get_name());
    for (const CLI::Option* option : command->get_options()) {
      for (const std::string& name : option->get_lnames()) {
        const std::vector<std::string> words = words_of(*option);
        const std::string value = option->get_items_expected_max() == 0 ? ""
                                  : takes_column(*option)               ? ":column:_linnet_columns"
                                  : words.empty()
                                      ? ":value:_files"
                                      : fmt::format(":value:({})", fmt::join(words, " "));
        out += fmt::format(" \\\n      '--{}[{}]{}'", name, quoted(option->get_description(), true),
                           value);
      }
    }
    const std::vector<std::string> nested = names_of(subcommands(*command));
    if (command->get_name() == "bench") {
      out += fmt::format(" \\\n      '1:workload:({})' ;;\n", fmt::join(workload_names(), " "));
    } else if (command->get_name() == "completion") {
      out += " \\\n      '1:shell:(bash zsh fish)' ;;\n";
    } else if (!nested.empty()) {
      out +=
          fmt::format(" \\\n      '1:command:({})' '*:file:_files' ;;\n", fmt::join(nested, " "));
    } else {
      out += " \\\n      '*:file:_files' ;;\n";
    }
  }
  return out + "  esac\n}\ncompdef _linnet linnet\n";
}

std::string fish(const CLI::App& app) {
  std::string out = "# linnet completion fish" + std::string(kFishColumns);
  for (const CLI::App* command : subcommands(app)) {
    out += fmt::format("complete -c linnet -n __fish_use_subcommand -f -a {} -d '{}'\n",
                       command->get_name(), quoted(command->get_description(), false));
    const std::string seen = fmt::format("'__fish_seen_subcommand_from {}'", command->get_name());
    for (const CLI::Option* option : command->get_options()) {
      for (const std::string& name : option->get_lnames()) {
        const std::vector<std::string> words = words_of(*option);
        out += fmt::format("complete -c linnet -n {} -l {}{} -d '{}'\n", seen, name,
                           option->get_items_expected_max() == 0 ? ""
                           : takes_column(*option)               ? " -x -a '(__linnet_columns)'"
                           : words.empty()                       ? " -r"
                                           : fmt::format(" -x -a '{}'", fmt::join(words, " ")),
                           quoted(option->get_description(), false));
      }
    }
    std::vector<std::string> nested = names_of(subcommands(*command));
    if (command->get_name() == "completion") nested = {"bash", "zsh", "fish"};
    if (command->get_name() == "bench") nested = workload_names();
    for (const std::string& word : nested) {
      out += fmt::format("complete -c linnet -n {} -f -a {}\n", seen, word);
    }
  }
  return out;
}

}  // namespace

void add_completion(CLI::App& app, Action& action) {
  auto shell = std::make_shared<std::string>();
  CLI::App* command =
      app.add_subcommand("completion",
                         "Prints a script that completes linnet's arguments in a shell");
  command->add_option("SHELL", *shell, "bash, zsh or fish")
      ->required()
      ->check(one_of({"bash", "zsh", "fish"}));
  command->footer(
      "Example: linnet completion bash > ~/.local/share/bash-completion/completions/linnet");
  command->callback([&app, &action, shell] {
    action = [&app, shell] {
      print_out(*shell == "bash" ? bash(app) : *shell == "zsh" ? zsh(app) : fish(app));
      return kSuccess;
    };
  });
}

}  // namespace linnet::command
