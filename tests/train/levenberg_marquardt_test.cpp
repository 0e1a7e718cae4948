// SPDX-License-Identifier: Apache-2.0
#include "train/levenberg_marquardt/levenberg_marquardt.h"

#include <gtest/gtest.h>
#include <linnet/linnet.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "lines.h"
#include "message_of.h"
#include "temporary_folder.h"
#include "weights.h"

namespace linnet::testing {
namespace {

using Vector = std::vector<double>;

/// Numbers in [-1, 1) that are f32.
std::vector<float> drawn(std::size_t count, unsigned seed) {
  std::mt19937 engine(seed);
  std::vector<float> values(count);
  for (float& value : values) {
    value = static_cast<float>(engine() % 65536) / 32768 - 1;
  }
  return values;
}

/// 40 points of 3 features with 2 smooth values.
Dataset curve_data(std::int64_t count = 40) {
  const std::vector<float> x = drawn(static_cast<std::size_t>(count) * 3, 1);
  std::vector<float> y;
  for (std::size_t i = 0; i < x.size(); i += 3) {
    y.push_back(std::sin(2 * x[i]) + x[i + 1] * x[i + 2]);
    y.push_back(std::cos(x[i + 1]) - x[i]);
  }
  return data_of(records(x, {3}), records(std::move(y), {2}));
}

Network small_network() {
  return Network({3}, {Dense{.units = 4, .name = "a"}, Tanh{}, Dense{.units = 2, .name = "b"}});
}

Model model_of(Network network, int threads = 1) {
  return Model(std::move(network), {.device = "cpu", .threads = threads, .seed = 3});
}

Objective by(const LevenbergMarquardt& how = {}) {
  Objective objective;
  objective.optimizer = how;
  return objective;
}

/// x of a x = b, by Gauss's elimination with pivots.
Vector solved(std::vector<Vector> a, Vector b) {
  const std::size_t n = b.size();
  for (std::size_t k = 0; k < n; ++k) {
    std::size_t pivot = k;
    for (std::size_t i = k; i < n; ++i) {
      if (std::abs(a[i][k]) > std::abs(a[pivot][k])) pivot = i;
    }
    std::swap(a[k], a[pivot]);
    std::swap(b[k], b[pivot]);
    for (std::size_t i = k + 1; i < n; ++i) {
      const double factor = a[i][k] / a[k][k];
      for (std::size_t j = k; j < n; ++j) a[i][j] -= factor * a[k][j];
      b[i] -= factor * b[k];
    }
  }
  for (std::size_t i = n; i-- > 0;) {
    for (std::size_t j = i + 1; j < n; ++j) b[i] -= a[i][j] * b[j];
    b[i] /= a[i][i];
  }
  return b;
}

/// The method in double precision, told only residuals: its Jacobian is one of differences.
struct Reference {
  std::function<Vector(const Vector& w)> residuals;
  double damping = 1e-3;
  double growth = 2;

  double value(const Vector& w) const {
    double sum = 0;
    for (const double r : residuals(w)) sum += r * r;
    return sum;
  }
  void iterate(Vector& w) {
    const Vector r = residuals(w);
    std::vector<Vector> columns;
    for (std::size_t i = 0; i < w.size(); ++i) {
      constexpr double kStep = 1e-5;
      Vector up = w, down = w;
      up[i] += kStep;
      down[i] -= kStep;
      Vector column = residuals(up);
      const Vector less = residuals(down);
      for (std::size_t k = 0; k < r.size(); ++k) column[k] = (column[k] - less[k]) / (2 * kStep);
      columns.push_back(std::move(column));
    }
    const auto dot = [](const Vector& a, const Vector& b) {
      double sum = 0;
      for (std::size_t k = 0; k < a.size(); ++k) sum += a[k] * b[k];
      return sum;
    };
    for (;;) {
      std::vector<Vector> a(w.size(), Vector(w.size()));
      Vector g(w.size());
      for (std::size_t i = 0; i < w.size(); ++i) {
        for (std::size_t j = 0; j < w.size(); ++j) a[i][j] = dot(columns[i], columns[j]);
        a[i][i] += damping;
        g[i] = dot(columns[i], r);
      }
      const Vector step = solved(a, g);
      Vector to = w;
      for (std::size_t i = 0; i < w.size(); ++i) to[i] -= step[i];
      const double predicted = dot(step, g) + damping * dot(step, step);
      const double gain = (value(w) - value(to)) / predicted;
      if (gain > 0) {
        damping *= std::max(1.0 / 3, 1 - std::pow(2 * gain - 1, 3));
        growth = 2;
        w = to;
        return;
      }
      damping *= growth;
      growth *= 2;
    }
  }
};

/// The residuals of small_network() on curve_data(), whose squares add up to the loss.
struct CurveResiduals {
  Dataset data = curve_data();
  Vector sample_weights = {};           ///< empty: all are 1
  std::array<double, 2> outputs{1, 1};  ///< weights
  double l2 = 0;
  double decay = 0;

