// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <initializer_list>
#include <string>
#include <string_view>

#include "fusions/fusions.h"

namespace linnet::testing {

/// Says which of these passes is not there, for a test of a fusion that fuses what others wrote and
/// is skipped without them; "" where all are.
inline std::string missing_pass(std::initializer_list<std::string_view> passes) {
  for (const std::string_view pass : passes) {
    if (!all_passes().has(pass)) return fmt::format("needs the pass '{}'", pass);
  }
  return {};
}

}  // namespace linnet::testing
