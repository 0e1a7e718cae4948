// SPDX-License-Identifier: Apache-2.0
#include "base/check.h"

#include <gtest/gtest.h>

namespace linnet {
namespace {

std::string bug_in(const char* file) {
  try {
    internal_failure("a == b", file, 7);
  } catch (const InternalError& error) {
    return error.what();
  }
}

TEST(Check, NamesTheSourceOfABug) {
  const std::string wanted = "src/nn/layer.cpp:7: 'a == b' does not hold; this is a bug in Linnet";
  EXPECT_EQ(bug_in("src/nn/layer.cpp"), wanted);
  EXPECT_EQ(bug_in("src/nn/joined/../../../../../src/nn/layer.cpp"), wanted);
}

}  // namespace
}  // namespace linnet