  Vector operator()(const Vector& w) const {
    const std::vector<float> x = vector_of(first_input(data));
    const std::vector<float> y = vector_of(first_target(data));
    const std::size_t samples = x.size() / 3;
    Vector r;
    double sum = 0;
    for (std::size_t n = 0; n < samples; ++n) {
      sum += sample_weights.empty() ? 1 : sample_weights[n];
    }
    for (std::size_t n = 0; n < samples; ++n) {
      const double weight = sample_weights.empty() ? 1 : sample_weights[n];
      Vector hidden;
      for (std::size_t u = 0; u < 4; ++u) {
        double z = w[12 + u];
        for (std::size_t f = 0; f < 3; ++f) z += w[u * 3 + f] * double{x[n * 3 + f]};
        hidden.push_back(std::tanh(z));
      }
      for (std::size_t k = 0; k < 2; ++k) {
        double out = w[24 + k];
        for (std::size_t u = 0; u < 4; ++u) out += w[16 + k * 4 + u] * hidden[u];
        r.push_back(std::sqrt(weight / sum / 2 * outputs[k]) * (out - double{y[n * 2 + k]}));
      }
    }
    for (std::size_t i = 0; i < w.size(); ++i) {
      const bool is_matrix = i < 12 || (i >= 16 && i < 24);
      r.push_back(std::sqrt((is_matrix ? l2 : 0) + decay / 2) * w[i]);
    }
    return r;
  }
};

Vector as_vector(const Model& model) {
  const std::vector<float> weights = all_weights(model);
  return {weights.begin(), weights.end()};
}

/// Trains as the reference does, one iteration after the other.
void expect_as_reference(Trainer& trainer, const CurveResiduals& residuals, int iterations) {
  Reference reference{.residuals = residuals};
  Vector w = as_vector(trainer.model());
  for (int i = 0; i < iterations; ++i) {
    reference.iterate(w);
    const History history = trainer.fit(residuals.data, {.epochs = 1, .batch = 16});
    const Vector found = as_vector(trainer.model());
    for (std::size_t k = 0; k < w.size(); ++k) {
      EXPECT_NEAR(found[k], w[k], 2e-4 * std::max(1.0, std::abs(w[k]))) << i << " " << k;
    }
    w = found;  // so that roundings do not add up
    CurveResiduals plain = residuals;
    plain.decay = 0;
    EXPECT_NEAR(history.epochs.back().train.loss, Reference{.residuals = plain}.value(found), 1e-6);
    EXPECT_EQ(history.epochs.back().train.samples, 40);
  }
}

TEST(LevenbergMarquardt, StepsAsAReferenceInDoublePrecision) {
  Trainer trainer(model_of(small_network()), by());
  expect_as_reference(trainer, {}, 8);
}

TEST(LevenbergMarquardt, WeighsSamplesOutputsAndWeights) {
  CurveResiduals residuals{.outputs = {0.5, 3}, .l2 = 1e-3, .decay = 4e-3};
  std::vector<float> weights = drawn(40, 5);
  for (float& weight : weights) weight = std::abs(weight);
  weights[3] = 0;
  residuals.sample_weights.assign(weights.begin(), weights.end());
  residuals.data.set_weights(Tensor(std::move(weights)));
  Objective objective = by({.weight_decay = 4e-3});
  objective.loss_options = {.class_weights = {0.5, 3}, .l2 = 1e-3};
  Trainer trainer(model_of(small_network()), objective);
  expect_as_reference(trainer, residuals, 5);
}

TEST(LevenbergMarquardt, LeavesFrozenWeightsAlone) {
  Objective objective = by();
  objective.trains = {{.name = "b.*"}};
  Trainer trainer(model_of(small_network()), objective);
  const std::vector<float> before = parameter(trainer.model(), "a.weight");
  const History history = trainer.fit(curve_data(), {.epochs = 50});
  EXPECT_EQ(parameter(trainer.model(), "a.weight"), before);
  // The rest is linear: a few iterations reach its minimum, and the fit ends.
  EXPECT_TRUE(history.stopped_early);
  EXPECT_LT(history.epochs.size(), 20U);
  ASSERT_FALSE(history.notes.empty());
  EXPECT_EQ(history.notes[0], "the training ended after epoch " +
                                  std::to_string(history.epochs.size()) +
                                  ": no step of levenberg_marquardt lowers the loss");
}

TEST(LevenbergMarquardt, FitsSmoothValuesClosely) {
  Trainer trainer(model_of(Network({3}, {Dense{.units = 12}, Tanh{}, Dense{.units = 2}})), by());
  const History history = trainer.fit(curve_data(200), {.epochs = 200});
  EXPECT_LT(history.epochs.back().train.loss, 1e-5);
  for (std::size_t i = 1; i < history.epochs.size(); ++i) {
    EXPECT_LE(history.epochs[i].train.loss, history.epochs[i - 1].train.loss);
  }
}

/// Two networks that compute the same, one of them by a convolution, whose weights' derivatives are
/// found sample by sample.
TEST(LevenbergMarquardt, TakesOtherLayersSampleBySample) {
  const auto conv_network = [] {
    return Network({1, 1, 3}, {Conv2d{.filters = 4, .kernel = 1, .name = "a"}, Tanh{}, Flatten{},
                               Dense{.units = 2, .name = "b"}});
  };
  Trainer dense(model_of(small_network()), by());
  Trainer conv(model_of(conv_network()), by());
  for (const char* name : {"a.weight", "a.bias", "b.weight", "b.bias"}) {
    set_parameter(conv.model(), name, parameter(dense.model(), name));
  }
  const Dataset data = curve_data();
  const Dataset images = data_of(records(vector_of(first_input(data)), {1, 1, 3}),
                                 records(vector_of(first_target(data)), {2}));
  const double loss = dense.fit(data, {.epochs = 4}).epochs.back().train.loss;
  EXPECT_NEAR(conv.fit(images, {.epochs = 4}).epochs.back().train.loss, loss, 1e-4 * loss);
  const Vector a = as_vector(dense.model());
  const Vector b = as_vector(conv.model());
  for (std::size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i], b[i], 2e-3);
}

Network wide_network() {  // 302 weights: products of several tiles
  return Network({12}, {Dense{.units = 20}, Tanh{}, Dense{.units = 2}});
}

Dataset wide_data() {
  return data_of(records(drawn(std::size_t{150} * 12, 7), {12}),
                 records(drawn(std::size_t{150} * 2, 8), {2}));
}

TEST(LevenbergMarquardt, BitsDoNotDependOnThreads) {
  std::vector<std::vector<float>> weights;
  std::vector<Vector> dampings;  // in double precision, where the order of a sum shows
  for (const int threads : {1, 2, 5}) {
    Trainer trainer(model_of(wide_network(), threads), by());
    trainer.fit(wide_data(), {.epochs = 4, .batch = 64});
    weights.push_back(all_weights(trainer.model()));
    dampings.push_back(vector_of<double>(trainer.state()["levenberg_marquardt/damping"]));
  }
  EXPECT_EQ(dampings[0], dampings[1]);
  EXPECT_EQ(dampings[0], dampings[2]);
  EXPECT_EQ(weights[0], weights[1]);
  EXPECT_EQ(weights[0], weights[2]);
}

TEST(LevenbergMarquardt, ContinuesToTheBit) {
  const FitOptions five{.epochs = 5};
  Trainer whole(model_of(wide_network()), by());
  whole.fit(wide_data(), five);
  Trainer first(model_of(wide_network()), by());
  first.fit(wide_data(), {.epochs = 2});
  Trainer second(model_of(wide_network()), by());
  second.load_state(first.state());
  second.fit(wide_data(), {.epochs = 3});
  EXPECT_EQ(all_weights(second.model()), all_weights(whole.model()));
  EXPECT_EQ(second.epochs(), 5);
  EXPECT_EQ(second.steps(), 5U);
}

/// Asks to stop after two epochs.
class StopsAfterTwo final : public Callback {
 public:
  void on_epoch(const EpochReport& report) override { epochs_ = report.epoch; }
  bool stop_requested() override { return epochs_ == 2; }

