// SPDX-License-Identifier: Apache-2.0
// main() of the tests that want a GPU. Where there is none they say so, in one line, and exit with
// 77, which ctest shows as skipped; their cases can be listed all the same.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <linnet/error.h>

#include <cstdio>

#include "backend/cuda/device.h"

int main(int argc, char** argv) {
  constexpr int kSkipped = 77;
  ::testing::InitGoogleTest(&argc, argv);
  if (!::testing::GTEST_FLAG(list_tests)) {
    try {
      linnet::cuda::list_devices();
    } catch (const linnet::Error& error) {
      fmt::print("no GPU: all {} tests are skipped: {}\n",
                 ::testing::UnitTest::GetInstance()->total_test_count(), error.what());
      return kSkipped;
    }
  }
  return RUN_ALL_TESTS();
}
