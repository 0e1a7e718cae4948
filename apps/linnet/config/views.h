// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/model.h>

#include <CLI/CLI.hpp>
#include <optional>
#include <string>

namespace linnet::command {

/// Declares --tta.
void add_views_option(CLI::App& command, std::optional<std::string>& views);

/// Returns the views of a text such as "flip,shift=1". Throws Error for any other.
TestViews parse_views(const std::string& text);

/// Returns the model that averages the views which --tta names, or `model` itself without it.
Model with_views(Model model, const std::optional<std::string>& views);

}  // namespace linnet::command
