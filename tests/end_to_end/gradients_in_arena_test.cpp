// SPDX-License-Identifier: Apache-2.0
// Gradients that lie in the arena until the update, and products that wait.
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "fixtures.h"
#include "message_of.h"
#include "pixels.h"

namespace linnet::testing {
namespace {

/// Large activations first, then most of the weights: 2.3 MiB.
Network wide() {
  return Network({8, 8, 1},
                 {Rescale{}, Conv2d{.filters = 32, .padding = Padding2d::same()}, BatchNorm{},
                  ReLU{}, Conv2d{.filters = 32, .padding = Padding2d::same()}, BatchNorm{}, ReLU{},
                  Flatten{}, Dense{.units = 256}, ReLU{}, Dense{.units = 256}, ReLU{},
                  Dense{.units = 5}});
}

/// What a training leaves, and the bytes that it planned.
std::pair<std::vector<float>, std::size_t> trained(const TrainingOptions& options,
                                                   int threads = 2) {
  Model model(wide(), {.device = "cpu", .threads = threads, .seed = 3});
  const History history = train(model, pixels(160), options);
  std::vector<float> left = all_weights(model);
  const std::vector<float> mean = parameter(model, "batch_norm_2.running_mean");
  left.insert(left.end(), mean.begin(), mean.end());
  left.push_back(static_cast<float>(history.epochs.back().train.loss));
  return {left, history.planned_bytes};
}

std::vector<TrainingOptions> ways_to_train() {
  std::vector<TrainingOptions> ways;
  ways.push_back({.epochs = 2, .batch = 64, .optimizer = Adam{.learning_rate = 1e-3}});
  ways.push_back({.epochs = 2, .batch = 64, .optimizer = SGD{.momentum = 0.9}});
  ways.back().clip = {.norm = 0.5};
  ways.push_back({.epochs = 2, .batch = 64, .optimizer = AdamW{}});
  ways.back().average.decay = 0.9;
  ways.back().recompute = true;
  return ways;
}

TEST(GradientsInTheArena, ChangeNoBitAndTakeLessMemory) {
  for (TrainingOptions options : ways_to_train()) {
    const auto shared = trained(options);
    EXPECT_EQ(trained(options, 1).first, shared.first);
    options.disabled_passes = {"defer_gradients"};
    const auto at_once = trained(options);
    options.disabled_passes = {"collect_gradients"};
    const auto apart = trained(options);
    EXPECT_EQ(shared.first, at_once.first);
    EXPECT_EQ(shared.first, apart.first);
    EXPECT_LT(shared.second, at_once.second);
    EXPECT_LE(at_once.second, apart.second);
  }
}

TEST(GradientsInTheArena, ThatAreNotFiniteChangeNoWeight) {
  Dataset data = pixels(256);
  data = Dataset({{"x", data.column("x").data}},
                 {{"y", Tensor(std::vector<float>(256 * 5, 0.5F), {256, 5})}});
  const auto steps = [&](bool is_finite) {
    Objective objective;
    objective.custom_loss = [=](const Expression& y, const Expression& t) {
      return is_finite ? square(y - t) : square(y - t) + sqrt(square(y - y));  // finite; its
    };                                                                         // gradient is not
    Trainer trainer(Model(wide(), {.device = "cpu", .threads = 2, .seed = 1}), objective,
                    {.seed = 4});
    const std::vector<float> before = all_weights(trainer.model());
    std::vector<StepResult> results;
    for (const Batch& batch : trainer.batches(data, {.size = 64})) {
      results.push_back(trainer.step(batch));
    }
    const std::string message = message_of([&] { static_cast<void>(results.back().loss()); });
    return std::pair(all_weights(trainer.model()) == before, message);
  };
  EXPECT_EQ(steps(true), std::pair(false, std::string()));
  const auto [is_unchanged, message] = steps(false);
  EXPECT_TRUE(is_unchanged);
  EXPECT_NE(message.find("became NaN or infinite in epoch 1, step 0 of"), std::string::npos)
      << message;
}

}  // namespace
}  // namespace linnet::testing
