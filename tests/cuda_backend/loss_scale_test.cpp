// SPDX-License-Identifier: Apache-2.0
// Trainings in fp16 multiply their losses by a scale that follows from what overflows.
#include <algorithm>
#include <cmath>

#include "../end_to_end/fixtures.h"
#include "cuda_model.h"
#include "end_to_end/needed_passes.h"
#include "networks/networks.h"
#include "ops/loss_scale/loss_scale.h"
#include "small_trainings.h"

namespace linnet::testing {
namespace {

constexpr const char* kScale = "optimizer/loss_scale";

/// Two dense layers: what is stored in fp16 is the first one's result and its gradient.
Network mlp() {
  return Network({28, 28, 1},
                 {Rescale{}, Flatten{}, Dense{.units = 16}, ReLU{}, Dense{.units = 10}});
}

/// The same loss times a number.
Objective objective_of(double weight = 1) {
  return {.output_losses = {{.output = "output", .weight = weight}},
          .optimizer = Adam{.learning_rate = 3e-3, .epsilon = 1e-30}};
}

Tensor scale(float value, float good_steps = 0, float skipped = 0) {
  return Tensor(std::vector<float>{value, good_steps, skipped}, Shape{kLossScaleSize});
}

class LossScaling : public OnDevice {
 protected:
  Trainer trainer(Precision precision = Precision::fp16,
                  const Objective& objective = objective_of(),
                  const CudaOptions& options = {}) const {
    return Trainer(cuda_model(mlp(), options, 5, GetParam(), precision), objective, {.seed = 6});
  }
  /// A trainer that begins with this scale.
  Trainer trainer_at(const Tensor& first, const Objective& objective = objective_of()) const {
    Trainer made = trainer(Precision::fp16, objective);
    State state = made.state();
    state.set(kScale, first);
    made.load_state(state);
    return made;
  }
  static std::vector<float> scale_of(const Trainer& trainer) {
    const State state = trainer.state();
    const std::span<const float> values = state[kScale].as<float>();
    return {values.begin(), values.end()};
  }

