// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <linnet/linnet.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <utility>
#include <vector>

#include "data_sets.h"
#include "message_of.h"
#include "temporary_folder.h"
#include "weights.h"

namespace linnet::testing {
namespace {

TEST(Jacobian, HoldsTheGradientsOfAllElements) {
  Model model(Network({2, 3}, {Flatten{}, Dense{.units = 4}, Tanh{}, Reshape{.sample = {2, 2}}}),
              {.device = "cpu", .seed = 7});
  const Dataset data({{"x", records(std::vector<float>{0.1F, -0.4F, 0.3F, 0.9F, 0.2F, -0.7F,  //
                                                       0.5F, 0.6F, -0.1F, 0.4F, -0.8F, 0.2F},
                                    {2, 3})}},
                     {});
  const Tensor jacobian = model.jacobian(data);
  ASSERT_EQ(jacobian.shape(), Shape({2, 2, 2, 2, 3}));
  const std::vector<float> y = vector_of(model.predict(data));
  const std::vector<float> w = parameter(model, "dense_1.weight");
  for (std::size_t row = 0; row < 2; ++row) {
    for (std::size_t element = 0; element < 4; ++element) {
      const double t = y[row * 4 + element];
      for (std::size_t k = 0; k < 6; ++k) {
        EXPECT_NEAR(jacobian.as<float>()[(row * 4 + element) * 6 + k],
                    (1 - t * t) * w[element * 6 + k], 1e-6);
      }
    }
  }
}

TEST(Jacobian, IsByTheNamedInputOfTheNamedOutput) {
  FunctionalNetwork functional;
  const Expression a = functional.input("a", {1});
  const Expression b = functional.input("b", {1});
  Model model(functional.build({{"y", tanh(3 * a - 2 * b)}, {"z", a * 1}}), {.device = "cpu"});
  const Dataset data({{"a", records(std::vector<float>{0, 1}, {1})},
                      {"b", records(std::vector<float>{0, 1.5F}, {1})}},
                     {});
  EXPECT_EQ(vector_of(model.jacobian(data, "b", "y")),
            vector_of(model.input_gradient(data, {.by = "b", .of = "y"})));
  EXPECT_EQ(vector_of(model.jacobian(data, "a", "z")), (std::vector<float>{1, 1}));
  EXPECT_EQ(message_of([&] { model.jacobian(data, "c"); }),
            "the network has no input 'c'; it has 'a', 'b'");
}

constexpr std::int64_t kPointRows = 3;
constexpr std::int64_t kPointFeatures = 4;

Dataset points(const std::vector<float>& x) {
  return Dataset({{"x", records(x, {kPointFeatures})}}, {});
}

std::vector<float> some_points() {
  std::vector<float> x;
  for (int i = 0; i < kPointRows * kPointFeatures; ++i)
    x.push_back(std::sin(1.7F * static_cast<float>(i)));
  return x;
}

Model smooth() {
  return Model(Network({kPointFeatures}, {Dense{.units = 6}, Tanh{}, Dropout{}, Dense{.units = 5},
                                          SiLU{}, Dense{.units = 2}}),
               {.device = "cpu", .seed = 4});
}

/// Compares derivatives (N, values, features) with differences of `f`, which gives (N, values): of
/// the fourth order, as f32 has few digits.
void expect_differences(const std::vector<float>& derivatives,
                        const std::function<Tensor(const Dataset&)>& f) {
  const std::vector<float> at = some_points();
  const double h = 0.04;
  const auto moved = [&](std::size_t feature, double by) {
    std::vector<float> x = at;
    for (std::size_t row = 0; row < kPointRows; ++row) {
      x[row * kPointFeatures + feature] += static_cast<float>(by);
    }
    return vector_of(f(points(x)));
  };
  for (std::size_t feature = 0; feature < kPointFeatures; ++feature) {
    const auto up = moved(feature, h);
    const auto down = moved(feature, -h);
    const auto far_up = moved(feature, 2 * h);
    const auto far_down = moved(feature, -2 * h);
    ASSERT_EQ(derivatives.size(), up.size() * kPointFeatures);
    for (std::size_t i = 0; i < up.size(); ++i) {
      const double difference = (8.0 * (up[i] - down[i]) - (far_up[i] - far_down[i])) / (12 * h);
      EXPECT_NEAR(derivatives[i * kPointFeatures + feature], difference, 5e-5)
          << "value " << i << ", feature " << feature;
    }
  }
}

TEST(Jacobian, AgreesWithDifferences) {
  Model model = smooth();
  const Dataset at = points(some_points());
  expect_differences(vector_of(model.jacobian(at)),
                     [&](const Dataset& x) { return model.predict(x); });
}

TEST(Hessian, AgreesWithDifferencesOfTheJacobian) {
  Model model = smooth();
  const Tensor hessian = model.hessian(points(some_points()));
  EXPECT_EQ(hessian.shape(), Shape({kPointRows, 2, kPointFeatures, kPointFeatures}));
  expect_differences(vector_of(hessian), [&](const Dataset& x) { return model.jacobian(x); });
}

TEST(Hessian, IsZeroWhereSlopesStay) {
  for (const Layer& activation : {Layer(ReLU{}), Layer(Reshape{.sample = {6}})}) {
    Model model(Network({kPointFeatures}, {Dense{.units = 6}, activation, Dense{.units = 1}}),
                {.device = "cpu"});
    const Tensor hessian = model.hessian(points(some_points()));
    EXPECT_EQ(vector_of(hessian), std::vector<float>(kPointRows * kPointFeatures * kPointFeatures));
  }
}

TEST(Hessian, IsByTheNamedInputOfTheNamedOutput) {
  FunctionalNetwork functional;
  const Expression a = functional.input("a", {1});
  const Expression b = functional.input("b", {2});
  Model model(functional.build({{"y", a}, {"z", sum(a * square(b), {0})}}), {.device = "cpu"});
  const Dataset data({{"a", records(std::vector<float>{3}, {1})},
                      {"b", records(std::vector<float>{5, 7}, {2})}},
                     {});
  EXPECT_EQ(vector_of(model.hessian(data, "b", "z")), (std::vector<float>{6, 0, 0, 6}));
  EXPECT_EQ(vector_of(model.hessian(data, "a", "z")), (std::vector<float>{0}));
}

TEST(Hessian, SaysWhatHasNone) {
  const auto refusal = [](const Shape& sample, std::vector<Layer> layers) {
    Model model(Network(sample, std::move(layers)), {.device = "cpu"});
    return message_of([&] {
      model.hessian(Dataset({{"x", Tensor(DType::f32, sample.batched(2))}}));
    });
  };
  EXPECT_EQ(
      refusal({3}, {BatchNorm{}}),
      "[jacobian 'derivatives'] the layer 'batch_norm_1' has no derivative that a network may "
      "hold: its gradient is 'batch_norm_grad'");
  EXPECT_EQ(refusal({100, 50}, {Flatten{}, Dense{.units = 1}}),
            "the Hessian of an output (1) by an input (100, 50) would take more than 4096 backward "
            "passes");
  EXPECT_EQ(refusal({2, 2, 2, 2}, {Rescale{}}),
            "the Hessian of an output (2, 2, 2, 2) by an input (2, 2, 2, 2) would have more than 8 "
            "dims");
}

TEST(WithDerivatives, IsAModelOfItsOwn) {
  Model model = smooth();
  const Dataset at = points(some_points());
  const Model with = model.with_derivatives("", "", true);
  const TemporaryFolder folder;
  const std::filesystem::path file = folder.path() / "with.safetensors";
  with.save(file);
  const Predictor predictor(Model::load(file, {.device = "cpu"}));
  State given;
  given.set("input", first_input(at));
  const State found = predictor.predict(given);
  EXPECT_EQ(vector_of(*found.find("output")), vector_of(model.predict(at)));
  const auto expect_near = [](const Tensor& a, const Tensor& b) {
    ASSERT_EQ(a.shape(), b.shape());
    for (std::size_t i = 0; i < a.as<float>().size(); ++i) {
      EXPECT_NEAR(a.as<float>()[i], b.as<float>()[i], 1e-6);
    }
  };
  expect_near(*found.find("jacobian"), model.jacobian(at));
  expect_near(*found.find("hessian"), model.hessian(at));
  EXPECT_EQ(message_of([&] { with.with_derivatives(); }),
            "the network has an output 'jacobian' already");
  EXPECT_EQ(message_of([&] { model.with_derivatives("z"); }),
            "the network has no input 'z'; it has 'input'");
}

}  // namespace
}  // namespace linnet::testing
