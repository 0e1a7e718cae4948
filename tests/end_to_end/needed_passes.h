// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <initializer_list>
#include <string>
#include <string_view>

#include "fusions/fusions.h"

namespace linnet::testing {

/// Names the first of these passes that is not there; "" where all are.
inline std::string missing_pass(std::initializer_list<std::string_view> passes) {
  for (const std::string_view pass : passes) {
    if (!all_passes().has(pass)) return fmt::format("needs the pass '{}'", pass);
  }
  return {};
}

}  // namespace linnet::testing

/// Skips a test of what these passes do in a library that was built without one's folder of
/// src/fusions/: LINNET_NEEDS_PASSES("fuse_epilogue", "join_norms").
#define LINNET_NEEDS_PASSES(...)                                                  \
  if (const std::string missing = ::linnet::testing::missing_pass({__VA_ARGS__}); \
      !missing.empty())                                                           \
  GTEST_SKIP() << missing
