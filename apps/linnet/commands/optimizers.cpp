// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <memory>
#include <string>
#include <vector>

#include "commands/commands.h"
#include "describe/help.h"
#include "model/optimizers.h"
#include "report/json.h"

namespace linnet::command {
namespace {

/// Returns the pages of one table of configuration files, "optimizer" or "schedule".
template <class V>
std::vector<HelpPage> pages_of(const Kinds<V>& kinds, std::string_view table) {
  std::vector<HelpPage> pages;
  for (const Kind<V>& kind : kinds.all()) {
    pages.push_back(
        {.fields = kind.fields,
         .docs = docs_of(kind.fields.name, optimizer_headers()),
         .shapes = "",
         .cpp = kinds.cpp(kind.example),
         .toml = fmt::format("{} = {}", table, to_toml(kinds.write(kind.example, false)))});
  }
  return pages;
}

constexpr char kDocument[] =
    "<!-- Written by: linnet optimizers --markdown > docs/optimizers.md -->\n"
    "# Optimizers and schedules\n\n"
    "Every optimizer is a struct of `<linnet/optimizer.h>`, and a `kind` of the table "
    "`[optimizer]` in configuration files;\nevery schedule of the learning rate is a struct of "
    "`<linnet/schedule.h>`, and a `kind` of `[schedule]`. Fields that are left out\nhave their "
    "default.\n\n"
    "## Optimizers\n\n{}\n## Schedules\n\n{}";

constexpr char kList[] =
    "optimizers\n"
    "{}\n"
    "schedules\n"
    "{}\n"
    "`linnet optimizers NAME` describes one of them and its fields.\n";

}  // namespace

void add_optimizers(CLI::App& app, Action& action) {
  auto name = std::make_shared<std::string>();
  auto markdown = std::make_shared<bool>(false);
  CLI::App* command =
      app.add_subcommand("optimizers",
                         "Describes optimizers, learning-rate schedules and their fields");
  command->add_option("NAME", *name, "An optimizer or a schedule, e.g. adam or cosine");
  command->add_flag("--markdown", *markdown, "Print the page docs/optimizers.md");
  command->footer("Example: linnet optimizers adam");
  command->callback([&action, name, markdown] {
    action = [name, markdown] {
      const std::vector<HelpPage> updates = pages_of(optimizers(), "optimizer");
      const std::vector<HelpPage> decays = pages_of(schedules(), "schedule");
      std::vector<HelpPage> all = updates;
      for (const HelpPage& page : decays) all.push_back(page);
      if (*markdown) {
        print_out(fmt::format(kDocument, help_document(updates), help_document(decays)));
      } else if (name->empty()) {
        print_out(fmt::format(kList, help_list(updates), help_list(decays)));
      } else {
        print_out(help_text(find_page(all, *name, "optimizer or schedule")));
      }
      return kSuccess;
    };
  });
}

}  // namespace linnet::command
