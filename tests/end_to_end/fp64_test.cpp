// SPDX-License-Identifier: Apache-2.0
// Models in double precision, on the CPU.
#include <gtest/gtest.h>
#include <linnet/c_export.h>
#include <linnet/linnet.h>
#include <linnet/quantize.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <numbers>
#include <string>
#include <vector>

#include "data_sets.h"
#include "message_of.h"
#include "temporary_folder.h"

namespace linnet::testing {
namespace {

using Vector = std::vector<double>;

ModelOptions in_fp64(int threads = 1) {
  return {.device = "cpu", .threads = threads, .seed = 3, .precision = Precision::fp64};
}

/// Numbers in [-1, 1] that f32 does not hold.
Vector drawn(std::size_t count, double phase = 0.4) {
  Vector values;
  for (std::size_t i = 0; i < count; ++i) {
    values.push_back(std::sin(12.9898 * static_cast<double>(i) + phase));
  }
  return values;
}

/// y = sin(3 x0) x1 and x0 + x1².
Dataset smooth_data(std::int64_t count = 100) {
  const Vector x = drawn(static_cast<std::size_t>(2 * count));
  Vector y;
  for (std::size_t i = 0; i < x.size(); i += 2) {
    y.push_back(std::sin(3 * x[i]) * x[i + 1]);
    y.push_back(x[i] + x[i + 1] * x[i + 1]);
  }
  return data_of(records(x, {2}), records(std::move(y), {2}));
}

Network smooth_network() {
  return Network({2}, {Dense{.units = 12}, Tanh{}, Dense{.units = 12}, Tanh{}, Dense{.units = 2}});
}

double largest_difference(const Tensor& a, const Vector& b) {
  const auto values = a.as<double>();
  EXPECT_EQ(values.size(), b.size());
  double most = 0;
  for (std::size_t i = 0; i < std::min(values.size(), b.size()); ++i) {
    most = std::max(most, std::abs(values[i] - b[i]));
  }
  return most;
}

TEST(Fp64, AgreesWithPyTorchInFloat64) {
  std::ifstream file(std::string(LINNET_TORCH_FIXTURES) + "/f64.json");
  const auto fixture = nlohmann::json::parse(file);
  const auto numbers = [](const nlohmann::json& json) { return json.get<Vector>(); };
  const Network network({5},
                        {Dense{.units = 20, .name = "0"}, Tanh{}, Dense{.units = 17, .name = "2"},
                         Sigmoid{}, Dense{.units = 8, .name = "4"}, ReLU{},
                         Dense{.units = 2, .name = "6"}});
  Model model(network, in_fp64());
  for (const auto& [name, values] : fixture["weights"].items()) {
    model.set_parameter(name, Tensor(numbers(values), model.parameter_shape(name)));
    EXPECT_EQ(vector_of<double>(model.parameter(name)), numbers(values)) << name;
  }
  const Dataset data =
      data_of(records(numbers(fixture["x"]), {5}), records(numbers(fixture["y"]), {2}));

  EXPECT_LT(largest_difference(model.predict(data), numbers(fixture["outputs"])), 1e-14);
  EXPECT_LT(largest_difference(model.input_gradient(data, {.index = 1}),
                               numbers(fixture["input_gradient"])),
            1e-14);
  const auto steps = static_cast<std::int64_t>(fixture["losses"].size());
  const History history = train(model, data,
                                {.epochs = steps,
                                 .batch = data.size(),
                                 .optimizer = Adam{.learning_rate = 1e-3, .epsilon = 1e-8},
                                 .shuffle = false});
  for (std::size_t i = 0; i < history.epochs.size(); ++i) {
    EXPECT_NEAR(history.epochs[i].train.loss, fixture["losses"][i].get<double>(), 1e-13) << i;
  }
  for (const auto& [name, values] : fixture["after"].items()) {
    EXPECT_LT(largest_difference(model.parameter(name), numbers(values)), 1e-12) << name;
  }
}

/// Every optimizer, shards and dropout among them.
TEST(Fp64, EqualBitsAtAnyNumberOfThreads) {
  const std::vector<Optimizer> optimizers{Adam{},    AdamW{},   SGD{.momentum = 0.9},
                                          RMSprop{}, Adagrad{}, Lion{},
                                          Muon{}};
  const Network network({2}, {Dense{.units = 64}, Tanh{}, LayerNorm{}, Dropout{.rate = 0.1},
                              Dense{.units = 64}, GELU{}, Dense{.units = 2}});
  for (std::size_t i = 0; i < optimizers.size(); ++i) {
    const auto trained = [&](int threads) {
      Model model(network, in_fp64(threads));
      TrainingOptions options{.epochs = 1, .batch = 1000, .optimizer = optimizers[i]};
      options.shards = i % 2 == 0 ? 1 : 4;
      train(model, smooth_data(3000), options);
      return model.weights();
    };
    const State one = trained(1);
    for (const int threads : {2, 4}) {
      EXPECT_TRUE(same_bits(trained(threads), one)) << "optimizer " << i << " at " << threads;
    }
  }
}

TEST(Fp64, ShardsSideBySideGiveTheBitsOfShardsInOrder) {
  const auto trained = [](bool side_by_side) {
    Model model(smooth_network(), in_fp64(4));
    TrainingOptions options{.epochs = 3, .batch = 44};
    options.shards = 4;
    options.side_by_side = side_by_side;
    train(model, smooth_data(90), options);  // the last batch has shards without rows
    return model.weights();
  };
  EXPECT_TRUE(same_bits(trained(true), trained(false)));
}

TEST(Fp64, AFileKeepsAllBits) {
  const TemporaryFolder folder;
  const auto file = folder.path() / "model.safetensors";
  Model model(smooth_network(), in_fp64());
  train(model, smooth_data(), {.epochs = 2, .batch = 20});
  model.save(file);
  const Model again = Model::load(file, {.device = "cpu"});
  EXPECT_TRUE(same_bits(again.weights(), model.weights()));
  EXPECT_EQ(again.weights().begin()->value.dtype(), DType::f64);
  EXPECT_TRUE(same_bits(Model(again).predict(smooth_data()), model.predict(smooth_data())));
  EXPECT_TRUE(same_bits(model.copy().weights(), model.weights()));

  const Model rounded = Model::load(file, {.device = "cpu", .precision = Precision::fp32});
  for (const auto& [name, value] : rounded.weights()) {
    EXPECT_TRUE(same_bits(value, model.parameter(name).to(DType::f32))) << name;
  }
  Model wide = rounded.copy(in_fp64());
  EXPECT_TRUE(same_bits(wide.parameter("dense_1.weight").to(DType::f32),
                        rounded.parameter("dense_1.weight")));
}

TEST(Fp64, AStateContinuesToTheBit) {
  const auto trainer = [] {
    Objective objective;
    objective.optimizer = Adam{};
    objective.average = {.decay = 0.9};
    objective.lookahead = {.every = 3};
    return Trainer(Model(smooth_network(), in_fp64()), objective, {.seed = 8});
  };
  const Dataset data = smooth_data();
  Trainer whole = trainer();
  whole.fit(data, {.epochs = 2, .batch = 16});
  whole.fit(data, {.epochs = 2, .batch = 16});
  Trainer first = trainer();
  first.fit(data, {.epochs = 2, .batch = 16});
  Trainer second = trainer();
  second.load_state(first.state());
  second.fit(data, {.epochs = 2, .batch = 16});
  EXPECT_TRUE(same_bits(second.state(), whole.state()));
  EXPECT_EQ(whole.state()["optimizer/moment1/dense_1.weight"].dtype(), DType::f64);
}

Objective by(const Optimizer& optimizer) {
  Objective objective;
  objective.optimizer = optimizer;
  return objective;
}

/// What double precision is for: a function that a network can be is learned to the last digits,
/// from four starts. The teacher's units bend, so that few weights give its values.
TEST(Fp64, LevenbergMarquardtGoesFarBelowFp32) {
  Model teacher(Network({2}, {Dense{.units = 3}, Tanh{}, Dense{.units = 1}}), in_fp64());
  Vector steep = drawn(6, 1.7);
  for (double& weight : steep) weight *= 2.5;
  teacher.set_parameter("dense_1.weight", Tensor(steep, {3, 2}));
  teacher.set_parameter("dense_1.bias", Tensor(drawn(3, 0.2), {3}));
  teacher.set_parameter("dense_2.weight", Tensor(drawn(3, 2.2), {1, 3}));
  const Tensor x = smooth_data().inputs()[0].exact;
  const Dataset taught = data_of(x, teacher.predict(x));
  const auto loss = [&](Precision precision, std::uint64_t seed) {
    ModelOptions options = in_fp64();
    options.precision = precision;
    options.seed = seed;
    Trainer trainer(Model(Network({2}, {Dense{.units = 4}, Tanh{}, Dense{.units = 1}}), options),
                    by(LevenbergMarquardt{}));
    return trainer.fit(taught, {.epochs = 100, .batch = 100}).epochs.back().train.loss;
  };
  for (const std::uint64_t seed : {3, 5, 7, 8}) {
    EXPECT_LT(loss(Precision::fp64, seed), 1e-30) << seed;
    EXPECT_GT(loss(Precision::fp32, seed), 1e-16) << seed;
  }
}

/// u'' = -pi² sin(pi x), 0 at both ends.
Network poisson() {
  FunctionalNetwork functional;
  const Expression x = functional.input("x", {1});
  const Expression inner =
      x | Dense{.units = 16} | Tanh{} | Dense{.units = 16} | Tanh{} | Dense{.units = 1};
  const Expression u = inner * (1 - square(x));
  const double pi = std::numbers::pi;
  const Expression residual = gradient(gradient(u, x), x) + pi * pi * sin(pi * x);
  return functional.build({{"residual", residual}, {"u", u}});
}

TEST(Fp64, LbfgsSolvesAPoissonEquationBelowFp32) {
  const std::int64_t count = 64;
  Vector points;
  for (std::int64_t i = 0; i < count; ++i) {
    points.push_back(-1 + 2 * static_cast<double>(i) / static_cast<double>(count - 1));
  }
  const Shape column{count, 1};
  const Dataset data({{.name = "x", .data = Tensor(points, column)}},
                     {{.name = "residual", .data = Tensor(Vector(64), column)}});
  const auto solved = [&](Precision precision) {
    ModelOptions options = in_fp64();
    options.precision = precision;
    Trainer trainer(Model(poisson(), options), by(Adam{}));
    const Minimum minimum =
        trainer.minimize(data,
                         {.iterations = 2000, .gradient_tolerance = 1e-12, .loss_tolerance = 0});
    const Tensor u = trainer.model().predict_all(data)[1].data.to(DType::f64);
    double worst = 0;
    for (std::size_t i = 0; i < points.size(); ++i) {
      worst = std::max(worst, std::abs(u.as<double>()[i] - std::sin(std::numbers::pi * points[i])));
    }
    return std::pair(minimum.loss, worst);
  };
  const auto [fp64, error] = solved(Precision::fp64);
  const auto [fp32, other] = solved(Precision::fp32);
  EXPECT_LT(fp64, 0.1 * fp32);
  EXPECT_LT(error, 1e-5);
  RecordProperty("fp64",
                 std::to_string(std::log10(fp64)) + " " + std::to_string(std::log10(error)));
  RecordProperty("fp32",
                 std::to_string(std::log10(fp32)) + " " + std::to_string(std::log10(other)));
}

/// Derivatives beside differences of predictions, which f32 could not tell.
TEST(Fp64, DerivativesAreThoseOfThePredictions) {
  Model model(poisson(), in_fp64());
  const double h = 1e-4;
  const Vector points{-0.7, -0.31, 0.123, 0.55, 0.9};
  const auto u = [&](double shift) {
    Vector x = points;
    for (double& value : x) value += shift;
    return vector_of<double>(model.predict_all(Dataset({{"x", records(x, {1})}}))[1].data);
  };
  const Dataset at({{"x", records(points, {1})}});
  const Vector slopes = vector_of<double>(model.input_gradient(at, {.of = "u"}));
  const Vector residuals = vector_of<double>(model.predict(at));
  const Vector less = u(-h), here = u(0), more = u(h);
  const double pi = std::numbers::pi;
  for (std::size_t i = 0; i < points.size(); ++i) {
    EXPECT_NEAR(slopes[i], (more[i] - less[i]) / (2 * h), 1e-7) << i;
    const double bend = (more[i] - 2 * here[i] + less[i]) / (h * h);
    EXPECT_NEAR(residuals[i] - pi * pi * std::sin(pi * points[i]), bend, 1e-6) << i;
  }
  EXPECT_EQ(vector_of<double>(model.jacobian(at, "x", "u")), slopes);
}

/// Constants of expressions are not rounded to f32.
TEST(Fp64, ConstantsKeepTheirDigits) {
  FunctionalNetwork functional;
  const Expression x = functional.input("x", {1});
  Model model(functional.build({{"product", x * 0.1 + 0.3}, {"reaches", x >= 0.1}}), in_fp64());
  const Vector points{0.1, 0.7};
  const auto outputs = model.predict_all(Dataset({{"x", records(points, {1})}}));
  EXPECT_EQ(vector_of<double>(outputs[0].data), (Vector{0.1 * 0.1 + 0.3, 0.7 * 0.1 + 0.3}));
  EXPECT_EQ(vector_of<double>(outputs[1].data), (Vector{1, 1}));
}

/// A reshape that cannot be a view copies.
TEST(Fp64, AnOutputAndItsReshapeAreTheSame) {
  FunctionalNetwork functional;
  const Expression y = functional.input("x", {6}) * 0.1;
  Model model(functional.build({{"plain", y}, {"rows", reshape(y, {2, 3})}}), in_fp64());
  const auto outputs = model.predict_all(Dataset({{"x", records(drawn(30), {6})}}));
  EXPECT_EQ(vector_of<double>(outputs[1].data), vector_of<double>(outputs[0].data));
}

/// Every loss of values and of labels, with its gradient.
TEST(Fp64, LossesAreThoseOfFp32) {
  const Dataset values = smooth_data(50);
  Vector answers;
  std::vector<std::int32_t> labels;
  for (const double x : drawn(100)) answers.push_back(x > 0 ? 1 : 0);
  for (const double x : drawn(50)) labels.push_back(x > 0 ? 1 : 0);
  const Tensor x = values.inputs()[0].exact;
  const Dataset classes = data_of(x, records(labels));
  const Dataset yes_or_no = data_of(x, records(answers, {2}));
  std::map<Loss, const Dataset*> cases{{Loss::mse, &values},
                                       {Loss::mae, &values},
                                       {Loss::huber, &values},
                                       {Loss::minkowski, &values},
                                       {Loss::quantile, &values},
                                       {Loss::cosine, &values},
                                       {Loss::cross_entropy, &classes},
                                       {Loss::focal, &classes},
                                       {Loss::hinge, &classes},
                                       {Loss::binary_cross_entropy, &yes_or_no}};
  for (const auto& [loss, data] : cases) {
    const auto first = [&](Precision precision) {
      ModelOptions options = in_fp64();
      options.precision = precision;
      Model model(smooth_network(), options);
      const History history = train(model, *data, {.epochs = 3, .batch = 50, .loss = loss});
      return history.epochs.back().train.loss;
    };
    EXPECT_NEAR(first(Precision::fp64), first(Precision::fp32), 1e-5)
        << loss_names()[static_cast<std::size_t>(loss)];
  }
}

TEST(Fp64, EvaluationAndPredictorsTakeBothTypes) {
  const Dataset data = smooth_data();
  Model model(smooth_network(), in_fp64());
  train(model, data, {.epochs = 1, .batch = 10});
  const Tensor exact = data.inputs()[0].exact;
  const Tensor of_exact = model.predict(exact);
  EXPECT_EQ(of_exact.dtype(), DType::f64);
  const Tensor of_rounded = model.predict(exact.to(DType::f32));
  EXPECT_FALSE(same_bits(of_exact, of_rounded));
  EXPECT_LT(largest_difference(of_rounded, vector_of<double>(of_exact)), 1e-5);
  const Predictor predictor(model);
  EXPECT_TRUE(same_bits(predictor.predict(exact), of_exact));
  const double loss = evaluate(model, data).loss;
  double sum = 0;
  for (std::size_t i = 0; i < 200; ++i) {
    const double off = of_exact.as<double>()[i] - data.targets()[0].exact.as<double>()[i];
    sum += off * off / 200;
  }
  EXPECT_NEAR(loss, sum, 1e-14);
}

TEST(Fp64, DataSetsKeepWhatWasGiven) {
  const Dataset data = smooth_data(20);
  const Tensor all = data.inputs()[0].exact;
  EXPECT_TRUE(same_bits(data.rows(3, 9).inputs()[0].exact, all.rows(3, 9)));
  const std::vector<std::int64_t> rows{7, 2};
  EXPECT_TRUE(
      same_bits(data.take(rows).targets()[0].exact.rows(1, 2), data.targets()[0].exact.rows(2, 3)));
  Column changed = data.inputs()[0];
  std::vector<float> other = vector_of(changed.data);
  other[5] += 0.5F;
  changed.data = records(other, {2});
  EXPECT_EQ(Dataset({changed}).inputs()[0].exact.elements(), 0) << "stale numbers";
  EXPECT_EQ(data_of(all.to(DType::f32), all).inputs()[0].exact.elements(), 0);
}

TEST(Fp64, OthersAreRefused) {
  const auto refused = [](const Network& network) {
    return message_of([&] { const Model model(network, in_fp64()); });
  };
  EXPECT_EQ(refused(Network({8, 8, 1}, {Conv2d{.filters = 4, .kernel = 3, .name = "stem"}})),
            "[conv2d 'stem'] does not compute in fp64, which takes dense layers, activations and "
            "expressions; expected another precision, such as fp32");
  EXPECT_TRUE(refused(Network({5, 3}, {LSTM{.units = 4, .name = "cells"}}))
                  .starts_with("[recurrent 'cells'] does not compute in fp64"));
  EXPECT_TRUE(refused(Network({5}, {Dense{.units = 4}, BatchNorm{.name = "norm"}}))
                  .starts_with("[batch_norm 'norm'] does not compute in fp64"));
  ModelOptions gpu = in_fp64();
  gpu.device = "cuda:0";
  EXPECT_EQ(message_of([&] { const Model model(smooth_network(), gpu); }),
            "the precision fp64 is for the CPU; expected the device cpu, got cuda:0");
  const Model model(smooth_network(), in_fp64());
  const TemporaryFolder folder;
  const std::string what =
      " holds f32 and the model computes in fp64; expected a model of fp32, such as its file "
      "loaded "
      "with that precision";
  EXPECT_EQ(message_of([&] { export_c(model, folder.path()); }), "C code" + what);
  EXPECT_EQ(message_of([&] { static_cast<void>(quantize(model, smooth_data())); }),
            "a quantized model" + what);
}

}  // namespace
}  // namespace linnet::testing
