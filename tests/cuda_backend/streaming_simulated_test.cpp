// SPDX-License-Identifier: Apache-2.0
// Streaming as the simulator sees it: what a step waits for, and memory.
#include <string>

#include "../end_to_end/fixtures.h"
#include "model/session.h"
#include "simulated_model.h"
#include "small_trainings.h"
#include "train/recipes.h"

namespace linnet::testing {
namespace {

TEST(SimulatedStreaming, AStepWaitsForNothingButItsBatch) {
  const MachineGuard machine;
  Model model = cuda_model(two_numbers());
  const Dataset sums = sums_data(22);  // five batches of 4 and one of 2
  Session session(model.state());
  const StepData data = step_data(model.state().definition(), sums, {});
  BatchStream* stream = session.stream(data, 4, 3);
  ASSERT_NE(stream, nullptr);
  const OptimizerAttrs optimizer = resolve({.optimizer = Adam{.learning_rate = 1e-2}}, 1, 6);
  const TrainingStep step{.shuffle = false, .optimizer = optimizer};
  DataPass pass = session.add_pass(sums.size(), 4,
                                   training_recipe("", model.state(), data, step,
                                                   std::make_shared<TrainingMemory>()));
  session.attach();
  session.feed(pass, data, *stream, true);
  const StepInfo first{.seed = 1, .epoch = 1, .samples = 22};
  pass.run(first, 0, pass.steps());
  cuda::sim::clear();
  pass.run(first, 0, pass.steps());
  const cuda::sim::Counters counters = cuda::sim::counters();
  EXPECT_EQ(counters.graph_launches, 6U);
  EXPECT_EQ(counters.allocations, 0U);
  EXPECT_EQ(counters.synchronizations, 6U);  // the thread's, for a pinned buffer each
  EXPECT_EQ(counters.device_to_host.count, 0U);
  EXPECT_EQ(counters.host_to_device.count, 12U);  // samples and targets
  EXPECT_EQ(counters.host_to_device.bytes, 22U * 4 * sizeof(float));
}

TEST(SimulatedStreaming, GivesTheSameBitsWhenTheDeviceIsLate) {
  const MachineGuard machine;
  const Splits sums = with_validation(sums_data(21));
  TrainingOptions options = two_epochs();
  const Trained resident = trained(cuda_model(two_numbers(), {}, 5), sums, options);
  options.streamed = true;
  cuda::sim::device().lazy = true;
  for (std::int64_t prefetch : {1, 2, 3}) {
    options.prefetch = prefetch;
    EXPECT_EQ(trained(cuda_model(two_numbers(), {}, 5), sums, options), resident)
        << prefetch << " batches ahead";
  }
}

TEST(SimulatedStreaming, PlannedBytesHoldTheRing) {
  const MachineGuard machine;
  const Splits digits = datasets::digits(28, 0, 3);
  const std::size_t before = cuda::sim::allocated_bytes();
  {
    Model model = cuda_model(with_dropout());
    TrainingOptions options = two_epochs();
    options.streamed = true;
    expect_planned_is_allocated(model, digits.train, options);
  }
  EXPECT_EQ(cuda::sim::allocated_bytes(), before);
}

TEST(SimulatedStreaming, ADataSetThatDoesNotFitNamesTheOption) {
  const MachineGuard machine;
  const std::vector<float> samples(64 * 32 * 32 * 16, 0.5F);  // 4 MiB
  const std::vector<std::int32_t> labels(64, 1);
  Dataset data = data_of(records(samples, {32, 32, 16}), records(labels));
  data.set_info({.name = "large"});
  Model model = cuda_model(Network({32, 32, 16}, {GlobalAvgPool2d{}, Dense{.units = 2}}));
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
  EXPECT_EQ(model.predict(data, 4).elements(), 128);
}

}  // namespace
}  // namespace linnet::testing