 private:
  std::int64_t epochs_ = 0;
};

TEST(LevenbergMarquardt, ResumesFromACheckpointToTheBit) {
  const TemporaryFolder folder;
  Trainer whole(model_of(wide_network()), by());
  whole.fit(wide_data(), {.epochs = 5, .validation = wide_data()});
  StopsAfterTwo stop;
  FitOptions options{.epochs = 5, .validation = wide_data()};
  options.checkpoints = {.folder = folder / "run", .every_epoch = true};
  options.callback = &stop;
  Trainer first(model_of(wide_network()), by());
  first.fit(wide_data(), options);
  EXPECT_EQ(first.epochs(), 2);
  options.callback = nullptr;
  options.checkpoints.resume = true;
  Trainer other(model_of(wide_network()), by({.damping = 0.1}));
  EXPECT_NE(message_of([&] { other.fit(wide_data(), options); }).find("optimizer damping"),
            std::string::npos);
  Trainer second(model_of(wide_network()), by());
  const History history = second.fit(wide_data(), options);
  EXPECT_EQ(all_weights(second.model()), all_weights(whole.model()));
  EXPECT_EQ(history.epochs.size(), 5U);
}

TEST(LevenbergMarquardt, RefusesWhatIsNoSumOfSquares) {
  const auto refusal = [](Network network, const Objective& objective, FitOptions options = {},
                          Dataset data = curve_data()) {
    Trainer trainer(model_of(std::move(network)), objective);
    return message_of([&] { trainer.fit(data, options); });
  };
  Objective mae = by();
  mae.loss = Loss::mae;
  EXPECT_EQ(refusal(small_network(), mae),
            "[levenberg_marquardt] expected the loss mse, a mean of squares; the loss of 'output' "
            "is mae");
  EXPECT_EQ(refusal(Network({3}, {Dense{.units = 4}, Dropout{.rate = 0.5, .name = "drop"},
                                  Dense{.units = 2}}),
                    by()),
            "[levenberg_marquardt] expected a network that computes the same in training as in "
            "prediction; the layer 'drop' (dropout) does not: leave it out, or train by another "
            "optimizer");
  EXPECT_EQ(refusal(Network({3}, {Dense{.units = 4000}, Tanh{}, Dense{.units = 2}}), by()),
            "[levenberg_marquardt] expected at most 10000 weights that train, whose products take "
            "787.4 MiB; the network has 24002: train by another optimizer, such as adam");
  const std::string planned = refusal(small_network(), by(), {.memory_limit = 1000});
  EXPECT_NE(planned.find(" are planned for 26 weights that train; the limit is 0.0 MiB"),
            std::string::npos)
      << planned;
  EXPECT_EQ(refusal(small_network(), by(), {.shards = 2}),
            "[levenberg_marquardt] takes all samples together, in blocks of the batch size; leave "
            "out shards");
  EXPECT_EQ(refusal(small_network(), by(), {.batch = 8, .drop_last = true}),
            "[levenberg_marquardt] takes all samples together; leave out drop_last");
  Objective scheduled = by();
  scheduled.schedule = CosineDecay{};
  EXPECT_EQ(refusal(small_network(), scheduled),
            "[levenberg_marquardt] has no learning rate; leave out the schedule and the warm-up");
  Objective l1 = by();
  l1.loss_options.l1 = 0.1;
  EXPECT_EQ(refusal(small_network(), l1),
            "[levenberg_marquardt] expected no l1 penalty, only l2: its terms are squares");
  EXPECT_EQ(message_of([] { Trainer(model_of(small_network()), by({.damping = 0})); }),
            "[levenberg_marquardt] expected damping to be above 0 and finite; got 0");
  Trainer trainer(model_of(small_network()), by());
  const Dataset data = curve_data();
  const BatchRange batches = trainer.batches(data, {.size = 8});
  EXPECT_EQ(message_of([&] { trainer.step(*batches.begin()); }),
            "[levenberg_marquardt] takes all samples together; call fit() instead of step()");
}

TEST(LevenbergMarquardt, RefusesADampingThatNoTrainingHas) {
  Trainer trainer(model_of(small_network()), by());
  trainer.fit(curve_data(), {.epochs = 1});
  State state = trainer.state();
  state.set("levenberg_marquardt/damping", Tensor(Vector{-1, 2}));
  EXPECT_NE(message_of([&] { trainer.load_state(state); }).find("levenberg_marquardt/damping"),
            std::string::npos);
}

TEST(NormalEquations, SolveAsEliminationDoes) {
  ThreadTeam team(3);
  for (const std::size_t unknowns : {std::size_t{5}, std::size_t{32}, std::size_t{300}}) {
    NormalEquations equations(unknowns, team);
    equations.clear();
    const std::size_t rows = 300;
    const std::vector<float> a = drawn(rows * (unknowns + 1), 3);
    for (std::size_t begin = 0; begin < rows; begin += NormalEquations::kBlockRows) {
      const std::size_t count = std::min<std::size_t>(NormalEquations::kBlockRows, rows - begin);
      equations.add(static_cast<std::int64_t>(count), [&](std::int64_t row, std::span<double> to) {
        const auto at = (begin + static_cast<std::size_t>(row)) * (unknowns + 1);
        std::copy_n(a.begin() + static_cast<std::ptrdiff_t>(at), to.size(), to.begin());
      });
    }
    std::vector<Vector> products(unknowns, Vector(unknowns));
    Vector right(unknowns);
    Vector added(unknowns);
    for (std::size_t i = 0; i < unknowns; ++i) {
      for (std::size_t n = 0; n < rows; ++n) {
        const float* row = a.data() + n * (unknowns + 1);
        for (std::size_t j = 0; j < unknowns; ++j)
          products[i][j] += double{row[i]} * double{row[j]};
        right[i] += double{row[i]} * double{row[unknowns]};
      }
      EXPECT_NEAR(equations.diagonal(i), products[i][i], 1e-10);
      EXPECT_NEAR(equations.right_side(i), right[i], 1e-10);
      added[i] = 0.1 + 0.01 * static_cast<double>(i % 7);
      products[i][i] += added[i];
    }
    ASSERT_TRUE(equations.factorize(added));
    Vector x = right;
    equations.solve(x);
    const Vector expected = solved(products, right);
    for (std::size_t i = 0; i < unknowns; ++i) EXPECT_NEAR(x[i], expected[i], 1e-9);
    added[unknowns / 2] = -1e4;
    EXPECT_FALSE(equations.factorize(added));
  }
}

}  // namespace
}  // namespace linnet::testing
