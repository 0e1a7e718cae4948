// SPDX-License-Identifier: Apache-2.0
// Whole trainings on the device: the same as on the CPU, however steps are launched.
#include <algorithm>
#include <cmath>
#include <cstdint>

#include "../end_to_end/fixtures.h"
#include "../message_of.h"
#include "cuda_model.h"
#include "data/targets.h"
#include "small_trainings.h"

namespace linnet::testing {
namespace {

class CudaTraining : public OnDevice {
 protected:
  /// Trains on the CPU and on the device, and compares losses, accuracies, predictions.
  void expect_as_on_the_cpu(const Network& network, const Dataset& data, const Dataset& test,
                            const TrainingOptions& options) const {
    // Winograd's transforms cost the libraries a digit.
    const double scale = GetParam() == Engines::own ? 1 : 10;
    Model cpu(network, {.device = "cpu", .seed = 5});
    Model cuda = model(network, {}, 5);
    const History expected = train(cpu, data, options, &test);
    const History actual = train(cuda, data, options, &test);
    ASSERT_EQ(actual.epochs.size(), expected.epochs.size());
    const auto steps = static_cast<std::size_t>((data.size() + options.batch - 1) / options.batch);
    for (std::size_t e = 0; e < expected.epochs.size(); ++e) {
      const double loss = expected.epochs[e].train.loss;
      const double test_loss = expected.epochs[e].test.loss;
      EXPECT_NEAR(actual.epochs[e].train.loss, loss, scale * 1e-4 * loss) << "epoch " << e + 1;
      EXPECT_NEAR(actual.epochs[e].test.loss, test_loss, scale * 1e-4 * test_loss);
      ASSERT_EQ(actual.epochs[e].step_losses.size(), steps);
      for (std::size_t s = 0; s < steps; ++s) {
        const float step_loss = expected.epochs[e].step_losses[s];
        EXPECT_NEAR(actual.epochs[e].step_losses[s], step_loss, scale * 1e-3 * step_loss)
            << "step " << s;
      }
      if (!labels_of(data).empty()) {
        EXPECT_EQ(actual.epochs[e].train.accuracy, expected.epochs[e].train.accuracy);
      }
    }
    EXPECT_TRUE(actual.notes.empty()) << actual.notes.front();
    EXPECT_EQ(cuda.device(), "cuda");
    const std::vector<float> a = vector_of(cuda.predict(test, 4));
    const std::vector<float> b = vector_of(cpu.predict(test, 4));
    ASSERT_EQ(a.size(), b.size());
    for (std::size_t i = 0; i < a.size(); ++i) {
      EXPECT_NEAR(a[i], b[i], scale * 1e-3 * std::max(1.0F, std::abs(b[i]))) << i;
    }
  }

