// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string_view>

namespace linnet::command {

/// Returns the seconds of a time above 0 with its unit, "90s", "5m", "10min" or "2h"; nothing for
/// other texts.
std::optional<double> seconds_of(std::string_view text);

}  // namespace linnet::command
