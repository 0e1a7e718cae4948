// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <linnet/linnet.h>

#include <algorithm>
#include <ranges>
#include <vector>

#include "lines.h"
#include "weights.h"

namespace linnet::testing {
namespace {

static_assert(std::ranges::input_range<BatchRange>);

Trainer trainer_of(std::uint64_t seed) {
  return Trainer(Model(Network({2}, {Dense{.units = 4}, Tanh{}, Dense{.units = 1}}),
                       {.device = "cpu", .threads = 2, .seed = 3}),
                 {}, {.seed = seed});
}

TEST(Batch, IsADataSetOfWhatAStepSees) {
  Dataset data = line_data(22);
  std::vector<float> weights;
  for (int i = 0; i < 22; ++i) weights.push_back(static_cast<float>(1 + i % 4));
  data.set_weights(Tensor(std::move(weights)));
  for (const bool shuffle : {true, false}) {
    Trainer trainer = trainer_of(7);
    trainer.fit(data, {.epochs = 1, .batch = 8});
    std::int64_t samples = 0;
    for (const Batch& batch : trainer.batches(data, {.size = 8, .shuffle = shuffle})) {
      const Dataset alone = batch;
      ASSERT_EQ(alone.size(), batch.size());
      samples += alone.size();
      const BatchRange same = trainer.batches(alone, {.size = alone.size(), .shuffle = false});
      EXPECT_TRUE(same_bits(trainer.gradients(batch), trainer.gradients(*same.begin())));
    }
    EXPECT_EQ(samples, 22);
  }
}

TEST(Batch, HasTheOrderOfItsTrainerAndEpoch) {
  const Dataset data = line_data(64);
  const auto first_rows = [&](Trainer& trainer) {
    return vector_of(first_input(*trainer.batches(data, {.size = 64}).begin()));
  };
  Trainer one = trainer_of(1);
  Trainer other = trainer_of(2);
  const std::vector<float> rows = first_rows(one);
  EXPECT_NE(rows, vector_of(first_input(data)));
  EXPECT_NE(rows, first_rows(other));
  one.fit(data);
  EXPECT_NE(rows, first_rows(one));
}

TEST(Batch, GoesWhereDataGo) {
  const Dataset data = line_data(16);
  Trainer trainer = trainer_of(1);
  const Batch batch = *trainer.batches(data, {.size = 5}).begin();
  EXPECT_EQ(trainer.model().predict(batch).shape(), Shape({5, 1}));
  EXPECT_EQ(trainer.model().value_of("tanh_1", batch).shape(), Shape({5, 4}));
  EXPECT_EQ(trainer.model().input_gradient(batch).shape(), Shape({5, 2}));
  EXPECT_EQ(trainer.evaluate(batch).samples, 5);
}

TEST(Batch, RangesFillVectors) {
  const Dataset data = line_data(22);
  Trainer trainer = trainer_of(1);
  const BatchRange range = trainer.batches(data, {.size = 8});
  const std::vector<Batch> batches(range.begin(), range.end());
  ASSERT_EQ(batches.size(), 3U);
  EXPECT_EQ(batches[2].size(), 6);
  trainer.step(batches);
  EXPECT_EQ(trainer.epochs(), 1);
}

}  // namespace
}  // namespace linnet::testing
