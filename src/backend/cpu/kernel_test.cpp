// SPDX-License-Identifier: Apache-2.0
#include "backend/cpu/kernel.h"

#include <gtest/gtest.h>

namespace linnet::cpu {
namespace {

constexpr std::int64_t kMany = 1'000'000;

/// Tasks of so much work, in microseconds of one core.
int tasks_of(double microseconds) { return tasks_for(kMany, 1e3 * microseconds / kMany); }

TEST(TasksFor, ShortWorkIsCutIntoTasksOfTwentyMicroseconds) {
  EXPECT_EQ(tasks_for(0, 1), 1);
  EXPECT_EQ(tasks_of(10), 1);
  EXPECT_EQ(tasks_of(45), 2);
  EXPECT_EQ(tasks_of(1000), 50);
  EXPECT_EQ(tasks_of(1300), 64);
}

TEST(TasksFor, LongWorkHasMoreButLongerTasksByPowersOfTwo) {
  EXPECT_EQ(tasks_of(5000), 64);
  EXPECT_EQ(tasks_of(5200), 128);
  EXPECT_EQ(tasks_of(82e3), 512);
  EXPECT_EQ(tasks_of(10e6), 4096);
  EXPECT_EQ(tasks_for(100, 1e9), 100);  // one an item at most
}

TEST(PartialTasks, AreBoundedByMemoryAndByTheCostOfAdding) {
  const auto tasks = [](double microseconds, std::int64_t floats) {
    return partial_tasks(kMany, 1e3 * microseconds / kMany, floats);
  };
  EXPECT_EQ(tasks(82e3, 10), 512);  // as many as without sums
  EXPECT_EQ(tasks(5200, 10), 128);
  EXPECT_EQ(tasks(200, 10), 10);
  EXPECT_EQ(tasks(5200, 20'000), 64);               // 64 sums of 20,000: 0.32 of 5.2 ms
  EXPECT_EQ(tasks(5200, kPartialFloats / 16), 16);  // 16 always, if they fit
  EXPECT_EQ(tasks(5200, kPartialFloats / 7), 7);
  EXPECT_EQ(tasks(82e3, kPartialFloats), 2);
  EXPECT_EQ(tasks(10, kPartialFloats), 1);
  EXPECT_EQ(partial_tasks(kMany, 1, 1000, 4000), 4);
}

}  // namespace
}  // namespace linnet::cpu
