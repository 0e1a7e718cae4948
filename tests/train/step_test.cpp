// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <linnet/linnet.h>

#include "lines.h"
#include "message_of.h"

namespace linnet::testing {
namespace {

TEST(Step, WantsASchedulesOwnLength) {
  const Dataset data = line_data(12);
  const auto message = [&](const Schedule& schedule) {
    Objective objective;
    objective.schedule = schedule;
    Trainer trainer(Model(Network({2}, {Dense{.units = 1}}), {.device = "cpu"}), objective);
    const Batch batch = *trainer.batches(data, {.size = 4}).begin();
    static_cast<void>(trainer.gradients(batch));
    return message_of([&] { trainer.step(batch); });
  };
  EXPECT_EQ(message(CosineDecay{}),
            "the cosine schedule is as long as the training, which step() does not know; set the "
            "schedule's epochs");
  EXPECT_EQ(message(OneCycle{}).substr(0, 22), "the one_cycle schedule");
  EXPECT_EQ(message(CosineDecay{.epochs = 3}), "");
  EXPECT_EQ(message(StepDecay{}), "");
  EXPECT_EQ(message(Constant{}), "");
}

}  // namespace
}  // namespace linnet::testing
