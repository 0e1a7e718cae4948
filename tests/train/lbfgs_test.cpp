// SPDX-License-Identifier: Apache-2.0
#include "train/lbfgs.h"

#include <gtest/gtest.h>
#include <linnet/linnet.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "lines.h"
#include "message_of.h"
#include "weights.h"

namespace linnet::testing {
namespace {

/// Rosenbrock's function of N variables; least, 0, at (1, ..., 1).
double rosenbrock(std::span<const double> x, std::span<double> gradient) {
  std::ranges::fill(gradient, 0);
  double value = 0;
  for (std::size_t i = 0; i + 1 < x.size(); ++i) {
    const double a = x[i + 1] - x[i] * x[i];
    const double b = 1 - x[i];
    value += 100 * a * a + b * b;
    gradient[i] -= 400 * x[i] * a + 2 * b;
    gradient[i + 1] += 200 * a;
  }
  return value;
}

// SciPy's L-BFGS-B (1.17, maxcor 10, ftol 1e-9) takes 36, 24 and 71 iterations from here, and
// torch.optim.LBFGS with "strong_wolfe" 35, 27 and 76.
TEST(Lbfgs, MinimisesRosenbrocksFunctionAsFastAsOthers) {
  struct Case {
    std::vector<double> from;
    std::size_t iterations;
    std::int64_t evaluations;
  };
  for (const Case& c : {Case{{-1.2, 1}, 36, 44}, Case{{1.3, 0.7, 0.8, 1.9, 1.2}, 24, 26},
                        Case{{-1.2, 1, -1.2, 1, -1.2, 1, -1.2, 1, -1.2, 1}, 71, 88}}) {
    std::vector<double> x = c.from;
    const Minimum minimum = minimize(rosenbrock, x, {.iterations = 500});
    EXPECT_LT(minimum.loss, 1e-9);
    for (const double value : x) EXPECT_NEAR(value, 1, 1e-4);
    EXPECT_LE(minimum.losses.size() - 1, c.iterations * 5 / 4);
    EXPECT_LE(minimum.evaluations, c.evaluations * 5 / 4);
    EXPECT_TRUE(std::is_sorted(minimum.losses.rbegin(), minimum.losses.rend()));
    std::vector<double> gradient(x.size());
    EXPECT_EQ(rosenbrock(x, gradient), minimum.loss);
  }
}

TEST(Lbfgs, StepsFulfilTheStrongWolfeConditions) {
  std::vector<double> x{-1.2, 1};
  std::vector<double> before = x;
  for (int i = 0; i < 12; ++i) {  // each call is one line search
    std::vector<double> old_gradient(2), new_gradient(2);
    const double old_value = rosenbrock(before, old_gradient);
    const LBFGS options{.iterations = 1, .curvature = 0.4};
    EXPECT_EQ(minimize(rosenbrock, x, options).reason, MinimumReason::iterations);
    const double new_value = rosenbrock(x, new_gradient);
    double old_slope = 0, new_slope = 0;
    for (std::size_t k = 0; k < 2; ++k) {
      old_slope += old_gradient[k] * (x[k] - before[k]);
      new_slope += new_gradient[k] * (x[k] - before[k]);
    }
    EXPECT_LE(new_value, old_value + 1e-4 * old_slope);
    EXPECT_LE(std::abs(new_slope), 0.4 * std::abs(old_slope));
    before = x;
  }
}

TEST(Lbfgs, SaysWhyItEnds) {
  std::vector<double> at_least{1, 1};
  const Minimum there = minimize(rosenbrock, at_least, {});
  EXPECT_EQ(there.reason, MinimumReason::small_gradient);
  EXPECT_EQ(there.evaluations, 1);
  std::vector<double> x{-1.2, 1};
  EXPECT_EQ(minimize(rosenbrock, x, {.iterations = 3}).reason, MinimumReason::iterations);
  // Its gradient points the wrong way: nothing is lower.
  double last = 0;
  const auto wrong = [&](std::span<const double> at, std::span<double> gradient) {
    last = at[0];
    gradient[0] = -2 * at[0];
    return at[0] * at[0];
  };
  std::vector<double> one{1};
  EXPECT_EQ(minimize(wrong, one, {}).reason, MinimumReason::no_lower_loss);
  EXPECT_EQ(one, std::vector<double>{1});
  EXPECT_EQ(last, 1);
  EXPECT_EQ(to_string(MinimumReason::no_lower_loss), "the line search found no lower loss");
}

TEST(Lbfgs, StepsBackFromWhereTheFunctionIsNotFinite) {
  // -log(x) + x, least at 1; not defined below 0, where the first steps from 30 lead.
  const auto barrier = [](std::span<const double> x, std::span<double> gradient) {
    gradient[0] = 30 * (1 - 1 / x[0]);
    return 30 * (x[0] - std::log(x[0]));
  };
  std::vector<double> x{0.01};
  EXPECT_LT(minimize(barrier, x, {}).loss, 30.001);
  EXPECT_NEAR(x[0], 1, 1e-3);
}

TEST(Lbfgs, RefusesBadOptions) {
  const auto refusal = [](const LBFGS& options) {
    return message_of([&] {
      std::vector<double> x{0, 0};
      minimize(rosenbrock, x, options);
    });
  };
  EXPECT_EQ(refusal({.iterations = 0}), "[lbfgs] expected iterations to be at least 1; got 0");
  EXPECT_EQ(refusal({.history = 0}), "[lbfgs] expected history to be at least 1; got 0");
  EXPECT_EQ(refusal({.curvature = 1}),
            "[lbfgs] expected 0 < sufficient decrease < curvature < 1 (Wolfe conditions); got "
            "0.0001 and 1");
  EXPECT_EQ(message_of([] {
              std::vector<double> x{NAN, 0};
              minimize(rosenbrock, x, {});
            }),
            "[lbfgs] expected a finite loss and gradient at the start; the loss is nan");
}

/// 24 points, 9 of them 1 and the others 0: not separable.
Dataset two_classes() {
  const std::vector<float> t{0, 0, 1, 0, 1, 0, 1, 0, 0, 1, 0, 1,
                             0, 1, 0, 0, 0, 0, 1, 0, 1, 0, 1, 0};
  return data_of(first_input(line_data(24)), records(t, {1}));
}

Trainer logistic_regression() {
  Model model(Network({2}, {Dense{.units = 1, .name = "d"}}), {.device = "cpu", .seed = 3});
  set_parameter(model, "d.weight", {0, 0});
  Objective objective;
  objective.loss = Loss::binary_cross_entropy;
  objective.loss_options.l2 = 0.01;
  return Trainer(model, objective);
}

// The minimum of mean binary cross-entropy + 0.01 |w|² by SciPy's L-BFGS-B in double precision:
// (3.14571732, -0.42582613), bias -0.51501631, loss 0.3268035, in 10 iterations.
TEST(Minimize, FindsTheMinimumOfALogisticRegression) {
  for (const std::int64_t batch : {0, 7}) {
    Trainer trainer = logistic_regression();
    const Minimum minimum = trainer.minimize(two_classes(), {.batch = batch});
    EXPECT_NEAR(minimum.loss, 0.3268035, 1e-6);
    EXPECT_LE(minimum.losses.size(), 16U);
    const std::vector<float> weight = parameter(trainer.model(), "d.weight");
    EXPECT_NEAR(weight[0], 3.14571732, 5e-3);
    EXPECT_NEAR(weight[1], -0.42582613, 5e-3);
    EXPECT_NEAR(parameter(trainer.model(), "d.bias")[0], -0.51501631, 5e-3);
    EXPECT_EQ(trainer.steps(), 0U);
    EXPECT_EQ(trainer.model().training_record().loss, "binary_cross_entropy");
    const double penalty = 0.01 * (weight[0] * weight[0] + weight[1] * weight[1]);
    EXPECT_NEAR(trainer.evaluate(two_classes()).loss + penalty, minimum.loss, 1e-6);
  }
}

TEST(Minimize, LeavesFrozenWeightsAlone) {
  Model model(Network({2},
                      {Dense{.units = 6, .name = "a"}, Tanh{}, Dense{.units = 1, .name = "b"}}),
              {.device = "cpu", .seed = 3});
  const std::vector<float> before = parameter(model, "a.weight");
  Objective objective;
  objective.trains = {{.name = "b.*"}};
  Trainer trainer(model, objective);
  const Minimum minimum = trainer.minimize(line_data(24), {.iterations = 20});
  EXPECT_LT(minimum.loss, 0.1 * minimum.losses.front());
  EXPECT_EQ(parameter(model, "a.weight"), before);
}

TEST(Minimize, RefusesLossesThatWeighSamplesInSeveralBatches) {
  Dataset data = two_classes();
  std::vector<float> weights(24, 1);
  weights[0] = 3;
  data.set_weights(Tensor(std::move(weights)));
  EXPECT_EQ(
      message_of([&] { logistic_regression().minimize(data, {.batch = 7}); }),
      "[lbfgs] expected LBFGS::batch = 0 (all samples) for a loss that weights samples or labels");
  EXPECT_EQ(message_of([&] { logistic_regression().minimize(data, {.iterations = 2}); }), "");
}

TEST(Minimize, RefusesRunningStatistics) {
  Trainer trainer(
      Model(Network({2}, {Dense{.units = 4}, BatchNorm{.name = "n"}, Dense{.units = 1}}),
            {.device = "cpu"}));
  EXPECT_EQ(message_of([&] { trainer.minimize(line_data(24)); }),
            "[lbfgs] expected a network without running statistics; it has 'n.running_mean'");
}

TEST(Minimize, TenIterationsAndTenAreTwenty) {
  const Dataset data = line_data(24);
  const auto trainer_of = [] {
    return Trainer(Model(Network({2}, {Dense{.units = 6, .name = "a"}, Tanh{},
                                       Dense{.units = 1, .name = "b"}}),
                         {.device = "cpu", .threads = 2, .seed = 3}));
  };
  for (const std::int64_t batch : {0, 7}) {
    const LBFGS ten{.iterations = 10, .history = 4, .loss_tolerance = 0, .batch = batch};
    LBFGS twenty = ten;
    twenty.iterations = 20;
    Trainer whole = trainer_of();
    const Minimum at_once = whole.minimize(data, twenty);
    ASSERT_EQ(at_once.losses.size(), 21U);
    Trainer parts = trainer_of();
    const Minimum first = parts.minimize(data, ten);
    const State between = parts.state();
    EXPECT_EQ(between["lbfgs/steps"].shape(), (Shape{4, 25}));
    Trainer loaded = trainer_of();
    loaded.load_state(between);
    EXPECT_TRUE(same_bits(loaded.state(), between));
    for (Trainer* trainer : {&parts, &loaded}) {
      const Minimum second = trainer->minimize(data, ten);
      std::vector<double> losses = first.losses;
      losses.insert(losses.end(), second.losses.begin() + 1, second.losses.end());
      EXPECT_EQ(losses, at_once.losses);
      EXPECT_TRUE(same_bits(trainer->state(), whole.state()));
    }
  }
}

TEST(Minimize, ForgetsItsHistoryWhereOtherWeightsStand) {
  Trainer trainer = logistic_regression();
  trainer.minimize(two_classes(), {.iterations = 3});
  EXPECT_NE(trainer.state().find("lbfgs/changes"), nullptr);
  set_parameter(trainer.model(), "d.weight", {0.5F, 0.25F});
  set_parameter(trainer.model(), "d.bias", {0});
  EXPECT_EQ(trainer.state().find("lbfgs/changes"), nullptr);
  trainer.minimize(two_classes(), {.iterations = 3});
  Trainer fresh = logistic_regression();
  set_parameter(fresh.model(), "d.weight", {0.5F, 0.25F});
  set_parameter(fresh.model(), "d.bias", {0});
  fresh.minimize(two_classes(), {.iterations = 3});
  EXPECT_TRUE(same_bits(trainer.state(), fresh.state()));
}

TEST(Minimize, ADamagedHistoryIsRefused) {
  Trainer trainer = logistic_regression();
  State state = trainer.state();
  state.set("lbfgs/steps", Tensor(std::vector<double>(6, 1.0), {2, 3}));
  EXPECT_EQ(message_of([&] { trainer.load_state(state); }).substr(0, 75),
            "expected 'lbfgs/steps' and 'lbfgs/changes' as f64 (steps, variables); got f");
}

}  // namespace
}  // namespace linnet::testing
