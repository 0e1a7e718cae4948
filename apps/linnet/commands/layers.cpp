// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <memory>
#include <string>
#include <vector>

#include "commands/commands.h"
#include "describe/help.h"
#include "nn/layer_types.h"
#include "report/json.h"

namespace linnet::command {
namespace {

std::vector<HelpPage> pages() {
  std::vector<HelpPage> pages;
  for (const LayerType& type : layer_types().all()) {
    pages.push_back({.fields = type.fields,
                     .docs = docs_of(type),
                     .shapes = fmt::format("{} → {}", type.in, type.out),
                     .cpp = cpp_of(type.example),
                     .toml = to_toml(write_layer(type.example, false))});
  }
  return pages;
}

constexpr const char* kTitle =
    "<!-- Written by: linnet layers --markdown > docs/layers.md -->\n"
    "# Layers\n\n"
    "Every layer is a struct of `<linnet/layers.h>` and a `type` in configuration files. N is the "
    "batch; images are\n(N, H, W, C), sequences (N, T, C). Fields that are left out have their "
    "default.\n\n";

}  // namespace

void add_layers(CLI::App& app, Action& action) {
  auto name = std::make_shared<std::string>();
  auto markdown = std::make_shared<bool>(false);
  CLI::App* command =
      app.add_subcommand("layers", "Describes the layers of networks and their fields");
  command->add_option("NAME", *name, "A layer, e.g. conv2d");
  command->add_flag("--markdown", *markdown, "Print the page docs/layers.md");
  command->footer("Example: linnet layers conv2d");
  command->callback([&action, name, markdown] {
    action = [name, markdown] {
      const std::vector<HelpPage> all = pages();
      if (*markdown) {
        print_out(fmt::format("{}{}", kTitle, help_document(all)));
      } else if (name->empty()) {
        print_out(help_list(all) + "\n`linnet layers NAME` describes one layer and its fields.\n");
      } else {
        print_out(help_text(find_page(all, *name, "layer")));
      }
      return kSuccess;
    };
  });
}

}  // namespace linnet::command
