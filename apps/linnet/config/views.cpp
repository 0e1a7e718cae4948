// SPDX-License-Identifier: Apache-2.0
#include "config/views.h"

#include <utility>

#include "nn/views.h"

namespace linnet::command {

void add_views_option(CLI::App& command, std::optional<std::string>& views) {
  command.add_option(
      "--tta", views,
      "Average the outputs over several views of each image: flip, the mirrored one\n"
      "too; shift=N, also moved by N pixels; e.g. flip,shift=1");
}

TestViews parse_views(const std::string& text) { return linnet::parse_views(text, "--tta"); }

Model with_views(Model model, const std::optional<std::string>& views) {
  return views ? model.with_views(parse_views(*views)) : std::move(model);
}

}  // namespace linnet::command
