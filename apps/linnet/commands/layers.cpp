// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "base/check.h"
#include "commands/commands.h"
#include "config/options.h"
#include "describe/help.h"
#include "describe/nearest.h"
#include "nn/layer_types.h"
#include "report/json.h"

namespace linnet::command {
namespace {

HelpPage page_of(const LayerType& type, const StructDocs& docs) {
  return {.fields = type.fields,
          .docs = docs,
          .shapes = fmt::format("{} → {}", type.in, type.out),
          .cpp = cpp_of(type.example),
          .toml = to_toml(write_layer(type.example, false))};
}

std::string list_of_layers() {
  std::string out;
  for (const LayerType& type : layer_types().all()) {
    const StructDocs docs = docs_of(type);
    out += fmt::format("{:<26} {}\n", type.kind(), first_sentence(docs.text));
  }
  return out + "\n`linnet layers NAME` shows the fields of one.\n";
}

std::string all_as_markdown() {
  std::string out =
      "<!-- Written by: linnet layers --markdown > docs/layers.md -->\n"
      "# Layers\n\n"
      "Every layer is a struct of `<linnet/layers.h>` and a `type` in configuration files. N is "
      "the "
      "batch; images are\n(N, H, W, C), sequences (N, T, C). Fields that are left out have their "
      "default.\n\n";
  for (const LayerType& type : layer_types().all()) {
    out += fmt::format("[{0}](#{0}){1}", type.kind(),
                       &type == &layer_types().all().back() ? "\n" : ",\n");
  }
  for (const LayerType& type : layer_types().all()) {
    const StructDocs docs = docs_of(type);
    out += "\n" + help_markdown(page_of(type, docs));
  }
  return out;
}

std::string help_of(const std::string& name) {
  const LayerType* type = layer_types().find(name);
  if (type == nullptr) {
    std::vector<std::string> kinds;
    for (const LayerType& other : layer_types().all()) {
      if (other.fields.name == name) type = &other;
      kinds.emplace_back(other.kind());
    }
    require(type != nullptr, "there is no layer '{}'{}", name, did_you_mean(name, kinds));
  }
  const StructDocs docs = docs_of(*type);
  return help_text(page_of(*type, docs));
}

}  // namespace

void add_layers(CLI::App& app, Action& action) {
  auto name = std::make_shared<std::string>();
  auto markdown = std::make_shared<bool>(false);
  CLI::App* command = app.add_subcommand("layers", "The layers of networks, and their fields");
  command->add_option("NAME", *name, "A layer, e.g. conv2d");
  command->add_flag("--markdown", *markdown, "Print all of them as docs/layers.md");
  command->footer("Example: linnet layers conv2d");
  command->callback([&action, name, markdown] {
    action = [name, markdown] {
      print_out(*markdown ? all_as_markdown() : name->empty() ? list_of_layers() : help_of(*name));
      return kSuccess;
    };
  });
}

}  // namespace linnet::command
