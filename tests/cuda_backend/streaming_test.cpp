// SPDX-License-Identifier: Apache-2.0
// Data sets that stay in host memory: the same bits as resident ones, in the ring's order.
#include <gtest/gtest.h>

#include <cstring>
#include <future>
#include <numeric>

#include "../end_to_end/fixtures.h"
#include "model/session.h"
#include "simulated_model.h"

namespace linnet::testing {
namespace {

Network with_dropout() {
  return Network({28, 28, 1},
                 {Rescale{}, Conv2d{.filters = 3, .padding = Padding2d::same()}, ReLU{},
                  MaxPool2d{4}, Flatten{}, Dropout{.rate = 0.3}, Dense{.units = 10}});
}

Network two_numbers() { return Network({2}, {Dense{.units = 4}, Tanh{}, Dense{.units = 2}}); }

std::vector<float> weights(const Model& model) {
  std::vector<float> all;
  for (const std::string& name : model.parameter_names()) {
    const std::vector<float> values = model.parameter(name);
    all.insert(all.end(), values.begin(), values.end());
  }
  return all;
}

struct Trained {
  std::vector<float> weights;
  std::vector<double> losses;
  bool operator==(const Trained&) const = default;
};

Trained trained(Model model, const Dataset& data, const Dataset* test,
                const TrainingOptions& options) {
  const History history = train(model, data, options, test);
  Trained result{weights(model), {}};
  for (const EpochReport& epoch : history.epochs) {
    result.losses.insert(result.losses.end(),
                         {epoch.train.loss, epoch.validation.loss, epoch.test.loss});
  }
  return result;
}

/// 22 samples of 28 to train on: two full batches of 8 and a rest.
TrainingOptions options_of(bool shuffle) {
  return {.epochs = 2, .batch = 8, .optimizer = adam(1e-2), .validation = 0.2, .shuffle = shuffle};
}

TEST(Streaming, GivesTheSameBits) {
  const MachineGuard machine;
  cuda::sim::device().shuffle_seed = 11;
  const DatasetPair digits = make_digits(28, 5, 3);
  for (bool shuffle : {true, false}) {
    TrainingOptions options = options_of(shuffle);
    const Trained resident =
        trained(simulated_model(with_dropout(), {}, 5), digits.train, &digits.test, options);
    options.streamed = true;
    for (std::int64_t pool : {1, 2, 3, 5}) {
      options.pool = pool;
      EXPECT_EQ(trained(simulated_model(with_dropout(), {}, 5), digits.train, &digits.test,
                        options),
                resident)
          << "shuffle " << shuffle << ", a pool of " << pool;
    }
  }
}

TEST(Streaming, GivesTheSameBitsHoweverStepsAreLaunched) {
  const MachineGuard machine;
  const Dataset sums = sums_data(21);
  TrainingOptions options = options_of(true);
  const Trained resident = trained(simulated_model(two_numbers(), {}, 5), sums, nullptr, options);
  options.streamed = true;
  for (std::int64_t steps : {CudaOptions::kWholeEpoch, std::int64_t{0}, std::int64_t{2}}) {
    EXPECT_EQ(trained(simulated_model(two_numbers(), {.graph_steps = steps}, 5), sums, nullptr,
                      options),
              resident)
        << steps << " steps a launch";
  }
}

TEST(Streaming, TakesADataSetSmallerThanABatch) {
  const MachineGuard machine;
  const Dataset sums = sums_data(3);
  TrainingOptions options{.epochs = 3, .batch = 8};
  const Trained resident = trained(simulated_model(two_numbers(), {}, 5), sums, nullptr, options);
  options.streamed = true;
  EXPECT_EQ(trained(simulated_model(two_numbers(), {}, 5), sums, nullptr, options), resident);
}

TEST(Streaming, ChangesNothingOnTheCpu) {
  const Dataset sums = sums_data(21);
  TrainingOptions options = options_of(true);
  const auto on_cpu = [&] {
    return trained(Model(two_numbers(), {.device = "cpu", .threads = 1}), sums, nullptr, options);
  };
  const Trained resident = on_cpu();
  options.streamed = true;
  EXPECT_EQ(on_cpu(), resident);
}

TEST(Streaming, WantsABatchInThePool) {
  const MachineGuard machine;
  Model model = simulated_model(two_numbers());
  try {
    train(model, sums_data(4), {.streamed = true, .pool = 0});
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "expected a pool of at least 1 batch; got 0");
  }
}

TEST(Streaming, AStepWaitsForNothingButItsBatch) {
  const MachineGuard machine;
  Model model = simulated_model(two_numbers());
  const Dataset sums = sums_data(22);  // five batches of 4 and one of 2
  Session session(model.state());
  const StepData data = step_data(model.state().definition(), sums, {});
  BatchStream* stream = session.stream(data, 4, 3);
  ASSERT_NE(stream, nullptr);
  const OptimizerAttrs optimizer = resolve(adam(1e-2), 1, 6);
  Sweep sweep = session.add_sweep(sums.size(), 4, [&](std::int64_t batch) {
    const TrainingStep step{.batch = batch, .shuffle = false, .optimizer = optimizer};
    return training_step(model.state().definition(), data, step, session.supports());
  });
  session.attach();
  session.feed(sweep, data, *stream, true);
  const StepInfo first{.seed = 1, .epoch = 1, .records = 22, .samples = 22};
  sweep.run(first, 0, sweep.steps());
  cuda::sim::clear();
  sweep.run(first, 0, sweep.steps());
  const cuda::sim::Counters counters = cuda::sim::counters();
  EXPECT_EQ(counters.graph_launches, 6U);
  EXPECT_EQ(counters.allocations, 0U);
  EXPECT_EQ(counters.synchronizations, 6U);  // the thread's, for a pinned buffer each
  EXPECT_EQ(counters.device_to_host.count, 0U);
  EXPECT_EQ(counters.host_to_device.count, 12U);  // samples and targets
  EXPECT_EQ(counters.host_to_device.bytes, 22U * 4 * sizeof(float));
}

TEST(Streaming, PlannedBytesHoldTheRing) {
  const MachineGuard machine;
  const DatasetPair digits = make_digits(28, 0, 3);
  Model model = simulated_model(with_dropout());
  const std::size_t before = cuda::sim::allocated_bytes();
  TrainingOptions options = options_of(true);
  options.streamed = true;
  expect_planned_is_allocated(model, digits.train, options);
  EXPECT_EQ(cuda::sim::allocated_bytes(), before);
}

TEST(Streaming, AStopInAnEpochEndsTheTraining) {
  const MachineGuard machine;
  Model model = simulated_model(two_numbers());
  struct Stop : Callback {
    bool stop_requested() override { return true; }
  } stop;
  const Dataset sums = sums_data(400);
  const History history =
      train(model, sums, {.epochs = 2, .batch = 2, .streamed = true}, &sums, &stop);
  EXPECT_TRUE(history.interrupted);
  ASSERT_EQ(history.epochs.size(), 1U);
  EXPECT_LT(history.epochs[0].train.samples, 400);
  EXPECT_EQ(history.epochs[0].test.samples, 400);
}

TEST(Streaming, ADataSetThatDoesNotFitNamesTheOption) {
  const MachineGuard machine;
  const std::vector<float> samples(64 * 32 * 32 * 16, 0.5F);  // 4 MiB
  const std::vector<std::int32_t> labels(64, 1);
  Dataset data = make_dataset({32, 32, 16}, std::span<const float>(samples), labels);
  data.name = "large";
  Model model = simulated_model(Network({32, 32, 16}, {GlobalAvgPool2d{}, Dense{.units = 2}}));
  cuda::sim::device().memory = cuda::sim::allocated_bytes() + (std::size_t{3} << 20);
  TrainingOptions options{.epochs = 1, .batch = 4};
  std::string message;
  try {
    train(model, data, options);
  } catch (const Error& error) {
    message = error.what();
  }
  EXPECT_NE(message.find("; streamed (--streamed), the data set 'large' of 4.0 MiB stays in host"),
            std::string::npos)
      << message;
  options.streamed = true;
  EXPECT_NO_THROW(train(model, data, options));
  EXPECT_NO_THROW(evaluate(model, data, Loss::automatic, 4));
  EXPECT_EQ(model.predict(data, 4).size(), 128U);
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
    cudaMemcpy(values.data(), stream_->data(0) + index * kBatch * sizeof(std::int32_t),
               count * sizeof(std::int32_t), cudaMemcpyDeviceToHost);
    return values;
  }

  const MachineGuard machine_;
  Model model_ = simulated_model(two_numbers());
  const std::size_t without_ = cuda::sim::allocated_bytes();
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
  EXPECT_EQ(cuda::sim::allocated_bytes(), without_);
}

}  // namespace
}  // namespace linnet::testing
