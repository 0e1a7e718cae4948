// SPDX-License-Identifier: Apache-2.0
// Muon: which weights are matrices, a step against one in double precision, bits and refusals.
#include "model/muon.h"

#include <gtest/gtest.h>
#include <linnet/expression.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "fixtures.h"
#include "message_of.h"
#include "model/update_options.h"

namespace linnet::testing {
namespace {

std::vector<std::string> matrices_of(const Network& network) {
  const NetworkDefinition& definition = network.definition();
  const std::vector<bool> matrices = weight_matrices(definition);
  std::vector<std::string> names;
  for (std::size_t i = 0; i < matrices.size(); ++i) {
    if (matrices[i]) names.push_back(definition.parameters[i].name);
  }
  return names;
}

TEST(Muon, TakesDenseLayersAndConvolutionsInOneGroup) {
  EXPECT_EQ(matrices_of(every_layer()),
            (std::vector<std::string>{"conv2d_1.weight", "conv2d_2.weight", "dense_1.weight",
                                      "dense_2.weight"}));
  const Network images({8, 8, 2}, {Conv2d{.filters = 4, .kernel = 3, .name = "whole"},
                                   Conv2d{.filters = 4, .groups = 2, .name = "groups"},
                                   ConvTranspose2d{.filters = 3, .kernel = 2, .name = "up"},
                                   BatchNorm{}, Flatten{}, Dense{.units = 2, .name = "fc"}});
  EXPECT_EQ(matrices_of(images),
            (std::vector<std::string>{"whole.weight", "up.weight", "fc.weight"}));
  const Network custom(
      {4}, {CustomLayer{"tied", [](const Expression& x, LayerWeights& weights) {
                          const Expression own = weights.add("own", {4, 4});
                          const Expression used_twice = weights.add("used_twice", {4, 4});
                          const MatmulOptions rows{.transpose_b = true};
                          return matmul(matmul(x, own, rows), used_twice, rows) + sum(used_twice);
                        }}});
  EXPECT_EQ(matrices_of(custom), std::vector<std::string>{"tied_1.own"});
}

/// Newton and Schulz in double precision, on rows.
std::vector<double> orthogonal(std::vector<double> x, std::size_t rows, std::size_t columns) {
  double norm = 0;
  for (const double v : x) norm += v * v;
  for (double& v : x) v /= std::sqrt(norm);
  for (int iteration = 0; iteration < 5; ++iteration) {
    std::vector<double> gram(rows * rows);
    for (std::size_t i = 0; i < rows; ++i) {
      for (std::size_t j = 0; j < rows; ++j) {
        for (std::size_t c = 0; c < columns; ++c) {
          gram[i * rows + j] += x[i * columns + c] * x[j * columns + c];
        }
      }
    }
    std::vector<double> next(x.size());
    for (std::size_t i = 0; i < rows; ++i) {
      for (std::size_t j = 0; j < rows; ++j) {
        double square = 0;
        for (std::size_t k = 0; k < rows; ++k) square += gram[i * rows + k] * gram[k * rows + j];
        const double p = -4.7750 * gram[i * rows + j] + 2.0315 * square;
        for (std::size_t c = 0; c < columns; ++c) next[i * columns + c] += p * x[j * columns + c];
      }
    }
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = 3.4445 * x[i] + next[i];
  }
  return x;
}

Network images() {
  return Network({5, 5, 2}, {Conv2d{.filters = 4, .kernel = {2, 3}, .name = "conv"},
                             ConvTranspose2d{.filters = 3, .kernel = 2, .name = "up"}, Tanh{},
                             Flatten{}, Dense{.units = 3, .name = "fc"}});
}

Dataset image_data(std::int64_t count) {
  std::vector<float> x;
  std::vector<float> y;
  for (std::int64_t i = 0; i < count * 50; ++i) {
    x.push_back(std::sin(1.3F * static_cast<float>(i)));
  }
  for (std::int64_t i = 0; i < count * 3; ++i) {
    y.push_back(std::cos(0.7F * static_cast<float>(i)));
  }
  return Dataset({{"x", Tensor(std::move(x), {count, 5, 5, 2})}},
                 {{"y", Tensor(std::move(y), {count, 3})}});
}

std::vector<double> doubles(const Tensor& tensor) {
  const Tensor host = tensor.to_host();
  const std::span<const float> values = host.as<float>();
  return {values.begin(), values.end()};
}

/// The first step, whose direction is the gradient's: of filters as rows, and of a transposed
/// convolution's outputs as rows, which are the columns of its weight.
TEST(Muon, AStepIsThatOfDoublePrecision) {
  for (const bool normalizes : {false, true}) {
    Objective objective{.trains = {{.name = "up.*", .learning_rate_factor = 0.5}, {.name = "*"}},
                        .loss = Loss::mse,
                        .optimizer = Muon{.learning_rate = 0.1,
                                          .normalize_weights = normalizes,
                                          .weight_decay = 0.2}};
    objective.clip.norm = 0.01;
    Trainer trainer(Model(images(), {.device = "cpu", .threads = 2, .seed = 3}), objective);
    const Dataset data = image_data(6);
    const Batch batch = *trainer.batches(data, {.size = 6}).begin();
    const State before = trainer.model().weights();
    const State gradients = trainer.gradients(batch);
    trainer.step(batch);
    struct Case {
      const char* name;
      std::size_t rows;  // of the weight as it is laid out
      double outputs;
      double rate;
    };
    for (const Case& c : {Case{"conv.weight", 4, 4, 0.1}, Case{"up.weight", 4, 12, 0.05},
                          Case{"fc.weight", 3, 3, 0.1}}) {
      std::vector<double> w = doubles(before[c.name]);
      const std::vector<double> g = doubles(gradients[c.name]);
      const double inputs = static_cast<double>(w.size()) / c.outputs;
      const std::vector<double> step = orthogonal(g, c.rows, w.size() / c.rows);
      double norm = 0;
      for (const double v : w) norm += v * v;
      const std::vector<double> after = doubles(trainer.model().weights()[c.name]);
      for (std::size_t i = 0; i < w.size(); ++i) {
        if (normalizes) w[i] *= std::sqrt(c.outputs / norm);
        w[i] *= 1 - c.rate * 0.2;
        w[i] -= c.rate * std::sqrt(std::max(1.0, c.outputs / inputs)) * step[i];
        EXPECT_NEAR(after[i], w[i], 2e-5) << c.name << ' ' << i;
      }
    }
    // AdamW's first step is its learning rate, in the gradient's direction.
    const std::vector<double> bias = doubles(before["fc.bias"]);
    const std::vector<double> later = doubles(trainer.model().weights()["fc.bias"]);
    for (std::size_t i = 0; i < bias.size(); ++i) {
      const double sign = doubles(gradients["fc.bias"])[i] > 0 ? 1 : -1;
      EXPECT_NEAR(later[i], bias[i] * (1 - 1e-3 * 0.2) - 1e-3 * sign, 1e-6);
    }
  }
}

/// Singular values come close to 1 whatever the norm; a gradient of zeros gives none.
TEST(Muon, DirectionsAreNearlyOrthogonal) {
  Objective objective{.loss = Loss::mse,
                      .optimizer = Muon{.learning_rate = 1, .iterations = 8, .weight_decay = 0}};
  Trainer trainer(Model(Network({6}, {Dense{.units = 3, .name = "d"}}),
                        {.device = "cpu", .threads = 2, .seed = 3}),
                  objective);
  const Dataset data =
      data_of(records(std::vector<float>{1, 2, 3, 4,  5, 6, 6,  1, 5, 2, 4, 3,
                                         0, 1, 0, -1, 0, 2, -3, 1, 1, 0, 1, 1},
                      {6}),
              records(std::vector<float>{1, 0, 2, 0, 1, -1, 3, 0, 0, 0, 1, 1}, {3}));
  const std::vector<float> before = parameter(trainer.model(), "d.weight");
  trainer.step(*trainer.batches(data, {.size = 4}).begin());
  const std::vector<float> after = parameter(trainer.model(), "d.weight");
  for (std::size_t i = 0; i < 3; ++i) {
    for (std::size_t j = 0; j <= i; ++j) {
      double product = 0;
      for (std::size_t c = 0; c < 6; ++c) {
        product += (after[i * 6 + c] - before[i * 6 + c]) * (after[j * 6 + c] - before[j * 6 + c]);
      }
      EXPECT_NEAR(product, i == j ? 1 : 0, 0.45) << i << ' ' << j;
    }
  }
  objective.custom_loss = [](const Expression& y, const Expression& t) {
    return square(y - t) * 0.0;
  };
  Trainer still(trainer.model().copy(), objective);
  still.step(*still.batches(data, {.size = 4}).begin());
  EXPECT_EQ(parameter(still.model(), "d.weight"), after);
}

std::vector<float> trained(int threads, std::int64_t shards,
                           std::vector<std::string> disabled = {}) {
  const Network wide({5, 5, 2}, {Conv2d{.filters = 32, .kernel = 3, .name = "conv"}, BatchNorm{},
                                 ReLU{}, Flatten{}, Dense{.units = 700}, ReLU{},
                                 Dense{.units = 500}, ReLU{}, Dense{.units = 3}});
  Trainer trainer(Model(wide, {.device = "cpu", .threads = threads, .seed = 3}),
                  {.loss = Loss::mse,
                   .optimizer = Muon{.learning_rate = 0.02, .normalize_weights = true}},
                  {.seed = 2, .disabled_passes = std::move(disabled)});
  trainer.fit(image_data(40), {.epochs = 2, .batch = 16, .shards = shards});
  return all_weights(trainer.model());
}

TEST(Muon, GivesTheSameBitsAtEveryNumberOfThreads) {
  for (const std::int64_t shards : {1, 2}) {
    const std::vector<float> one = trained(1, shards);
    for (const int threads : {2, 4}) EXPECT_EQ(trained(threads, shards), one) << threads;
  }
  EXPECT_EQ(trained(2, 1, {"collect_gradients"}), trained(2, 1));
}

TEST(Muon, KeepsOneMomentOfAMatrix) {
  Trainer trainer(Model(images(), {.device = "cpu"}),
                  {.loss = Loss::mse, .optimizer = Muon{.exclude = {"fc.*"}}});
  const State state = trainer.state();
  for (const char* entry : {"moment1/conv.weight", "moment1/conv.bias", "moment2/conv.bias",
                            "moment1/up.weight", "moment2/fc.weight"}) {
    EXPECT_NE(state.find(std::string("optimizer/") + entry), nullptr) << entry;
  }
  EXPECT_EQ(state.find("optimizer/moment2/conv.weight"), nullptr);
  EXPECT_EQ(state.find("optimizer/moment2/up.weight"), nullptr);
}

/// Weights that were to be normalised, too, are those before the step.
TEST(Muon, AStepThatIsNotFiniteChangesNoWeight) {
  Objective objective{.optimizer = Muon{.learning_rate = 0.02, .normalize_weights = true}};
  objective.custom_loss = [](const Expression& y, const Expression& t) {
    return square(y - t) + sqrt(square(y - y));  // finite, but not its gradient
  };
  Trainer trainer(Model(images(), {.device = "cpu", .threads = 2, .seed = 1}), objective);
  const std::vector<float> before = all_weights(trainer.model());
  const StepResult result = trainer.step(*trainer.batches(image_data(4), {.size = 4}).begin());
  EXPECT_NE(message_of([&] { static_cast<void>(result.loss()); }), "");
  EXPECT_EQ(all_weights(trainer.model()), before);
}

TEST(Muon, SaysWhichMatricesItNeeds) {
  const auto error = [](const Network& network, const Muon& muon,
                        std::vector<ParameterGroup> trains = {}) {
    return message_of([&] {
      resolve(TrainingOptions{.optimizer = muon, .trains = std::move(trains)}, network.definition(),
              1);
    });
  };
  EXPECT_EQ(error(images(), Muon{}), "");
  const std::string none =
      "[muon] expected the weight of a dense layer or of a convolution in one group among the "
      "parameters that train; there is none: use another optimizer, such as adamw";
  EXPECT_EQ(error(Network({4, 4, 2}, {BatchNorm{}}), Muon{}), none);
  EXPECT_EQ(error(images(), Muon{}, {{.name = "*.bias"}}), none);
  EXPECT_EQ(error(images(), Muon{.exclude = {"head.*"}}),
            "[muon] no matrix matches exclude = 'head.*'; the matrices are conv.weight, up.weight, "
            "fc.weight");
  EXPECT_EQ(error(images(), Muon{.exclude = {"*"}}),
            "[muon] expected a matrix that exclude leaves; it matches all of conv.weight, "
            "up.weight, fc.weight");
}

}  // namespace
}  // namespace linnet::testing
