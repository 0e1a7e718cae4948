// SPDX-License-Identifier: Apache-2.0
// Trainings as the simulator sees them: launches, waits, memory, and a device that can do less.
#include <string>
#include <vector>

#include "simulated_model.h"
#include "small_trainings.h"

namespace linnet::testing {
namespace {

std::vector<float> trained_weights(const CudaOptions& options, History* history = nullptr) {
  const Splits digits = datasets::digits(28, 0, 3);
  Model model = cuda_model(small_cnn(), options, 5);
  const History h = train(model, digits.train, two_epochs());
  if (history != nullptr) *history = h;
  return all_weights(model);
}

TEST(SimulatedTraining, ADeviceThatCannotLoopSaysSoAndGoesOn) {
  const MachineGuard machine;
  const std::vector<float> loop = trained_weights({});
  cuda::sim::device().conditional_nodes = false;
  History history;
  EXPECT_EQ(trained_weights({}, &history), loop);
  ASSERT_EQ(history.notes.size(), 1U);
  EXPECT_NE(history.notes[0].find("cannot loop over steps"), std::string::npos) << history.notes[0];
}

TEST(SimulatedTraining, ADeviceThatCannotLoopIsAnErrorWhereALoopIsRequired) {
  const MachineGuard machine;
  const CudaOptions required{.graph_required = true};
  EXPECT_NO_THROW(trained_weights(required));
  cuda::sim::device().conditional_nodes = false;
  try {
    trained_weights(required);
    FAIL() << "expected an error";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(),
                 "the device cannot loop over steps ([CUDA] creating a loop's condition: operation "
                 "not supported (cudaErrorNotSupported)), but --graph "
                 "(CudaOptions::graph_required) needs it; without it: 16 steps a launch instead");
  }
}

TEST(SimulatedTraining, WorkThatRunsLateGivesTheSameBits) {
  const MachineGuard machine;
  const std::vector<float> prompt = trained_weights({});
  cuda::sim::device().lazy = true;
  for (const std::int64_t steps : {CudaOptions::kWholeEpoch, std::int64_t{0}, std::int64_t{2}}) {
    EXPECT_EQ(trained_weights({.graph_steps = steps}), prompt) << steps << " steps a launch";
  }
}

TEST(SimulatedTraining, OneLaunchAndOneWaitAnEpoch) {
  const MachineGuard machine;
  const Splits digits = datasets::digits(24, 0, 3);  // three full batches
  const auto counts = [&](std::int64_t epochs) {
    Model model = cuda_model(small_cnn());
    cuda::sim::clear();
    TrainingOptions options = two_epochs();
    options.epochs = epochs;
    train(model, digits.train, options);
    return cuda::sim::counters();
  };
  const cuda::sim::Counters two = counts(2);
  const cuda::sim::Counters three = counts(3);
  EXPECT_EQ(three.graph_launches - two.graph_launches, 1U);
  EXPECT_EQ(three.while_rounds - two.while_rounds, 3U);
  // The counters are cleared before an epoch; they and the steps' losses are read after it.
  EXPECT_EQ(three.synchronizations - two.synchronizations, 3U);
  EXPECT_EQ(three.allocations, two.allocations);
}

/// Rounds of eight steps, and what is left one by one, all in one launch.
TEST(SimulatedTraining, ARoundOfTheLoopIsSeveralSteps) {
  const MachineGuard machine;
  const auto counts = [](std::int64_t samples) {
    const Splits digits = datasets::digits(samples, 0, 3);
    Model model = cuda_model(small_cnn());
    TrainingOptions options = two_epochs();
    options.batch = 1;
    options.epochs = 1;
    cuda::sim::clear();
    train(model, digits.train, options);
    return cuda::sim::counters();
  };
  EXPECT_EQ(counts(20).while_rounds, 2U + 4U);
  EXPECT_EQ(counts(16).while_rounds, 2U);
  EXPECT_EQ(counts(20).graph_launches, counts(16).graph_launches);
  EXPECT_EQ(counts(1).while_rounds, 0U) << "one step is a plain graph";
  EXPECT_EQ(counts(1).graph_launches, counts(16).graph_launches);
}

/// Convolutions, batch norms and dense layers, whose weights' gradients are computed beside the
/// rest.
Network branching() {
  const Conv2d conv{.filters = 4, .padding = Padding2d::same(), .bias = false};
  return Network({28, 28, 1}, {Rescale{}, Conv2d{.filters = 4, .stride = 4}, ReLU{},
                               Residual{.body = {conv, BatchNorm{}, ReLU{}, conv, BatchNorm{}}},
                               ReLU{}, Flatten{}, Dense{.units = 12}, Tanh{}, Dense{.units = 10}});
}

TEST(SimulatedTraining, BranchesGiveTheSameBitsInAnyOrder) {
  const MachineGuard machine;
  const Splits digits = datasets::digits(20, 0, 3);
  const auto learned = [&](std::int64_t graph_steps) {
    return trained(cuda_model(branching(), {.graph_steps = graph_steps}, 5), digits, two_epochs());
  };
  const Trained in_order = learned(CudaOptions::kWholeEpoch);
  for (const std::uint64_t seed : {1, 2, 3}) {
    reorder_threads(seed);  // and nodes of graphs that no edge orders
    EXPECT_EQ(learned(CudaOptions::kWholeEpoch), in_order) << seed;
  }
  reorder_threads(0);
  cuda::sim::device().lazy = true;  // what does not wait comes late
  EXPECT_EQ(learned(0), in_order);
}

TEST(SimulatedTraining, PlannedBytesAreAllThatIsAllocated) {
  const MachineGuard machine;
  const Splits digits = datasets::digits(28, 0, 3);
  Model model = cuda_model(small_cnn());
  expect_planned_is_allocated(model, digits.train, two_epochs());
}

TEST(SimulatedTraining, ABatchThatDoesNotFitNamesOneThatDoes) {
  const MachineGuard machine;
  const Splits digits = datasets::digits(512, 0, 3);
  Model model = cuda_model(small_cnn());
  cuda::sim::device().memory = cuda::sim::allocated_bytes() + (std::size_t{4} << 20);
  TrainingOptions options = two_epochs();
  options.batch = 512;
  std::string message;
  try {
    train(model, digits.train, options);
  } catch (const Error& error) {
    message = error.what();
  }
  EXPECT_NE(message.find("a batch of 512 needs"), std::string::npos) << message;
  EXPECT_NE(message.find("'conv2d_1' f32 (512, 28, 28, 4)"), std::string::npos) << message;
  const std::size_t at = message.find("--batch ");
  ASSERT_NE(at, std::string::npos) << message;
  options.batch = std::stoll(message.substr(at + 8));
  options.epochs = 1;
  EXPECT_NO_THROW(train(model, digits.train, options)) << message;
}

}  // namespace
}  // namespace linnet::testing
