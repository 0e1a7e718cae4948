// SPDX-License-Identifier: Apache-2.0
#include "report/progress.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>

namespace linnet::command {
namespace {

TEST(Progress, NamesEverythingThatIsKnown) {
  const Progress progress{.epoch = 2,
                          .epochs = 5,
                          .samples_done = 500,
                          .samples = 1000,
                          .loss = 0.25,
                          .accuracy = 0.875,
                          .samples_per_second = 12345.4,
                          .seconds_left = 83};
  EXPECT_EQ(progress_text(progress),
            "epoch 2/5  50 %  12345 samples/s, loss 0.2500, accuracy 87.50 %, 1 min 23 s left");
  EXPECT_EQ(progress_line(progress, 110, {}),
            "epoch 2/5 [=============             ]  50 %  12345 samples/s, loss 0.2500, accuracy "
            "87.50 %, 1 min 23 s left");
  EXPECT_EQ(progress_line(progress, 80, {}),
            "epoch 2/5 [======       ]  50 %  loss 0.2500, accuracy 87.50 %, 1 min 23 s left");
  EXPECT_EQ(progress_line(progress, 60, {.utf8 = true}),
            "epoch 2/5 ━━━━━━───────  50 %  loss 0.2500, 1 min 23 s left");
}

TEST(Progress, SaysNothingOfATimeThatIsNotKnown) {
  const Progress progress{.epoch = 1,
                          .epochs = 100,
                          .samples_done = 32,
                          .samples = 1000,
                          .loss = 0.25,
                          .accuracy = 0.5,
                          .samples_per_second = 400,
                          .seconds_left = std::numeric_limits<double>::quiet_NaN()};
  EXPECT_EQ(progress_text(progress),
            "epoch 1/100   3 %  400 samples/s, loss 0.2500, accuracy 50.00 %");
}

TEST(Progress, KeepsAboutTwentyLinesOfEpochs) {
  for (const std::int64_t epochs : {1, 5, 20, 21, 40, 100, 999, 10000}) {
    std::int64_t lines = 0;
    for (std::int64_t epoch = 1; epoch <= epochs; ++epoch) lines += keeps_line(epoch, epochs);
    EXPECT_LE(lines, 22) << epochs;
    EXPECT_GE(lines, std::min<std::int64_t>(epochs, 11)) << epochs;
    EXPECT_TRUE(keeps_line(1, epochs) && keeps_line(epochs, epochs)) << epochs;
  }
}

TEST(Progress, ColoursTakeNoColumns) {
  const std::string bar = bar_text(0.5, 10, {.colour = true, .utf8 = true});
  EXPECT_NE(bar.find("\x1b[32m"), std::string::npos);
  EXPECT_EQ(columns_of(bar), 10U);
  EXPECT_EQ(columns_of(bar + " 5 %"), 14U);
  EXPECT_EQ(columns_of(bar_text(0.99, 10, {})), 10U);
  EXPECT_EQ(columns_of(""), 0U);
}

TEST(Progress, NamesAnEvaluation) {
  EXPECT_EQ(evaluation_text({.epoch = 2, .epochs = 5, .samples_done = 410, .samples = 1000}),
            "epoch 2/5: evaluating 410/1000 samples (41 %)");
}

TEST(Progress, RegressionHasNoAccuracy) {
  const EpochReport report{.epoch = 1,
                           .train = {.loss = 2,
                                     .accuracy = std::numeric_limits<double>::quiet_NaN(),
                                     .samples = 10},
                           .validation = {},
                           .test = {},
                           .seconds = 0.5,
                           .samples_per_second = 20};
  EXPECT_EQ(epoch_text(report, 3), "epoch 1/3: loss 2.0000; 0.50 s, 20 samples/s");
}

TEST(Progress, NamesTheHeldOutParts) {
  const EpochReport report{.epoch = 3,
                           .train = {.loss = 0.5, .accuracy = 0.75, .samples = 10},
                           .validation = {.loss = 0.6, .accuracy = 0.7, .samples = 5},
                           .test = {.loss = 0.7, .accuracy = 0.65, .samples = 5},
                           .seconds = 0.5,
                           .samples_per_second = 20};
  EXPECT_EQ(epoch_text(report, 3),
            "epoch 3/3: loss 0.5000, accuracy 75.00 %; validation loss 0.6000, accuracy 70.00 %; "
            "test loss 0.7000, accuracy 65.00 %; 0.50 s, 20 samples/s");
}

TEST(Progress, Durations) {
  EXPECT_EQ(duration_text(0.4), "0 s");
  EXPECT_EQ(duration_text(59.6), "1 min 00 s");
  EXPECT_EQ(duration_text(3600 + 120), "1 h 02 min");
  EXPECT_EQ(duration_text(std::numeric_limits<double>::infinity()), "?");
  EXPECT_EQ(duration_text(std::numeric_limits<double>::quiet_NaN()), "?");
}

}  // namespace
}  // namespace linnet::command
