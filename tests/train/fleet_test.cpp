// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <linnet/linnet.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "data_sets.h"
#include "message_of.h"

namespace linnet::testing {
namespace {

/// Samples of some shape; the target is a smooth function of them.
Dataset samples(std::int64_t count, const Shape& shape) {
  std::vector<float> x;
  std::vector<float> y;
  for (std::int64_t n = 0; n < count; ++n) {
    double sum = 0;
    for (std::int64_t i = 0; i < shape.elements(); ++i) {
      x.push_back(static_cast<float>(std::sin(0.7 * static_cast<double>(n * 13 + i * 5))));
      sum += x.back() * static_cast<double>(i % 3);
    }
    y.push_back(static_cast<float>(std::tanh(sum)));
  }
  return data_of(records(std::move(x), shape), records(std::move(y), {1}));
}

struct Case {
  std::string name;
  Network network;
};

std::vector<Case> cases() {
  return {{"table", Network({8}, {Dense{.units = 16}, ReLU{}, Dropout{.rate = 0.2},
                                  Dense{.units = 16}, ReLU{}, Dense{.units = 1}})},
          {"images", Network({8, 8, 1}, {Conv2d{.filters = 4, .kernel = 3}, BatchNorm{}, ReLU{},
                                         Flatten{}, Dense{.units = 1}})},
          {"GRU", Network({6, 3}, {GRU{.units = 8}, Dense{.units = 1}})}};
}

std::vector<Objective> rates(std::initializer_list<double> all) {
  std::vector<Objective> objectives;
  for (const double rate : all) objectives.push_back({.optimizer = Adam{.learning_rate = rate}});
  return objectives;
}

std::vector<float> weights_of(const Model& model) {
  std::vector<float> all;
  for (const auto& [name, value] : model.weights()) {
    const std::vector<float> values = vector_of(value);
    all.insert(all.end(), values.begin(), values.end());
  }
  return all;
}

TEST(Fleet, MembersHaveTheBitsThatTheyHaveAlone) {
  const std::vector<std::uint64_t> seeds{3, 8, 5};
  for (const Case& one : cases()) {
    const Dataset data = samples(70, one.network.input_shape());
    const auto [training, validation] = data.split(0.3, {.seed = 1});
    const FitOptions fit{.epochs = 3, .batch = 16, .validation = validation};
    for (const std::optional<std::uint64_t> shared : {std::optional<std::uint64_t>(), {11}}) {
      for (const int threads : {1, 2, 4}) {
        SCOPED_TRACE(one.name + (shared ? " shared " : " own ") + std::to_string(threads));
        const std::vector<Objective> objectives = rates({0.01, 0.002, 0.03});
        Fleet fleet(
            one.network, 3,
            {.seeds = seeds, .data_seed = shared, .objectives = objectives, .threads = threads});
        const FleetHistory history = fleet.fit(training, fit);
        const std::vector<Evaluation> evaluations = fleet.evaluate(validation);
        for (std::size_t k = 0; k < 3; ++k) {
          Model alone(one.network, {.device = "cpu", .threads = 2, .seed = seeds[k]});
          Trainer trainer(alone, objectives[k], {.seed = shared.value_or(seeds[k])});
          const History solo = trainer.fit(training, fit);
          EXPECT_EQ(weights_of(fleet.member(static_cast<std::int64_t>(k))), weights_of(alone));
          ASSERT_EQ(history.members[k].epochs.size(), 3U);
          EXPECT_EQ(history.members[k].epochs[2].step_losses, solo.epochs[2].step_losses);
          EXPECT_EQ(history.members[k].epochs[2].validation.loss, solo.epochs[2].validation.loss);
          EXPECT_EQ(evaluations[k].loss, trainer.evaluate(validation).loss);
          EXPECT_EQ(history.failures[k], "");
        }
      }
    }
  }
}

TEST(Fleet, TwoFitsAreOne) {
  const Network network = cases().front().network;
  const Dataset data = samples(50, {8});
  Fleet once(network, 2);
  once.fit(data, {.epochs = 5, .batch = 16});
  Fleet twice(network, 2);
  twice.fit(data, {.epochs = 3, .batch = 16});
  twice.fit(data, {.epochs = 2, .batch = 16});
  for (const std::int64_t k : {0, 1}) {
    EXPECT_EQ(weights_of(once.member(k)), weights_of(twice.member(k)));
  }
}

TEST(Fleet, EachMemberStopsEarlyByItsOwnNumbers) {
  const Network network = cases().front().network;
  const Dataset data = samples(60, {8});
  const auto [training, validation] = data.split(0.4, {.seed = 1});
  const FitOptions fit{.epochs = 12, .batch = 16, .validation = validation, .patience = 1};
  const std::vector<Objective> objectives = rates({1e-4, 0.5});  // slow, and wild
  Fleet fleet(network, 2, {.objectives = objectives, .threads = 2});
  const FleetHistory history = fleet.fit(training, fit);
  EXPECT_EQ(history.members[0].epochs.size(), 12U);
  EXPECT_LT(history.members[1].epochs.size(), 12U);
  EXPECT_TRUE(history.members[1].stopped_early);
  EXPECT_FALSE(history.members[0].stopped_early);
}

TEST(Fleet, AMemberThatIsNotFiniteStopsAloneAndIsNamed) {
  const Network network = cases().front().network;
  const Dataset data = samples(40, {8});
  Fleet fleet(network, 3,
              {.seeds = {4, 5, 6},
               .objectives = {{.optimizer = SGD{.learning_rate = 0.01}},
                              {.optimizer = SGD{.learning_rate = 1e30}},
                              {.optimizer = SGD{.learning_rate = 0.01}}}});
  const FleetHistory history = fleet.fit(data, {.epochs = 4, .batch = 8});
  EXPECT_EQ(history.failures[0], "");
  EXPECT_EQ(history.failures[1].find("member 1 (seed 5): the "), 0U) << history.failures[1];
  EXPECT_EQ(history.failures[2], "");
  EXPECT_EQ(history.members[2].epochs.size(), 4U);

  const std::vector<Evaluation> evaluations = fleet.evaluate(data);
  EXPECT_TRUE(std::isnan(evaluations[1].loss));
  EXPECT_EQ(evaluations[1].samples, 0);
  EXPECT_TRUE(std::isfinite(evaluations[2].loss));

  const Tensor all = fleet.predict_members(data);
  const std::vector<float> values = vector_of(all);
  EXPECT_TRUE(std::all_of(values.begin() + 40, values.begin() + 80,
                          [](float value) { return std::isnan(value); }));
  const std::vector<float> mean = vector_of(fleet.predict(data));
  EXPECT_EQ(mean[7], static_cast<float>((double{values[7]} + double{values[87]}) / 2));

  const FleetHistory later = fleet.fit(data, {.epochs = 1, .batch = 8});
  EXPECT_TRUE(later.members[1].epochs.empty());
  EXPECT_EQ(later.failures[1], history.failures[1]);
  EXPECT_EQ(later.members[0].epochs.size(), 1U);

  Fleet wild(network, 2, {.objectives = {{.optimizer = SGD{.learning_rate = 1e30}}}});
  const std::string message = message_of([&] { wild.fit(data, {.epochs = 4, .batch = 8}); });
  EXPECT_EQ(message.find("every member of the fleet has failed, the first one: member 0"), 0U)
      << message;
}

TEST(Fleet, PredictsMeanMembersAndQuantiles) {
  const Network network = cases().front().network;
  const Dataset data = samples(20, {8});
  Fleet fleet(network, 5);
  const Tensor all = fleet.predict_members(data, 7);
  EXPECT_EQ(all.shape(), Shape({5, 20, 1}));
  const std::vector<float> values = vector_of(all);
  const std::vector<float> quantiles =
      vector_of(fleet.predict_quantiles(data, {0, 0.5, 0.625, 1}, 7));
  ASSERT_EQ(quantiles.size(), 80U);
  const std::vector<float> mean = vector_of(fleet.predict(data, 7));
  for (std::size_t i = 0; i < 20; ++i) {
    std::vector<float> one;
    double sum = 0;
    for (std::size_t k = 0; k < 5; ++k) {
      one.push_back(values[k * 20 + i]);
      sum += one.back();
      EXPECT_EQ(one.back(),
                vector_of(fleet.member(static_cast<std::int64_t>(k)).predict(data, 7))[i]);
    }
    std::sort(one.begin(), one.end());
    EXPECT_EQ(mean[i], static_cast<float>(sum / 5));
    EXPECT_EQ(quantiles[i], one[0]);
    EXPECT_EQ(quantiles[20 + i], one[2]);
    EXPECT_FLOAT_EQ(quantiles[40 + i], 0.5F * (one[2] + one[3]));
    EXPECT_EQ(quantiles[60 + i], one[4]);
  }
}

TEST(Fleet, TakesModelsInAndGivesThemOut) {
  const Network network = cases().front().network;
  const Dataset data = samples(30, {8});
  const Model first(network, {.device = "cpu", .threads = 1, .seed = 21});
  const Model second(network, {.device = "cpu", .threads = 1, .seed = 22});
  const std::vector<float> before = weights_of(first);
  Fleet fleet({first, second});
  EXPECT_EQ(weights_of(fleet.member(0)), before);
  fleet.fit(data, {.batch = 16});
  EXPECT_EQ(weights_of(first), before);  // the fleet has copies
  EXPECT_NE(weights_of(fleet.member(0)), before);
}

TEST(Fleet, RefusesWhatItCannotDo) {
  const Network network = cases().front().network;
  const Dataset data = samples(30, {8});
  EXPECT_EQ(message_of([&] { Fleet(network, 0); }),
            "expected at least one member of a fleet; got 0");
  EXPECT_EQ(message_of([&] {
              Fleet(network, 3, {.seeds = {1, 2}});
            }),
            "expected 3 seeds, one for each member; got 2");
  EXPECT_EQ(message_of([&] {
              Fleet(network, 3, {.objectives = rates({1, 2})});
            }),
            "expected one objective, or 3, one for each member; got 2");
  const Model other(Network({8}, {Dense{.units = 12}, Dense{.units = 1}}), {.device = "cpu"});
  EXPECT_EQ(message_of([&] {
              Fleet({Model(network, {.device = "cpu"}), other});
            }),
            "member 1 of the fleet has another network than member 0: 'dense_1.weight' (12, 8); "
            "expected 'dense_1.weight' (16, 8)");
  Fleet fleet(network, 4);
  EXPECT_EQ(message_of([&] { fleet.member(4); }), "expected a member from 0 to 3; got 4");
  EXPECT_EQ(message_of([&] { fleet.predict_quantiles(data, {1.5}); }),
            "expected quantiles from 0 to 1; got 1.5");
  LogCallback log([](std::string_view) {});
  EXPECT_NE(message_of([&] { fleet.fit(data, {.callback = &log}); }), "");
  EXPECT_EQ(message_of([&] { fleet.best(1); }),
            "no weights of a best epoch are kept; set FitOptions::keep_best");
  EXPECT_EQ(message_of([&] { fleet.best(4); }), "expected a member from 0 to 3; got 4");
  const std::string limit = message_of([&] { fleet.fit(data, {.memory_limit = 1 << 16}); });
  EXPECT_NE(limit.find("members fit"), std::string::npos) << limit;
}

}  // namespace
}  // namespace linnet::testing
