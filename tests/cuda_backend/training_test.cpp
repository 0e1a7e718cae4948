// SPDX-License-Identifier: Apache-2.0
// Whole trainings on the simulated device: the same as on the CPU, however steps are launched.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "../end_to_end/fixtures.h"
#include "simulated_model.h"

namespace linnet::testing {
namespace {

Network small_cnn() {
  return Network({28, 28, 1}, {Rescale{}, Conv2d{.filters = 4, .padding = Padding2d::same()},
                               ReLU{}, MaxPool2d{4}, Flatten{}, Dense{.units = 10}});
}

std::vector<float> weights(const Model& model) {
  std::vector<float> all;
  for (const std::string& name : model.parameter_names()) {
    const std::vector<float> values = model.parameter(name);
    all.insert(all.end(), values.begin(), values.end());
  }
  return all;
}

TrainingOptions two_epochs() { return {.epochs = 2, .batch = 8, .optimizer = adam(1e-2)}; }

/// Trains on the CPU and on the simulated device, and compares losses, accuracies, predictions.
void expect_as_on_the_cpu(const Network& network, const Dataset& data, const Dataset& test,
                          const TrainingOptions& options) {
  Model cpu(network, {.device = "cpu", .seed = 5});
  Model cuda = simulated_model(network, {}, 5);
  const History expected = train(cpu, data, options, &test);
  const History actual = train(cuda, data, options, &test);
  ASSERT_EQ(actual.epochs.size(), expected.epochs.size());
  const auto steps = static_cast<std::size_t>((data.size() + options.batch - 1) / options.batch);
  for (std::size_t e = 0; e < expected.epochs.size(); ++e) {
    const double loss = expected.epochs[e].train.loss;
    EXPECT_NEAR(actual.epochs[e].train.loss, loss, 1e-4 * loss) << "epoch " << e + 1;
    EXPECT_NEAR(actual.epochs[e].test.loss, expected.epochs[e].test.loss,
                1e-4 * expected.epochs[e].test.loss);
    ASSERT_EQ(actual.epochs[e].step_losses.size(), steps);
    for (std::size_t s = 0; s < steps; ++s) {
      const float step_loss = expected.epochs[e].step_losses[s];
      EXPECT_NEAR(actual.epochs[e].step_losses[s], step_loss, 1e-3 * step_loss) << "step " << s;
    }
    if (!data.labels.empty()) {
      EXPECT_EQ(actual.epochs[e].train.accuracy, expected.epochs[e].train.accuracy);
    }
  }
  EXPECT_TRUE(actual.notes.empty()) << actual.notes.front();
  EXPECT_EQ(cuda.device(), "cuda");
  const std::vector<float> a = cuda.predict(test, 4);
  const std::vector<float> b = cpu.predict(test, 4);
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    EXPECT_NEAR(a[i], b[i], 1e-3 * std::max(1.0F, std::abs(b[i]))) << i;
  }
}

TEST(CudaTraining, OfAConvolutionalNetworkFollowsTheCpu) {
  const MachineGuard machine;
  const DatasetPair digits = make_digits(20, 6, 3);  // two full batches and a rest
  expect_as_on_the_cpu(small_cnn(), digits.train, digits.test, two_epochs());
}

TEST(CudaTraining, OfAPerceptronFollowsTheCpu) {
  const MachineGuard machine;
  const Network network({2}, {Dense{.units = 24}, Tanh{}, Dense{.units = 2}});
  for (const Optimizer& optimizer : {adamw(1e-2), sgd(1e-2, 0.9, true), rmsprop(1e-3)}) {
    TrainingOptions options = two_epochs();
    options.optimizer = optimizer;
    options.optimizer.clip_norm = 1;
    options.optimizer.schedule = {.kind = Schedule::Kind::cosine, .warmup_epochs = 0.5};
    expect_as_on_the_cpu(network, sums_data(50, 1), sums_data(9, 2), options);
  }
}

TEST(CudaTraining, OfAResidualNetworkFollowsTheCpu) {
  const MachineGuard machine;
  const Conv2d conv{.filters = 8, .padding = Padding2d::same(), .bias = false};
  Conv2d strided = conv;
  strided.stride = 2;
  const Network network(
      {28, 28, 1},
      {Rescale{}, strided, BatchNorm{}, ReLU{},
       Residual{.body = {strided, BatchNorm{}, ReLU{}, conv, BatchNorm{}},
                .shortcut = {Conv2d{.filters = 8, .kernel = 1, .stride = 2, .bias = false},
                             BatchNorm{}}},
       ReLU{}, Residual{.body = {conv, BatchNorm{}}}, ReLU{}, Dropout{0.25}, GlobalAvgPool2d{},
       Dense{.units = 10}});
  const DatasetPair digits = make_digits(20, 6, 3);
  expect_as_on_the_cpu(network, digits.train, digits.test, two_epochs());
}

std::vector<float> trained_weights(const CudaOptions& options, History* history = nullptr) {
  const DatasetPair digits = make_digits(28, 0, 3);
  Model model = simulated_model(small_cnn(), options, 5);
  const History h = train(model, digits.train, two_epochs());
  if (history != nullptr) *history = h;
  return weights(model);
}

TEST(CudaTraining, EveryWayToLaunchStepsGivesTheSameBits) {
  const MachineGuard machine;
  const std::vector<float> loop = trained_weights({});
  for (std::int64_t steps : {0, 1, 2, 3, 100}) {
    EXPECT_EQ(trained_weights({.graph_steps = steps}), loop) << steps << " steps a launch";
  }
}

TEST(CudaTraining, ADeviceThatCannotLoopSaysSoAndGoesOn) {
  const MachineGuard machine;
  const std::vector<float> loop = trained_weights({});
  cuda::sim::device().conditional_nodes = false;
  History history;
  EXPECT_EQ(trained_weights({}, &history), loop);
  ASSERT_EQ(history.notes.size(), 1U);
  EXPECT_NE(history.notes[0].find("can't loop over steps by itself"), std::string::npos)
      << history.notes[0];
}

TEST(CudaTraining, OneLaunchAndOneWaitAnEpoch) {
  const MachineGuard machine;
  const DatasetPair digits = make_digits(24, 0, 3);  // three full batches
  const auto counts = [&](std::int64_t epochs) {
    Model model = simulated_model(small_cnn());
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
  // The counters are cleared before an epoch; they and the steps' losses are read behind it.
  EXPECT_EQ(three.synchronizations - two.synchronizations, 3U);
  EXPECT_EQ(three.allocations, two.allocations);
}

TEST(CudaTraining, NothingStaysAllocated) {
  const MachineGuard machine;
  const std::size_t before = cuda::sim::allocated_bytes();
  trained_weights({});
  EXPECT_EQ(cuda::sim::allocated_bytes(), before);
}

TEST(CudaTraining, PlannedBytesAreAllThatIsAllocated) {
  const MachineGuard machine;
  const DatasetPair digits = make_digits(28, 0, 3);
  Model model = simulated_model(small_cnn());
  expect_planned_is_allocated(model, digits.train, two_epochs());
}

TEST(CudaTraining, ABatchThatDoesNotFitNamesOneThatDoes) {
  const MachineGuard machine;
  const DatasetPair digits = make_digits(512, 0, 3);
  Model model = simulated_model(small_cnn());
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
