// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace linnet::command {

/// serve/page.html, made a part of the command.
extern const std::string_view kServePage;

}  // namespace linnet::command
