// SPDX-License-Identifier: Apache-2.0
#include "model/program_cache.h"

#include <gtest/gtest.h>
#include <linnet/layers.h>
#include <linnet/model.h>

#include <algorithm>

#include "data_sets.h"
#include "model/model_state.h"
#include "model/predictor_state.h"
#include "model/step_graph.h"

namespace linnet::testing {
namespace {

/// Predictions of small batches, by a cache that keeps two of them.
class Kept : public ::testing::Test {
 protected:
  std::shared_ptr<CachedProgram> get(std::int64_t batch) { return cache_.get(recipe(), batch); }

  /// Programs that are prepared while these batches are asked for, one after the other.
  std::uint64_t prepares(const std::vector<std::int64_t>& batches) {
    const std::uint64_t before = cache_.prepared();
    for (const std::int64_t batch : batches) get(batch);
    return cache_.prepared() - before;
  }

  ProgramRecipe recipe() {
    return {.key = "predict", .graph_of = [this](std::int64_t batch) {
              return prediction_step(model_.state().definition(), DType::f32, batch,
                                     OutputForm::plain, supports_of(*model_.state().backend));
            }};
  }

  ProgramCache cache_of(std::size_t limit) {
    ModelState& state = model_.state();
    return {*state.backend, state.parameters, state.statistics, limit};
  }

  /// Of a batch of 1.
  std::size_t bytes() {
    ProgramCache cache = cache_of(0);
    return held_bytes(*cache.get(recipe(), 1)->program);
  }

  Model model_{Network({6}, {Dense{.units = 8}, Tanh{}, Dense{.units = 3}}),
               {.device = "cpu", .threads = 1}};
  ProgramCache cache_ = cache_of(bytes() * 5 / 2);
};

TEST_F(Kept, TheLeastRecentlyUsedGoes) {
  EXPECT_EQ(prepares({1, 2}), 2U);
  EXPECT_EQ(prepares({1, 2, 1}), 0U);
  EXPECT_EQ(prepares({3}), 1U);  // 2 goes
  EXPECT_EQ(prepares({1, 3}), 0U);
  EXPECT_EQ(prepares({2}), 1U);  // 1 goes
  EXPECT_EQ(prepares({3, 2}), 0U);
  EXPECT_EQ(prepares({1}), 1U);
}

TEST_F(Kept, WhatIsHeldStays) {
  const auto held = get(1);
  EXPECT_EQ(prepares({2, 3, 4, 5}), 4U);
  EXPECT_EQ(get(1), held);
  EXPECT_EQ(prepares({1}), 0U);
}

TEST_F(Kept, ByBytesAlone) {
  ProgramCache wide = cache_of(bytes() * 100);
  for (int round = 0; round < 2; ++round) {
    for (std::int64_t batch = 1; batch <= 20; ++batch) wide.get(recipe(), batch);
  }
  EXPECT_EQ(wide.prepared(), 20U);
}

TEST(KeptPredictions, GoByBytesButTheLastTwo) {
  Model model(Network({6}, {Dense{.units = 8}, Tanh{}, Dense{.units = 3}}),
              {.device = "cpu", .threads = 1});
  const Dataset data({{"x", records(std::vector<float>(60, 0.5F), {6})}});
  PredictorState& predictor = predictor_of(model.state(), OutputForm::plain);
  for (std::int64_t count = 1; count <= 10; ++count) model.predict(data.rows(0, count));
  EXPECT_EQ(predictor.prepared.size(), 10U);
  const std::size_t one = predictor.at(10, DType::f32).bytes();
  predictor.keep(one * 9 / 2);
  EXPECT_EQ(predictor.prepared.size(), 4U);
  EXPECT_TRUE(predictor.prepared.contains({10, DType::f32}));
  EXPECT_FALSE(predictor.prepared.contains({1, DType::f32}));
  predictor.keep(0);
  EXPECT_EQ(predictor.prepared.size(), 2U);
}

}  // namespace
}  // namespace linnet::testing
