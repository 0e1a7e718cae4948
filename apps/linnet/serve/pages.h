// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace linnet::command {

// The .html files of this folder, made a part of the command.
extern const std::string_view kServePage;
extern const std::string_view kRunsPage;

}  // namespace linnet::command
