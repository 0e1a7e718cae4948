// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <linnet/linnet.h>

#include <algorithm>

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

TEST(Step, OnRecordsOfASourceIsFit) {
  const Dataset data =
      line_data(22).map("x", {.record = {2}},
                        [](const Tensor& from, Tensor& to, const RecordPlace&) {
                          std::ranges::copy(from.bytes(), to.writable_bytes().begin());
                        });
  const auto trained = [&](bool steps) {
    Model model(Network({2}, {Dense{.units = 4}, Tanh{}, Dense{.units = 1}}),
                {.device = "cpu", .seed = 2});
    Trainer trainer(model, {}, {.seed = 7});
    if (!steps) trainer.fit(data, {.epochs = 2, .batch = 4});
    for (int epoch = 0; steps && epoch < 2; ++epoch) {
      for (const Batch& batch : trainer.batches(data, {.size = 4})) trainer.step(batch);
    }
    return model.weights();
  };
  EXPECT_TRUE(same_bits(trained(true), trained(false)));
}

TEST(Step, NotesWhatTheModelLearnsFrom) {
  Dataset data = data_of(first_input(line_data(4)), records(std::vector<std::int32_t>{0, 1, 1, 0}));
  data.set_classes({"a", "b"});
  Trainer trainer(Model(Network({2}, {Dense{.units = 2}}), {.device = "cpu"}));
  trainer.step(*trainer.batches(data, {.size = 4}).begin());
  EXPECT_EQ(trainer.model().training_record().loss, "cross_entropy");
  EXPECT_EQ(trainer.model().class_names(), (std::vector<std::string>{"a", "b"}));
}

TEST(Step, AResultIsNotThatOfALoadedState) {
  const Dataset data = line_data(8);
  Trainer trainer(Model(Network({2}, {Dense{.units = 1}}), {.device = "cpu"}));
  const State before = trainer.state();
  const StepResult old = trainer.step(*trainer.batches(data, {.size = 4}).begin());
  trainer.load_state(before);
  trainer.step(*trainer.batches(data, {.size = 4}).begin());
  EXPECT_EQ(message_of([&] { static_cast<void>(old.loss()); }),
            "step 0 was one before load_state(), and its loss is gone");
}

}  // namespace
}  // namespace linnet::testing