  const Dataset digits_ = datasets::digits(48, 0, 3).train;
};
INSTANTIATE_TEST_SUITE_P(Engines, LossScaling, ::testing::ValuesIn(tested_engines()), engines_name);

/// All that a step changes but the scale and the count of steps.
State without_scale(const State& state) {
  State rest;
  for (const auto& [name, value] : state) {
    if (name != kScale && name != "position/steps") rest.set(name, value);
  }
  return rest;
}

TEST_P(LossScaling, AStepThatOverflowsChangesNothingAndHalvesTheScale) {
  const Batch batch = *trainer().batches(digits_, {.size = 16}).begin();
  Trainer large = trainer_at(scale(0x1p32F));
  const State before = large.state();
  int skipped = 0;
  for (; same_bits(without_scale(large.state()), without_scale(before)); ++skipped) {
    ASSERT_EQ(scale_of(large),
              (std::vector<float>{std::ldexp(1.0F, 32 - skipped), 0, static_cast<float>(skipped)}));
    large.step(batch);
    ASSERT_LT(skipped, 32);
  }
  EXPECT_GT(skipped, 8);  // the last one was a step
  const float fits = std::ldexp(1.0F, 33 - skipped);
  EXPECT_EQ(scale_of(large), (std::vector<float>{fits, 1, static_cast<float>(skipped - 1)}));
  // Moments and their corrections are as if the steps that were left out had never been.
  Trainer fresh = trainer_at(scale(fits));
  fresh.step(batch);
  EXPECT_TRUE(same_bits(without_scale(large.state()), without_scale(fresh.state())));
}

TEST_P(LossScaling, GradientsThatOverflowAreFoundAtASmallerScale) {
  const Batch batch = *trainer().batches(digits_, {.size = 16}).begin();
  Trainer large = trainer_at(scale(0x1p32F));
  Trainer small = trainer_at(scale(1024));
  const State found = large.gradients(batch);
  for (const auto& [name, expected] : small.gradients(batch)) {
    const std::span<const float> values = found[name].as<float>();
    for (std::size_t i = 0; i < values.size(); ++i) {
      ASSERT_NEAR(values[i], expected.as<float>()[i], 1e-3) << name;
    }
  }
  EXPECT_EQ(scale_of(large).front(), 0x1p32F);
}

TEST_P(LossScaling, TheScaleDoublesAfterGoodSteps) {
  Trainer grows = trainer_at(scale(1024, 1997));
  for (const Batch& batch : grows.batches(digits_, {.size = 16})) grows.step(batch);
  EXPECT_EQ(scale_of(grows), (std::vector<float>{2048, 0, 0}));
}

/// Gradients below 2^-25 are 0 in fp16; scaled they are not.
TEST_P(LossScaling, SmallGradientsTrainAsInFp32) {
  const Objective small = objective_of(1e-6);
  const auto losses_of = [&](Trainer trainer) {
    std::vector<double> losses;
    const History history = trainer.fit(digits_, {.epochs = 8, .batch = 16});
    for (const EpochReport& epoch : history.epochs) losses.push_back(epoch.train.loss);
    return losses;
  };
  const std::vector<double> fp32 = losses_of(trainer(Precision::fp32, small));
  const std::vector<double> scaled = losses_of(trainer(Precision::fp16, small));
  const std::vector<double> lost = losses_of(trainer_at(scale(1), small));
  for (std::size_t e = 0; e < fp32.size(); ++e) {
    EXPECT_NEAR(scaled[e], fp32[e], 0.015 * fp32[e]) << "epoch " << e;
  }
  EXPECT_LT(fp32.back(), 0.8 * fp32.front());
  EXPECT_GT(lost.back(), 1.1 * fp32.back());
}

TEST_P(LossScaling, GradientsAreThoseOfTheLossItself) {
  Trainer half = trainer();
  Trainer full = trainer(Precision::fp32);
  const Batch batch = *half.batches(digits_, {.size = 16}).begin();
  const State found = half.gradients(batch);
  for (const auto& [name, expected] : full.gradients(batch)) {
    const std::span<const float> a = found[name].as<float>();
    const std::span<const float> b = expected.as<float>();
    float largest = 0;
    for (const float x : b) largest = std::max(largest, std::abs(x));
    for (std::size_t i = 0; i < b.size(); ++i) {
      ASSERT_NEAR(a[i], b[i], 4e-3F * largest) << name << ' ' << i;
    }
  }
}

bool tells_of_fp16(const History& history) {
  return std::ranges::any_of(history.notes, [](const std::string& note) {
    return note.find("too large for fp16") != std::string::npos;
  });
}

TEST_P(LossScaling, ATrainingContinuesWithItsScale) {
  const Tensor first = scale(0x1p24F);  // steps are left out at first
  const FitOptions epochs{.epochs = 2, .batch = 8};
  Trainer whole = trainer_at(first);
  whole.fit(digits_, epochs);
  const State half_way = whole.state();
  const History history = whole.fit(digits_, epochs);
  EXPECT_GT(half_way[kScale].as<float>()[1], 0);
  EXPECT_GT(half_way[kScale].as<float>()[2], 0);
  EXPECT_TRUE(tells_of_fp16(history));
  Trainer continued = trainer();
  continued.load_state(half_way);
  continued.fit(digits_, epochs);
  EXPECT_TRUE(same_bits(continued.state(), whole.state()));
}

TEST_P(LossScaling, EachObjectiveHasAScale) {
  Trainer both(cuda_model(mlp(), {}, 5, GetParam(), Precision::fp16),
               Objectives{{"large", objective_of(1e6)}, {"usual", objective_of()}}, {.seed = 6});
  for (const Batch& batch : both.batches(digits_, {.size = 16})) {
    both.step("large", batch);
    both.step("usual", batch);
  }
  const State state = both.state();
  const std::span<const float> usual = state["objective/usual/optimizer/loss_scale"].as<float>();
  const std::span<const float> large = state["objective/large/optimizer/loss_scale"].as<float>();
  EXPECT_EQ(std::vector<float>(usual.begin(), usual.end()), (std::vector<float>{65536, 3, 0}));
  EXPECT_EQ(std::vector<float>(large.begin(), large.end()), (std::vector<float>{8192, 0, 3}));
}

TEST_P(LossScaling, EveryGraphGivesTheSameBits) {
  const auto trained = [&](std::int64_t graph_steps) {
    Trainer made = trainer(Precision::fp16, objective_of(1e3), {.graph_steps = graph_steps});
    made.fit(digits_, {.epochs = 3, .batch = 8});
    return made.state();
  };
  const State epochs = trained(CudaOptions::kWholeEpoch);
  EXPECT_GT(epochs[kScale].as<float>()[1], 0);
  EXPECT_GT(epochs[kScale].as<float>()[2], 0);
  EXPECT_TRUE(same_bits(trained(0), epochs));
  EXPECT_TRUE(same_bits(trained(2), epochs));
}

TEST_P(LossScaling, ShardsAddScaledGradients) {
  const auto losses_of = [&](Precision precision, double weight) {
    std::vector<double> losses;
    Trainer made = trainer(precision, objective_of(weight));
    const History history = made.fit(digits_, {.epochs = 4, .batch = 16, .shards = 2});
    for (const EpochReport& epoch : history.epochs) losses.push_back(epoch.train.loss / weight);
    EXPECT_EQ(tells_of_fp16(history), weight > 1);  // steps are left out
    return losses;
  };
  const std::vector<double> fp32 = losses_of(Precision::fp32, 1);
  const std::vector<double> fp16 = losses_of(Precision::fp16, 1);
  for (std::size_t e = 0; e < fp32.size(); ++e) {
    EXPECT_NEAR(fp16[e], fp32[e], 0.015 * fp32[e]) << "epoch " << e;
  }
  const std::vector<double> large = losses_of(Precision::fp16, 1e3);
  EXPECT_GT(large[1], fp32[1]);
  EXPECT_LT(large.back(), 0.95 * large.front());
}

std::string error_of(Trainer trainer, const Dataset& data, const FitOptions& options) {
  try {
    trainer.fit(data, options);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

/// It finds all gradients in fp32: the bits are fp32's. Its parts in shards and gradients() do not.
TEST_P(LossScaling, ASmallCnnHasNoScale) {
  LINNET_NEEDS_PASSES("fuse_conv2d_pool", "fuse_epilogue", "fuse_gather_scale",
                      "fuse_softmax_cross_entropy", "fuse_small_cnn");
  const auto trainer_in = [&](Precision precision) {
    return Trainer(cuda_model(workloads::mnist_cnn(), {}, 5, GetParam(), precision), {},
                   {.seed = 6});
  };
  const auto losses_of = [&](Trainer trainer, std::int64_t shards) {
    std::vector<double> losses;
    const History history = trainer.fit(digits_, {.epochs = 2, .batch = 8, .shards = shards});
    for (const EpochReport& epoch : history.epochs) losses.push_back(epoch.train.loss);
    return losses;
  };
  Trainer half = trainer_in(Precision::fp16);
  const Trainer full = trainer_in(Precision::fp32);
  const std::vector<double> whole = losses_of(full, 1);
  EXPECT_EQ(losses_of(half, 1), whole);
  EXPECT_EQ(scale_of(half), (std::vector<float>{kFirstLossScale, 0, 0}));
  EXPECT_NEAR(losses_of(trainer_in(Precision::fp16), 2).back(), whole.back(), 0.015 * whole.back());
}

TEST_P(LossScaling, WhatNoScaleMendsIsAnError) {
  const FitOptions epochs{.epochs = 20, .batch = 16};
  // A gradient that overflows with the least scale too.
  const std::string gradient =
      error_of(trainer(Precision::fp16, objective_of(1e16)), digits_, epochs);
  EXPECT_NE(gradient.find("fp16 ends at 65504"), std::string::npos) << gradient;
  // An activation: the loss is not finite, at once.
  Trainer blown = trainer();
  blown.model().set_parameter("dense_1.bias", Tensor(std::vector<float>(16, 1e6F), Shape{16}));
  const std::string loss = error_of(std::move(blown), digits_, epochs);
  EXPECT_NE(loss.find("fp16 ends at 65504"), std::string::npos) << loss;
  EXPECT_NE(loss.find("step 0 "), std::string::npos) << loss;
}

TEST_P(LossScaling, StatesMustHoldAScale) {
  Trainer made = trainer();
  const State before = made.state();
  for (const Tensor& bad : {scale(3), scale(0), scale(NAN), scale(1, -1), scale(1, 0, INFINITY),
                            scale(1, 0, 1e6F), Tensor(DType::f32, {2})}) {
    State state = before;
    state.set(kScale, bad);
    EXPECT_THROW(made.load_state(state), Error);
    EXPECT_TRUE(same_bits(made.state(), before));
  }
  made.load_state(trainer(Precision::fp32).state());  // of another precision
  EXPECT_EQ(scale_of(made), (std::vector<float>{kFirstLossScale, 0, 0}));
}

TEST(LossScaleOnCpu, IsRefused) {
  try {
    const Model model(mlp(), {.device = "cpu", .precision = Precision::fp16});
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(),
                 "the precision fp16 is for CUDA; a CPU computes in fp32 (also for tf32), bf16 or "
                 "fp64");
  }
}

}  // namespace
}  // namespace linnet::testing