  std::vector<float> trained_weights(const CudaOptions& options) const {
    const Splits digits = datasets::digits(28, 0, 3);
    Model trained = model(small_cnn(), options, 5);
    train(trained, digits.train, two_epochs());
    return all_weights(trained);
  }
};
INSTANTIATE_TEST_SUITE_P(Engines, CudaTraining, ::testing::ValuesIn(tested_engines()),
                         engines_name);

TEST_P(CudaTraining, ABatchNormOfOneRowIsRefusedBeforeTheFirstStep) {
  const Network network({2}, {Dense{.units = 4}, BatchNorm{.name = "norm"}, Dense{.units = 2}});
  for (const std::int64_t batch : {1, 8}) {
    Model cuda = model(network, {}, 5);
    const std::vector<float> before = all_weights(cuda);
    const std::string message =
        message_of([&] { train(cuda, sums_data(33), {.epochs = 1, .batch = batch}); });
    EXPECT_EQ(message.find("[batch_norm 'norm'] expected more than 1 value per channel"), 0U)
        << message;
    EXPECT_EQ(all_weights(cuda), before);
  }
  Model cuda = model(network, {}, 5);
  const History history = train(cuda, sums_data(33), {.epochs = 1, .batch = 8, .drop_last = true});
  EXPECT_EQ(history.epochs[0].train.samples, 32);
}

TEST_P(CudaTraining, OfAConvolutionalNetworkFollowsTheCpu) {
  const Splits digits = datasets::digits(20, 6, 3);  // two full batches and a rest
  expect_as_on_the_cpu(small_cnn(), digits.train, digits.test, two_epochs());
}

TEST_P(CudaTraining, OfAPerceptronFollowsTheCpu) {
  const Network network({2}, {Dense{.units = 24}, Tanh{}, Dense{.units = 2}});
  for (const Optimizer& optimizer : std::initializer_list<Optimizer>{
           AdamW{.learning_rate = 1e-2},
           SGD{.learning_rate = 1e-2, .momentum = 0.9, .nesterov = true},
           RMSprop{.learning_rate = 1e-3}}) {
    TrainingOptions options = two_epochs();
    options.optimizer = optimizer;
    options.schedule = CosineDecay{};
    options.warmup = {.epochs = 0.5};
    options.clip = {.norm = 1, .value = 0.5};
    expect_as_on_the_cpu(network, sums_data(50, 1), sums_data(9, 2), options);
  }
}

TEST_P(CudaTraining, OfGroupsFollowsTheCpu) {
  const Splits digits = datasets::digits(20, 6, 3);
  TrainingOptions options = two_epochs();
  options.clip.norm = 0.5;
  options.trains = {{.name = "*.bias", .weight_decay = 0.1},
                    {.name = "dense*", .learning_rate_factor = 0.3}};  // the convolution is frozen
  expect_as_on_the_cpu(small_cnn(), digits.train, digits.test, options);
  options.trains.push_back({.name = "*", .learning_rate_factor = 0.1});
  expect_as_on_the_cpu(small_cnn(), digits.train, digits.test, options);
}

TEST_P(CudaTraining, OfSchedulesThatTheHostKnowsFollowsTheCpu) {
  TrainingOptions options = two_epochs();
  for (const Schedule& schedule :
       std::initializer_list<Schedule>{[](double epoch, std::uint64_t step) {
                                         return 1 / (1 + epoch + 0.1 * double(step));
                                       },
                                       Plateau{.factor = 0.1, .patience = 0, .threshold = 0.9},
                                       OneCycle{}, PolynomialDecay{.power = 1.5}, Piecewise{}}) {
    options.schedule = schedule;
    expect_as_on_the_cpu(two_numbers(), sums_data(50, 1), sums_data(9, 2), options);
  }
}

TEST_P(CudaTraining, OfThawedParametersFollowsTheCpu) {
  const Network network({2}, {Dense{.units = 4, .name = "a"}, Tanh{}, Dense{.units = 2}});
  std::vector<std::vector<float>> weights;
  for (const Model& one : {Model(network, {.device = "cpu", .seed = 5}), model(network, {}, 5)}) {
    Trainer trainer(one, {.optimizer = Adam{.learning_rate = 1e-2}, .average = {.decay = 0.9}});
    for (const char* trains : {"dense*", "*", "a.*", "*"}) {
      trainer.set_trains({{.name = trains}});
      trainer.fit(sums_data(50, 1), {.batch = 16});
    }
    weights.push_back(all_weights(one));
    trainer.take_average();
    EXPECT_EQ(all_weights(one), all_weights(trainer.averaged()));
  }
  for (std::size_t i = 0; i < weights[0].size(); ++i) {
    EXPECT_NEAR(weights[1][i], weights[0][i], 1e-4) << i;
  }
}

TEST_P(CudaTraining, OfAFrozenBatchNormFollowsTheCpu) {
  const Network network({28, 28, 1}, {Rescale{}, Conv2d{.filters = 4, .bias = false}, BatchNorm{},
                                      ReLU{}, MaxPool2d{4}, Flatten{}, Dense{.units = 10}});
  const Splits digits = datasets::digits(20, 6, 3);
  for (const char* first : {"conv2d*", "dense*"}) {
    TrainingOptions options = two_epochs();
    options.trains = {{.name = first}, {.name = "dense*"}};
    expect_as_on_the_cpu(network, digits.train, digits.test, options);
  }
}

TEST_P(CudaTraining, OfAResidualNetworkFollowsTheCpu) {
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
  const Splits digits = datasets::digits(20, 6, 3);
  expect_as_on_the_cpu(network, digits.train, digits.test, two_epochs());
}

/// Also in a loop of which the host sees no step.
TEST_P(CudaTraining, StopsBeforeSomethingNotFiniteHarmsAWeight) {
  const Network network({2}, {Dense{.units = 4}, BatchNorm{}, ReLU{}, Dense{.units = 2}});
  const Dataset data = sums_data(24);
  Objective objective;
  objective.optimizer = SGD{.learning_rate = 1e30, .momentum = 0.9};
  const auto trainer = [&](std::int64_t graph_steps) {
    return Trainer(model(network, {.graph_steps = graph_steps}, 5), objective, {.seed = 3});
  };
  Trainer good = trainer(0);
  good.step(*good.batches(data, {.size = 4}).begin()).loss();
  for (const std::int64_t steps : {std::int64_t{0}, std::int64_t{2}, CudaOptions::kWholeEpoch}) {
    Trainer stopped = trainer(steps);
    const std::string message = message_of([&] { stopped.fit(data, {.epochs = 2, .batch = 4}); });
    EXPECT_EQ(message.find("the output of ["), 0U) << message;
    EXPECT_NE(message.find("in epoch 1, step 1 of the training"), std::string::npos) << message;
    EXPECT_EQ(all_weights(stopped.model()), all_weights(good.model())) << steps;
  }
}

TEST_P(CudaTraining, OfSeveralShardsAStepFollowsTheCpu) {
  const Network network({2},
                        {Dense{.units = 9}, BatchNorm{}, ReLU{}, Dropout{0.3}, Dense{.units = 2}});
  const Dataset data = circle_data(50);
  Objective objective;
  objective.optimizer = SGD{.learning_rate = 0.01, .momentum = 0.9};
  objective.loss_options.class_weights = {0.3, 2};
  objective.average = {.decay = 0.8};
  std::vector<std::vector<float>> averages;
  for (const bool on_device : {false, true}) {
    Model trained =
        on_device ? model(network, {}, 5) : Model(network, {.device = "cpu", .seed = 5});
    Trainer trainer(trained, objective, {.seed = 3});
    trainer.fit(data, {.epochs = 2, .batch = 20, .shards = 4});
    averages.push_back(all_weights(trainer.averaged()));
  }
  for (std::size_t i = 0; i < averages[0].size(); ++i) {
    EXPECT_NEAR(averages[1][i], averages[0][i], 1e-4 * std::max(1.0F, std::abs(averages[0][i])))
        << i;
  }
}

TEST_P(CudaTraining, EveryWayToLaunchStepsGivesTheSameBits) {
  const std::vector<float> loop = trained_weights({});
  EXPECT_EQ(trained_weights({}), loop) << "the same once more";
  for (std::int64_t steps : {0, 1, 2, 3, 100}) {
    EXPECT_EQ(trained_weights({.graph_steps = steps}), loop) << steps << " steps a launch";
  }
}

TEST(CudaTraining, NothingStaysAllocated) {
  const MachineGuard machine;
  const auto train_once = [] {
    Model model = cuda_model(small_cnn(), {}, 5);
    train(model, datasets::digits(28, 0, 3).train, two_epochs());
  };
  const std::size_t before = device_bytes();
  train_once();
  EXPECT_EQ(device_bytes(), before);
}

}  // namespace
}  // namespace linnet::testing
