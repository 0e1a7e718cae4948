// SPDX-License-Identifier: Apache-2.0
// C files of quantized models.
#include <gtest/gtest.h>
#include <linnet/c_export.h>
#include <linnet/linnet.h>
#include <linnet/quantize.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "compiled_c.h"
#include "message_of.h"

namespace linnet::testing {
namespace {

Tensor samples_of(const Network& network, std::int64_t count) {
  const Shape shape = network.input_shape().batched(count);
  return {numbers(shape.elements()), shape};
}

Model quantized(const Network& network) {
  return quantize(model_of(network), Dataset({{"x", samples_of(network, 16)}}));
}

/// The largest difference of a quantized network's C file from the model, by its largest output.
double difference_on_levels(const Network& network) {
  return difference(quantized(network), samples_of(network, 3));
}

// All floats are computed as by the CPU, so no level differs.
constexpr double kEqual = 1e-7;

/// Every form that is computed on levels, with sizes that fill neither a panel nor a pair.
Network residual_network() {
  return Network(
      {14, 13, 1},
      {Rescale{}, Conv2d{.filters = 9, .kernel = 3, .stride = {2, 1}}, BatchNorm{}, ReLU{},
       MaxPool2d{.size = 3, .stride = 2, .padding = Padding2d::all(1)},
       Residual{.body = {Conv2d{.filters = 9, .padding = Padding2d::same()}, BatchNorm{}}}, ReLU{},
       Residual{.body = {Conv2d{.filters = 20, .padding = Padding2d::same()}, BatchNorm{}},
                .shortcut = {Conv2d{.filters = 20, .kernel = 1}, BatchNorm{}}},
       ReLU{}, GlobalAvgPool2d{}, Dense{.units = 17}, ReLU{}, Dense{.units = 10}});
}

TEST(CLevels, ResidualNetworksAreThoseOfTheModel) {
  EXPECT_LT(difference_on_levels(residual_network()), kEqual);
  const std::string source = c_source(quantized(residual_network()));
  EXPECT_NE(source.find("in C99, with products of 8-bit integers."), std::string::npos);
  EXPECT_EQ(source.find("conv2d("), std::string::npos);
  EXPECT_EQ(source.find("dense("), std::string::npos);
}

TEST(CLevels, EveryWayOfMultiplyingGivesTheSameBits) {
  const Model model = quantized(residual_network());
  const Tensor samples = samples_of(model.network(), 3);
  std::vector<std::vector<float>> found;
  for (const char* flags : {"", "-O3 -march=native", "-U__SSE2__ -U__AVX2__"}) {
    const Compiled program(model, {}, flags);
    std::vector<float>& all = found.emplace_back();
    for (std::int64_t n = 0; n < samples.shape()[0]; ++n) {
      std::vector<float> one(10);
      program(static_cast<const void*>(samples.rows(n, n + 1).bytes().data()), one.data());
      all.insert(all.end(), one.begin(), one.end());
    }
  }
  EXPECT_EQ(found[0], found[1]);
  EXPECT_EQ(found[0], found[2]);
}

TEST(CLevels, WindowsOfAllKinds) {
  EXPECT_LT(difference_on_levels(
                Network({9, 3, 3},
                        {Conv2d{.filters = 16, .kernel = {3, 2}, .padding = Padding2d::same()},
                         ReLU{}, Conv2d{.filters = 32, .kernel = 1, .stride = 2}, ReLU{},
                         Conv2d{.filters = 5, .kernel = 1}, Flatten{}, Dense{.units = 3}})),
            kEqual);
  EXPECT_LT(difference_on_levels(Network(
                {8, 8, 2},
                {Conv2d{.filters = 4,
                        .kernel = 5,
                        .stride = 3,
                        .padding = {.mode = Padding2d::Mode::fixed, .bottom = 3, .left = 2}},
                 Tanh{}, MaxPool2d{}, Flatten{}, Dense{.units = 3, .bias = false}})),
            0.02);  // the compiler's tanh: a level more
}

TEST(CLevels, OtherLayersComputeInFloats) {
  const Network images(
      {8, 8, 6},
      {Conv2d{.filters = 6, .padding = Padding2d::same(), .groups = 6}, BatchNorm{}, ReLU{},
       Residual{.body = {Conv2d{.filters = 6, .kernel = 1}, ReLU{}, BatchNorm{}}}, ReLU{},
       Residual{
           .body = {Conv2d{.filters = 6, .padding = Padding2d::same(), .groups = 2}, BatchNorm{}}},
       ReLU{}, Conv2d{.filters = 5, .padding = Padding2d::all(2), .dilation = 2}, GELU{}, Flatten{},
       Dense{.units = 7}});
  EXPECT_LT(difference_on_levels(images), 0.02);  // sums of floats have another order: a level more
  const Network steps({5, 8}, {Dense{.units = 6}, ReLU{}, LSTM{.units = 7}, Dense{.units = 3}});
  EXPECT_LT(difference_on_levels(steps), 0.02);
}

TEST(CLevels, NumbersThatAreNotFiniteHaveTheLowestOrHighestLevel) {
  const Network network({4}, {Dense{.units = 6}, ReLU{}, Dense{.units = 2}});
  const float infinity = std::numeric_limits<float>::infinity();
  const Tensor input(std::vector<float>{std::nanf(""), infinity, -infinity, 1e30F}, Shape{1, 4});
  EXPECT_LT(difference(quantized(network), input), kEqual);
}

TEST(CLevels, FilesAreSmallerAndHaveNoDerivatives) {
  const Network network({40}, {Dense{.units = 99}, ReLU{}, Dense{.units = 99}, ReLU{},
                               Dense{.units = 10}});
  const Model model = quantized(network);
  EXPECT_LT(c_source(model).size(), c_source(model_of(network)).size() * 2 / 5);
  EXPECT_EQ(message_of([&] { c_source(model, {.jacobian = true}); }),
            "the model is quantized; derivatives are those of the one it was made of");
}

}  // namespace
}  // namespace linnet::testing
