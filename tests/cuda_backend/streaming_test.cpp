// SPDX-License-Identifier: Apache-2.0
// Data sets that stay in host memory: the same bits as resident ones, in the ring's order.
#include <cstdint>
#include <cstring>
#include <future>
#include <numeric>

#include "../end_to_end/fixtures.h"
#include "cuda_model.h"
#include "model/model_state.h"
#include "small_trainings.h"

namespace linnet::testing {
namespace {

class Streaming : public OnDevice {};
INSTANTIATE_TEST_SUITE_P(Engines, Streaming, ::testing::ValuesIn(tested_engines()), engines_name);

TEST_P(Streaming, GivesTheSameBits) {
  reorder_threads(11);
  const Splits drawn = datasets::digits(28, 5, 3);
  const Splits digits = with_validation(drawn.train, drawn.test);
  for (bool shuffle : {true, false}) {
    TrainingOptions options = two_epochs();
    options.shuffle = shuffle;
    const Trained resident = trained(model(with_dropout(), {}, 5), digits, options);
    options.streamed = true;
    for (std::int64_t prefetch : {1, 2, 3, 5}) {
      options.prefetch = prefetch;
      EXPECT_EQ(trained(model(with_dropout(), {}, 5), digits, options), resident)
          << "shuffle " << shuffle << ", " << prefetch << " batches ahead";
    }
  }
}

TEST_P(Streaming, GivesTheSameBitsHoweverStepsAreLaunched) {
  const Splits sums = with_validation(sums_data(21));
  TrainingOptions options = two_epochs();
  const Trained resident = trained(model(two_numbers(), {}, 5), sums, options);
  options.streamed = true;
  for (std::int64_t steps : {CudaOptions::kWholeEpoch, std::int64_t{0}, std::int64_t{2}}) {
    EXPECT_EQ(trained(model(two_numbers(), {.graph_steps = steps}, 5), sums, options), resident)
        << steps << " steps a launch";
  }
}

TEST_P(Streaming, TakesADataSetSmallerThanABatch) {
  const Splits sums{.train = sums_data(3)};
  TrainingOptions options{.epochs = 3, .batch = 8};
  const Trained resident = trained(model(two_numbers(), {}, 5), sums, options);
  options.streamed = true;
  EXPECT_EQ(trained(model(two_numbers(), {}, 5), sums, options), resident);
}

TEST(StreamingOnTheCpu, ChangesNothing) {
  const Splits sums = with_validation(sums_data(21));
  TrainingOptions options = two_epochs();
  const auto on_cpu = [&] {
    return trained(Model(two_numbers(), {.device = "cpu", .threads = 1}), sums, options);
  };
  const Trained resident = on_cpu();
  options.streamed = true;
  EXPECT_EQ(on_cpu(), resident);
}

TEST_P(Streaming, WantsABatchInThePool) {
  Model made = model(two_numbers());
  try {
    train(made, sums_data(4), {.streamed = true, .prefetch = 0});
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "[fit] expected prefetch to be in [1, 1024]; got 0");
  }
}

TEST_P(Streaming, AStopInAnEpochEndsTheTraining) {
  Model made = model(two_numbers());
  struct Stop : Callback {
    bool stop_requested() override { return true; }
  } stop;
  const Dataset sums = sums_data(400);
  const History history =
      train(made, sums, {.epochs = 2, .batch = 2, .streamed = true}, &sums, &stop);
  EXPECT_TRUE(history.interrupted);
  ASSERT_EQ(history.epochs.size(), 1U);
  EXPECT_LT(history.epochs[0].train.samples, 400);
  EXPECT_EQ(history.epochs[0].test.samples, 400);
}

// ---- the ring itself

class Ring : public ::testing::Test {
 protected:
  static constexpr std::uint64_t kBatch = 3;
  static constexpr std::size_t kSlots = 2;

  /// Records of one number, which is their position + `base`.
  static BatchStream::Fill numbers(std::int32_t base) {
    return [base](std::uint64_t position, std::uint64_t count, std::span<std::byte* const> to) {
      std::vector<std::int32_t> values(count);
      std::iota(values.begin(), values.end(), base + static_cast<std::int32_t>(position));
      std::memcpy(to[0], values.data(), count * sizeof(std::int32_t));
    };
  }
  std::vector<std::int32_t> slot(std::size_t index, std::uint64_t count = kBatch) const {
    std::vector<std::int32_t> values(count);
    copy(values.data(), stream_->data(0) + index * kBatch * sizeof(std::int32_t),
         count * sizeof(std::int32_t));
    return values;
  }

  const MachineGuard machine_;
  Model model_ = cuda_model(two_numbers());
  const std::size_t without_ = device_bytes();
  std::unique_ptr<BatchStream> stream_ = model_.state().backend->stream_batches(
      {.record_bytes = {sizeof(std::int32_t)}, .batch = kBatch, .slots = kSlots});
};

using Numbers = std::vector<std::int32_t>;

TEST_F(Ring, BringsBatchesInOrder) {
  stream_->start(8, numbers(100));
  for (std::int32_t batch = 0; batch < 3; ++batch) {
    const std::size_t at = stream_->acquire();
    EXPECT_EQ(at, static_cast<std::size_t>(batch) % kSlots);
    const std::int32_t first = 100 + 3 * batch;
    EXPECT_EQ(slot(at, 2), (Numbers{first, first + 1}));
    stream_->release();
  }
}

TEST_F(Ring, ASlotIsOverwrittenOnlyBehindItsStep) {
  std::promise<void> filled;
  const BatchStream::Fill fill = numbers(0);
  stream_->start(9,
                 [&](std::uint64_t position, std::uint64_t count, std::span<std::byte* const> to) {
                   fill(position, count, to);
                   if (position == 6) filled.set_value();
                 });
  EXPECT_EQ(stream_->acquire(), 0U);
  EXPECT_EQ(stream_->acquire(), 1U);
  filled.get_future().wait();  // the third batch is in pinned memory, and its slot in use
  EXPECT_EQ(slot(0), (Numbers{0, 1, 2}));
  EXPECT_EQ(slot(1), (Numbers{3, 4, 5}));
  stream_->release();
  EXPECT_EQ(stream_->acquire(), 0U);
  EXPECT_EQ(slot(0), (Numbers{6, 7, 8}));
  EXPECT_EQ(slot(1), (Numbers{3, 4, 5}));
}

TEST_F(Ring, APassCanBeGivenUp) {
  stream_->start(30, numbers(0));
  stream_->acquire();
  stream_->release();
  stream_->start(30, numbers(50));
  const std::size_t at = stream_->acquire();
  EXPECT_EQ(slot(at), (Numbers{50, 51, 52}));
}

TEST_F(Ring, WhatTheThreadThrowsComesOut) {
  stream_->start(9, [](std::uint64_t position, std::uint64_t, std::span<std::byte* const>) {
    if (position == 3) throw Error("no more data");
  });
  stream_->acquire();
  stream_->release();
  EXPECT_THROW(stream_->acquire(), Error);
}

TEST_F(Ring, GivesItsMemoryBack) {
  EXPECT_EQ(stream_->bytes(), kSlots * kBatch * sizeof(std::int32_t));
  stream_->start(30, numbers(0));
  stream_.reset();
  EXPECT_EQ(device_bytes(), without_);
}

}  // namespace
}  // namespace linnet::testing
