// SPDX-License-Identifier: Apache-2.0
#include "ops/conv2d/conv2d.h"

#include <gtest/gtest.h>

#include "op_harness.h"

namespace linnet::testing {
namespace {
}  // namespace
}  // namespace linnet::testing
