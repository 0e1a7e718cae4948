// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstddef>
#include <filesystem>
#include <iterator>
#include <memory>
#include <thread>

#include "fixtures.h"
#include "networks/networks.h"

namespace linnet::testing {
namespace {

/// Batch norm, dropout and a last smaller batch: everything that a training keeps between epochs.
Network forgetful() {
  return Network({2}, {Dense{.units = 16}, BatchNorm{}, ReLU{}, Dropout{.rate = 0.3},
                       Dense{.units = 2}});
}

Model model_of(const Network& network) { return Model(network, {.threads = 2, .seed = 3}); }

/// Of this process.
std::ptrdiff_t running_threads() {
  return std::distance(std::filesystem::directory_iterator("/proc/self/task"), {});
}

/// Every rule, with and without what it may keep.
std::vector<Objective> optimizers() {
  return {{.optimizer = SGD{.learning_rate = 0.1}},
          {.optimizer = SGD{.learning_rate = 0.1, .momentum = 0.9, .nesterov = true}},
          {.optimizer = SGD{.learning_rate = 0.1, .momentum = 0.9}, .clip = {.norm = 0.5}},
          {.optimizer = Adam{.learning_rate = 0.01}},
          {.optimizer = AdamW{.learning_rate = 0.01}},
          {.optimizer = RMSprop{.learning_rate = 0.01}},
          {.optimizer = RMSprop{.learning_rate = 0.01, .momentum = 0.9}},
          {.optimizer = Adagrad{.learning_rate = 0.05}},
          {.optimizer = Lion{.learning_rate = 0.001}},
          {.optimizer = Muon{.learning_rate = 0.02, .normalize_weights = true}}};
}

/// Every schedule, of a length of its own.
std::vector<Schedule> schedules() {
  return {Constant{},
          StepDecay{.every_epochs = 2, .gamma = 0.3},
          CosineDecay{.epochs = 4, .floor = 0.1},
          LinearDecay{.epochs = 6},
          PolynomialDecay{.power = 2, .epochs = 5},
          OneCycle{.epochs = 5},
          Piecewise{.at = {0, 1.5, 4}, .factors = {0.2, 1, 0.1}, .epochs = 1},
          Plateau{.factor = 0.5, .patience = 0, .threshold = 0.2},
          ScheduleFunction([](double epoch, std::uint64_t step) {
            return 1 / (1 + epoch + 0.01 * static_cast<double>(step));
          })};
}

TEST(Continue, ThreeEpochsAndTwoAreFive) {
  const Dataset data = circle_data(70);
  for (Objective objective : optimizers()) {
    for (const Schedule& schedule : schedules()) {
      for (const double warmup : {0.0, 3.5}) {
        objective.schedule = schedule;
        objective.warmup = {.epochs = warmup};
        Trainer whole(model_of(forgetful()), objective, {.seed = 8});
        whole.fit(data, {.epochs = 5, .batch = 16});
        Trainer parts(model_of(forgetful()), objective, {.seed = 8});
        parts.fit(data, {.epochs = 3, .batch = 16});
        EXPECT_FALSE(same_bits(parts.state(), whole.state()));
        const History rest = parts.fit(data, {.epochs = 2, .batch = 16});
        EXPECT_TRUE(same_bits(parts.state(), whole.state()))
            << objective.optimizer.index() << ' ' << schedule.index();
        EXPECT_EQ(rest.epochs.back().epoch, 5);
        EXPECT_EQ(parts.steps(), 25U);
      }
    }
  }
}

TEST(Continue, WithAllElseThatATrainingKeeps) {
  const auto [data, validation] = datasets::digits(90, 0, 4).train.split(0.2, {.seed = 2});
  const Network network({28, 28, 1},
                        {Rescale{}, Conv2d{.filters = 2}, MaxPool2d{.size = 4}, ReLU{}, BatchNorm{},
                         Dropout{.rate = 0.2}, Flatten{}, Dense{.units = 10, .name = "fc"}});
  FitOptions options{.batch = 32, .shards = 2, .validation = validation};
  options.augment.flip = 0.5;
  options.augment.mixup = 0.2;
  for (Objective objective : optimizers()) {
    objective.schedule = Plateau{.factor = 0.5, .patience = 0, .threshold = 0.2};
    objective.clip = {.norm = 0.7, .value = 0.1};
    objective.average = {.decay = 0.9, .warmup = true};
    objective.lookahead = {.every = 4};
    objective.trains = {{.name = "fc.*", .learning_rate_factor = 0.5, .weight_decay = 0.01},
                        {.name = "conv2d_1.*"}};
    const auto trained = [&](std::initializer_list<std::int64_t> parts) {
      Trainer trainer(model_of(network), objective, {.seed = 8});
      for (const std::int64_t epochs : parts) {
        options.epochs = epochs;
        trainer.fit(data, options);
      }
      return trainer.state();
    };
    EXPECT_TRUE(same_bits(trained({3, 2}), trained({5}))) << objective.optimizer.index();
  }
}

TEST(Continue, AStateHoldsWhatPlateauRemembers) {
  const Dataset data = circle_data(70);
  const Objective objective{.optimizer = Adam{.learning_rate = 0.01},
                            .schedule = Plateau{.factor = 0.5, .patience = 0, .threshold = 0.5}};
  Trainer first(model_of(forgetful()), objective);
  first.fit(data, {.epochs = 3, .batch = 16});
  Trainer second(model_of(forgetful()), objective);
  second.load_state(first.state());
  first.fit(data, {.epochs = 2, .batch = 16});
  second.fit(data, {.epochs = 2, .batch = 16});
  EXPECT_TRUE(same_bits(second.state(), first.state()));
}

TEST(Continue, AStateGoesOnInAnotherTrainer) {
  const Dataset data = circle_data(70);
  const Objective objective{.optimizer = Adam{.learning_rate = 0.01}};
  Trainer first(model_of(forgetful()), objective, {.seed = 8});
  first.fit(data, {.epochs = 2, .batch = 16});
  const State state = first.state();
  first.fit(data, {.epochs = 1, .batch = 16});
  Trainer second(model_of(forgetful()), objective, {.seed = 8});
  second.load_state(state);
  EXPECT_TRUE(same_bits(second.state(), state));
  EXPECT_EQ(second.epochs(), 2);
  second.fit(data, {.epochs = 1, .batch = 16});
  EXPECT_TRUE(same_bits(second.state(), first.state()));
}

TEST(Continue, AStateOfAnotherTrainingIsRefusedWhole) {
  const Dataset data = circle_data(40);
  Trainer adams(model_of(forgetful()), {.optimizer = Adam{.learning_rate = 0.01}});
  Trainer plain(model_of(forgetful()), {.optimizer = SGD{.learning_rate = 0.01}});
  adams.fit(data);
  const State before = plain.state();
  EXPECT_THROW(plain.load_state(adams.state()), Error);
  EXPECT_TRUE(same_bits(plain.state(), before));
  State damaged = adams.state();
  damaged.set("model/dense_1.bias", Tensor(DType::f32, {3}));
  EXPECT_THROW(adams.load_state(damaged), Error);
  damaged = adams.state();
  damaged.set("position/steps", Tensor(std::vector<std::int64_t>{-1}, Shape{}));
  EXPECT_THROW(adams.load_state(damaged), Error);
}

TEST(Continue, StepsOfOnesOwnAreThoseOfFit) {
  const Dataset data = circle_data(70);
  const Objective objective{.optimizer = Adam{.learning_rate = 0.01}};
  for (const bool shuffle : {true, false}) {
    for (const bool drop_last : {true, false}) {
      Trainer fitted(model_of(forgetful()), objective, {.seed = 8});
      const History history =
          fitted.fit(data, {.epochs = 2, .batch = 16, .shuffle = shuffle, .drop_last = drop_last});
      Trainer stepped(model_of(forgetful()), objective, {.seed = 8});
      std::vector<float> losses;
      for (int epoch = 0; epoch < 2; ++epoch) {
        for (const Batch& batch :
             stepped.batches(data, {.size = 16, .shuffle = shuffle, .drop_last = drop_last})) {
          EXPECT_EQ(batch.epoch(), epoch + 1);
          losses.push_back(stepped.step(batch).loss());
        }
      }
      EXPECT_TRUE(same_bits(stepped.state(), fitted.state()));
      std::vector<float> expected = history.epochs[0].step_losses;
      expected.insert(expected.end(), history.epochs[1].step_losses.begin(),
                      history.epochs[1].step_losses.end());
      EXPECT_EQ(losses, expected);
    }
  }
}

TEST(Continue, EvaluationBetweenStepsChangesNothing) {
  const Dataset data = circle_data(300);
  Trainer quiet(model_of(forgetful()), {.optimizer = Adam{.learning_rate = 0.01}});
  Trainer watched(model_of(forgetful()), {.optimizer = Adam{.learning_rate = 0.01}});
  for (const Batch& batch : quiet.batches(data, {.size = 8})) quiet.step(batch);
  std::int64_t wide = 8;
  for (const Batch& batch : watched.batches(data, {.size = 8})) {
    watched.step(batch);
    wide = wide * 3 / 2;  // larger batches want a larger arena, which moves the step's
    watched.evaluate(data, wide);
    watched.gradients(batch);
    watched.model().predict(data, wide);
  }
  EXPECT_TRUE(same_bits(watched.state(), quiet.state()));
}

TEST(Continue, GradientsAreWhatAStepOfSgdSubtracts) {
  const Dataset data = circle_data(32);
  Trainer trainer(model_of(forgetful()), {.optimizer = SGD{.learning_rate = 0.5}}, {.seed = 2});
  trainer.fit(data, {.epochs = 1, .batch = 16});
  for (const Batch& batch : trainer.batches(data, {.size = 16})) {
    const State before = trainer.model().weights();
    const State gradients = trainer.gradients(batch);
    EXPECT_TRUE(same_bits(trainer.model().weights(), before));
    trainer.step(batch);
    const State after = trainer.model().weights();
    for (const auto& [name, gradient] : gradients) {
      const auto g = gradient.as<float>();
      const auto w = before[name].as<float>();
      const auto v = after[name].as<float>();
      for (std::size_t i = 0; i < g.size(); ++i) EXPECT_EQ(v[i], w[i] - 0.5F * g[i]) << name;
    }
  }
}

TEST(Continue, GradientsOfSeveralDataSetsAreTheirOwn) {
  const Dataset first = circle_data(16, 1);
  const Dataset second = circle_data(16, 2);
  Trainer trainer(model_of(forgetful()), {.optimizer = SGD{.learning_rate = 0.5}});
  const auto gradients = [&](const Dataset& data) {
    const BatchRange batches = trainer.batches(data, {.size = 16});
    return trainer.gradients(*batches.begin());
  };
  const State of_first = gradients(first);
  const State of_second = gradients(second);
  EXPECT_FALSE(same_bits(of_first, of_second));
  EXPECT_TRUE(same_bits(gradients(first), of_first));
  EXPECT_TRUE(same_bits(gradients(second), of_second));
}

TEST(Continue, FrozenParametersHaveNoGradient) {
  const Dataset data = circle_data(32);
  Trainer trainer(model_of(forgetful()), {.trains = {{.name = "dense_2.*"}}});
  const State before = trainer.model().weights();
  for (const Batch& batch : trainer.batches(data, {.size = 16})) {
    const State gradients = trainer.gradients(batch);
    ASSERT_EQ(gradients.size(), 2U);
    EXPECT_EQ(gradients.begin()->name, "dense_2.weight");
    trainer.step(batch);
  }
  for (const auto& [name, value] : trainer.model().weights()) {
    EXPECT_EQ(same_bits(value, before[name]), !name.starts_with("dense_2.")) << name;
  }
}

TEST(Continue, TheBestEpochsWeightsAreKept) {
  const Splits digits = datasets::digits(200, 100, 5);
  Trainer trainer(Model(workloads::mnist_cnn(), {.threads = 2}),
                  {.optimizer = Adam{.learning_rate = 0.02}});
  EXPECT_THROW(trainer.best(), Error);
  const History history =
      trainer.fit(digits.train,
                  {.epochs = 8, .batch = 20, .validation = digits.test, .keep_best = true});
  const auto best = std::ranges::min_element(history.epochs, {}, [](const EpochReport& epoch) {
    return epoch.validation.loss;
  });
  Model kept = trainer.best();
  EXPECT_EQ(evaluate(kept, digits.test, Loss::automatic, 20).loss, best->validation.loss);
  trainer.fit(digits.train, {.epochs = 1, .batch = 20});  // the copy is its own
  EXPECT_EQ(evaluate(kept, digits.test, Loss::automatic, 20).loss, best->validation.loss);
}

TEST(Continue, AModelIsSharedAndCopiesAreNot) {
  const Dataset data = circle_data(40);
  Model model = model_of(forgetful());
  const Model same = model;
  Model other = model.copy();
  const State before = model.weights();
  train(model, data, {.epochs = 1});
  EXPECT_TRUE(same_bits(same.weights(), model.weights()));
  EXPECT_FALSE(same_bits(before, model.weights()));
  EXPECT_TRUE(same_bits(other.weights(), before));
}

TEST(Continue, ModelsOfOneTeamShareItsThreads) {
  const Dataset data = circle_data(60);
  const State alone = [&] {
    Model model(forgetful(), {.threads = 2, .seed = 3});
    train(model, data, {.epochs = 2, .batch = 16});
    return model.weights();
  }();
  const std::shared_ptr<ThreadTeam> team = make_thread_team(2);
  const auto before = running_threads();
  std::vector<Model> models;
  for (int i = 0; i < 3; ++i) {
    models.emplace_back(forgetful(), ModelOptions{.device = "cpu", .team = team, .seed = 3});
  }
  EXPECT_EQ(running_threads(), before);
  models.push_back(models.front().copy());
  EXPECT_EQ(models.back().threads(), 2);
  std::vector<std::thread> callers;
  for (Model& model : models) {
    callers.emplace_back([&] { train(model, data, {.epochs = 2, .batch = 16}); });
  }
  for (std::thread& caller : callers) caller.join();
  for (const Model& model : models) EXPECT_TRUE(same_bits(model.weights(), alone));
}

}  // namespace
}  // namespace linnet::testing
