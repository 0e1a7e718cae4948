// SPDX-License-Identifier: Apache-2.0
// Second derivatives in C files, beside the model's own and finite differences.
#include <gtest/gtest.h>
#include <linnet/c_export.h>
#include <linnet/linnet.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "compiled_c.h"
#include "message_of.h"

namespace linnet::testing {
namespace {

std::size_t elements(const Shape& shape) { return static_cast<std::size_t>(shape.elements()); }

/// Compares those of the first output at one point with the model's, and if the network has no
/// bends with differences of the Jacobian that the file computes.
void expect_hessian(const Model& model, bool smooth = true) {
  const Compiled program(model, {.name = "both", .jacobian = true, .hessian = true});
  const Shape sample = model.network().input_shape();
  const std::size_t inputs = elements(sample);
  const std::size_t slopes = elements(model.network().output_shape()) * inputs;
  const std::vector<float> at = numbers(sample.elements());
  std::vector<float> found(slopes * inputs);
  // The second call finds what the first one left in memory.
  for (int i = 0; i < 2; ++i) program.hessian(at.data(), found.data());
  Model own = model;
  const Tensor wanted = own.hessian(Dataset({{"x", Tensor(at, sample.batched(1))}}));
  ASSERT_EQ(found.size(), wanted.as<float>().size());
  double largest = 0;
  for (const float one : found) largest = std::max<double>(largest, std::abs(one));
  ASSERT_GT(largest, 0);
  constexpr float kStep = 1.0F / 128;
  for (std::size_t k = 0; k < inputs; ++k) {
    const auto [above, below] =
        both_sides(at, k, kStep, slopes,
                   [&](const float* input, float* output) { program.jacobian(input, output); });
    for (std::size_t i = 0; i < slopes; ++i) {
      const std::size_t place = i * inputs + k;
      EXPECT_NEAR(found[place], wanted.as<float>()[place], 1e-5 * largest) << place;
      if (!smooth) continue;
      const double rounding = 2e-6 * std::abs(above[i]) / kStep;
      EXPECT_NEAR(found[place], (above[i] - below[i]) / (2 * kStep), 3e-3 * largest + rounding)
          << place;
    }
  }
}

TEST(CHessian, OfPerceptrons) {
  expect_hessian(
      model_of(Network({4}, {Rescale{0.5}, Dense{.units = 9}, Tanh{}, Dropout{},
                             Dense{.units = 7, .bias = false}, Sigmoid{}, Dense{.units = 3}})));
}

TEST(CHessian, OfClasses) {
  expect_hessian(model_of(Network({4}, {Dense{.units = 6}, Tanh{}, Dense{.units = 3}, Softmax{}})));
  expect_hessian(
      model_of(Network({4}, {Dense{.units = 6}, Tanh{}, Dense{.units = 3}, LogSoftmax{}})));
}

TEST(CHessian, OfActivations) {
  for (const Layer& one : std::vector<Layer>{GELU{}, GELU{.tanh_form = true}, SiLU{}, Softplus{}}) {
    expect_hessian(model_of(Network({3}, {Dense{.units = 5}, one, Dense{.units = 2}})));
  }
  const std::vector<Layer> bent{Dense{.units = 5}, ELU{},       Dense{.units = 5}, SELU{},
                                Dense{.units = 5}, HardSwish{}, Dense{.units = 1}};
  expect_hessian(model_of(Network({3}, bent)), false);
}

TEST(CHessian, OfImages) {
  expect_hessian(model_of(
      Network({2, 2, 2}, {Normalize{.mean = {0.1, 0.2}, .std = {0.1, 0.2}},
                          Conv2d{.filters = 4, .padding = Padding2d::same(), .groups = 2}, SiLU{},
                          AvgPool2d{.size = 2, .stride = 1, .padding = Padding2d::all(1)},
                          Conv2d{.filters = 2, .kernel = 2}, Tanh{}, GlobalAvgPool2d{}})));
}

TEST(CHessian, OfExpressions) {
  FunctionalNetwork f;
  const Expression x = f.input("x", {2, 2});
  const Expression narrow = slice(x, 1, 1, 2);  // (2, 1)
  const Expression y = x * narrow / (2.0 + exp(x)) - minimum(square(x), 0.25 * x + 0.1) +
                       sqrt(x + 2.0) * sin(x) + cos(x) / (x + 3.0) + erf(x) + log(x + 4.0) +
                       pow(x + 3.0, 1.5) + expm1(x) + log1p(x + 2.0) + rsqrt(x + 2.0) +
                       mean(x * x, {1}, true) * narrow;
  expect_hessian(model_of(f.build({{"y", sum(concat({y, tanh(y)}, 0), {0, 1}, true)}})));
}

TEST(CHessian, OfEachOutput) {
  FunctionalNetwork f;
  const Expression x = f.input("x", {2});
  const Model model = model_of(f.build({{"a", x * x * x}, {"b", sum(x * x, {0}, true)}}));
  const Compiled program(model, {.name = "two", .hessian = true});
  const std::vector<float> at{0.5F, -2};
  std::vector<float> a(8);
  std::vector<float> b(4);
  program.hessian(at.data(), a.data(), b.data());
  EXPECT_EQ(a, (std::vector<float>{3, 0, 0, 0, 0, 0, 0, -12}));
  EXPECT_EQ(b, (std::vector<float>{2, 0, 0, 2}));
  std::vector<float> y(2);
  std::vector<float> z(1);
  program(static_cast<const void*>(at.data()), y.data(), z.data());
  EXPECT_EQ(y, (std::vector<float>{0.125F, -8}));
}

TEST(CHessian, ModelsOfDerivativesAreWrittenAsTheyAre) {
  const Model model = model_of(Network({3}, {Dense{.units = 5}, Tanh{}, Dense{.units = 2}}));
  const Model with = model.with_derivatives("", "", true);
  const Compiled program(with, {.name = "all"});
  const std::vector<float> at = numbers(3);
  std::vector<float> y(2);
  std::vector<float> jacobian(6);
  std::vector<float> hessian(18);
  program(static_cast<const void*>(at.data()), y.data(), jacobian.data(), hessian.data());
  Model own = model;
  const Tensor wanted = own.hessian(Dataset({{"x", Tensor(at, {1, 3})}}));
  for (std::size_t i = 0; i < hessian.size(); ++i) {
    EXPECT_NEAR(hessian[i], wanted.as<float>()[i], 1e-6);
  }
}

TEST(CHessian, SaysWhatItCannotWrite) {
  const auto error = [](const Model& model, CWeights weights = CWeights::f32) {
    return message_of([&] { c_source(model, {.weights = weights, .hessian = true}); });
  };
  const Model plain = model_of(Network({3}, {Dense{.units = 2}, Tanh{}}));
  EXPECT_EQ(error(plain, CWeights::int8),
            "second derivatives are written with 32-bit weights; got 8-bit ones");
  EXPECT_TRUE(error(model_of(Network({4, 6}, {LayerNorm{}})))
                  .starts_with("[jacobian 'derivatives'] the layer 'layer_norm_1' has no"));
  EXPECT_TRUE(error(model_of(Network({4}, {Reshape{.sample = {2, 2, 1}}, UpSample2d{}})))
                  .find("cannot be written as C") != std::string::npos);
  FunctionalNetwork f;
  const Expression a = f.input("a", {3});
  const Expression b = f.input("b", {3});
  EXPECT_EQ(error(model_of(f.build({{"y", a * b}}))),
            "derivatives in C need a network with one input of numbers; got 2 of them");
  EXPECT_EQ(c_source(plain).find("hessian"), std::string::npos);
}

}  // namespace
}  // namespace linnet::testing
