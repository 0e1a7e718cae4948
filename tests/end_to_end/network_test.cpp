// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "fixtures.h"

namespace linnet::testing {
namespace {

std::string network_error(Shape sample, std::vector<Layer> layers) {
  try {
    Network(std::move(sample), std::move(layers));
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(Network, MnistCnnIsThePublishedOne) {
  const Network network = zoo::mnist_cnn();
  EXPECT_EQ(network.parameters(), 31530);
  EXPECT_EQ(network.input_shape(), (Shape{28, 28, 1}));
  EXPECT_EQ(network.output_shape(), Shape{10});
  const NetworkSummary summary = summarize(network, 128);
  EXPECT_EQ(summary.parameters, 31530);
  // conv 2 * 784 * 144 and dense 2 * 31360, then what is element-wise.
  EXPECT_GE(summary.flops_per_sample, 288512);
  EXPECT_LT(summary.flops_per_sample, 1.2 * 288512);
  EXPECT_GT(summary.train_peak_bytes, summary.predict_peak_bytes);
}

TEST(Network, JsonKeepsEverything) {
  for (const Network& network : {zoo::mnist_cnn(), every_layer()}) {
    const Network read = Network::from_json(network.to_json());
    EXPECT_EQ(read.to_json(), network.to_json());
    EXPECT_EQ(read.parameters(), network.parameters());
    EXPECT_EQ(read.output_shape(), network.output_shape());
    const Dataset data = make_digits(4, 0, 1).train;
    if (network.input_shape() != data.sample_shape) continue;
    Model first(network, {.seed = 4});
    Model second(read, {.seed = 4});
    EXPECT_EQ(first.predict(data), second.predict(data));
  }
}

TEST(Network, DamagedJsonIsAnErrorOrANetwork) {
  const std::string whole = every_layer().to_json();
  std::mt19937 random(1);
  for (int i = 0; i < 4000; ++i) {
    std::string text = whole;
    for (int edits = 1 + static_cast<int>(random() % 3); edits > 0; --edits) {
      const std::size_t at = random() % text.size();
      if (random() % 4 == 0) {
        text.erase(at, random() % 20);
      } else {
        text[at] = "0123456789-{}[]\",:aexnull"[random() % 25];
      }
      if (text.empty()) text = " ";
    }
    try {
      Network::from_json(text);
    } catch (const Error& error) {
      EXPECT_EQ(std::string(error.what()).find("the network description is damaged"), 0U);
    }
  }
}

TEST(Network, ErrorsNameTheLayerAndTheShapes) {
  EXPECT_EQ(network_error({3, 3, 2}, {Conv2d{.filters = 4, .kernel = 5, .name = "stem"}}),
            "[conv2d 'stem'] kernel (5, 5) is larger than the padded input (3, 3); got x=(2, 3, 3, "
            "2), w=(4, 5, 5, 2)");
  EXPECT_EQ(network_error({28, 28, 1}, {Dense{.units = 10}}),
            "[dense 'dense_1'] expected (N, features); got (2, 28, 28, 1): put Flatten before it");
  EXPECT_EQ(network_error({7}, {Conv2d{.filters = 4}}),
            "[conv2d 'conv2d_1'] expected images (N, H, W, C); got (2, 7)");
  EXPECT_EQ(network_error({4, 4, 3}, {Conv2d{.filters = 4, .groups = 2}}),
            "[conv2d 'conv2d_1'] expected groups that divide 3 channels and 4 filters; got 2");
  EXPECT_EQ(network_error({4, 4, 3}, {Reshape{.sample = {7}}}),
            "[reshape 'reshape_1'] expected a shape of 48 elements for samples of (4, 4, 3); got "
            "(7)");
  EXPECT_EQ(network_error({}, {}), "expected a network input of at least one element; got ()");
}

TEST(Network, PaddingSameKeepsTheSize) {
  for (std::int64_t size : {5, 6, 7, 8}) {
    for (std::int64_t stride : {1, 2, 3}) {
      const Network network({size, size, 1}, {Conv2d{.filters = 2,
                                                     .kernel = 3,
                                                     .stride = stride,
                                                     .padding = Padding2d::same()}});
      const std::int64_t out = (size + stride - 1) / stride;
      EXPECT_EQ(network.output_shape(), (Shape{out, out, 2}));
    }
  }
}

double deviation(const std::vector<float>& values) {
  double sum = 0;
  double squares = 0;
  for (float v : values) {
    sum += v;
    squares += static_cast<double>(v) * v;
  }
  const auto n = static_cast<double>(values.size());
  return std::sqrt(std::max(squares / n - sum / n * (sum / n), 0.0));
}

TEST(Initializer, HasItsDocumentedSpread) {
  using Kind = Initializer::Kind;
  const auto spread = [](Kind kind, double value = 0) {
    Model model(Network({300}, {Dense{.units = 200, .weight_init = {kind, value}, .name = "d"}}));
    return deviation(model.parameter("d.weight"));
  };
  EXPECT_NEAR(spread(Kind::glorot_uniform), std::sqrt(2.0 / 500), 4e-4);
  EXPECT_NEAR(spread(Kind::glorot_normal), std::sqrt(2.0 / 500), 4e-4);
  EXPECT_NEAR(spread(Kind::he_uniform), std::sqrt(2.0 / 300), 4e-4);
  EXPECT_NEAR(spread(Kind::he_normal), std::sqrt(2.0 / 300), 4e-4);
  EXPECT_NEAR(spread(Kind::uniform, 0.3), 0.3 / std::sqrt(3.0), 2e-3);
  EXPECT_NEAR(spread(Kind::normal, 0.3), 0.3, 2e-3);
  EXPECT_EQ(spread(Kind::constant, 0.3), 0);
}

TEST(Initializer, AConvolutionsFansCountItsKernel) {
  Model model(Network({9, 9, 16}, {Conv2d{.filters = 64, .kernel = 5, .name = "c"}}));
  EXPECT_NEAR(deviation(model.parameter("c.weight")), std::sqrt(2.0 / (25 * (16 + 64))), 3e-4);
}

}  // namespace
}  // namespace linnet::testing
