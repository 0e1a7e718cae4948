// SPDX-License-Identifier: Apache-2.0
// Layers over volumes beside their definitions, in double precision.
#include <gtest/gtest.h>
#include <linnet/layers/conv3d.h>
#include <linnet/layers/pooling3d.h>
#include <linnet/network.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "graph/interpreter.h"
#include "message_of.h"
#include "nn/definition.h"

namespace linnet {
namespace {

using testing::message_of;
using Numbers = std::vector<double>;
using Three = std::array<std::int64_t, 3>;

constexpr std::int64_t kSamples = 2;

Numbers drawn(std::int64_t count, double phase) {
  Numbers numbers;
  for (std::int64_t i = 0; i < count; ++i) {
    numbers.push_back(std::sin(1.7 * static_cast<double>(i) + phase));
  }
  return numbers;
}

/// Returns what a network computes of two samples; parameter i is drawn(..., i).
Numbers computed(const Network& network) {
  const NetworkDefinition& definition = network.definition();
  Graph graph;
  std::vector<Value> parameters;
  const std::vector<Value> x = add_inputs(definition, graph, kSamples);
  const Value y = instantiate(definition, graph, x, kSamples, Mode::inference, parameters).front();
  Interpreter interpreter(graph);
  interpreter[x.front()].data = drawn(graph.shape(x.front()).elements(), 0.3);
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    interpreter[parameters[i]].data =
        drawn(graph.shape(parameters[i]).elements(), static_cast<double>(i));
  }
  interpreter.run({});
  return interpreter[y].data;
}

/// Windows over samples (D, H, W, C).
struct Windows {
  Three in{};
  Three kernel{};
  Three stride{1, 1, 1};
  Three dilation{1, 1, 1};
  Three before{};
  Three after{};

  std::int64_t out(std::size_t i) const {
    return (in[i] + before[i] + after[i] - (kernel[i] - 1) * dilation[i] - 1) / stride[i] + 1;
  }
  /// Calls f(result voxel, place in the window, voxel under it; -1: padding).
  template <class F>
  void each(F f) const {
    const std::int64_t results = kSamples * out(0) * out(1) * out(2);
    for (std::int64_t y = 0; y < results; ++y) {
      const Three at{y / (out(1) * out(2)) % out(0), y / out(2) % out(1), y % out(2)};
      for (std::int64_t t = 0; t < kernel[0] * kernel[1] * kernel[2]; ++t) {
        const Three tap{t / (kernel[1] * kernel[2]), t / kernel[2] % kernel[1], t % kernel[2]};
        std::int64_t voxel = y / (out(0) * out(1) * out(2));
        bool inside = true;
        for (std::size_t i = 0; i < 3; ++i) {
          const std::int64_t place = at[i] * stride[i] - before[i] + tap[i] * dilation[i];
          inside = inside && place >= 0 && place < in[i];
          voxel = voxel * in[i] + place;
        }
        f(y, t, inside ? voxel : -1);
      }
    }
  }
};

void expect_numbers(const Numbers& got, const Numbers& expected) {
  ASSERT_EQ(got.size(), expected.size());
  for (std::size_t i = 0; i < got.size(); ++i) ASSERT_NEAR(got[i], expected[i], 1e-9) << i;
}

/// Checks a layer whose padding is fixed as numbers by `w`.
void expect_convolution(const Conv3d& conv, std::int64_t channels, const Windows& w) {
  const Network network({w.in[0], w.in[1], w.in[2], channels}, {conv});
  ASSERT_EQ(network.output_shape(), (Shape{w.out(0), w.out(1), w.out(2), conv.filters}));
  const std::int64_t count = channels / conv.groups;
  const std::int64_t taps = w.kernel[0] * w.kernel[1] * w.kernel[2];
  EXPECT_EQ(network.parameters(), conv.filters * (taps * count + (conv.bias ? 1 : 0)));
  const Numbers x = drawn(kSamples * w.in[0] * w.in[1] * w.in[2] * channels, 0.3);
  const Numbers weight = drawn(conv.filters * taps * count, 0);
  const Numbers bias = conv.bias ? drawn(conv.filters, 1) : Numbers(conv.filters, 0);
  const std::int64_t results = kSamples * w.out(0) * w.out(1) * w.out(2);
  Numbers expected;
  for (std::int64_t y = 0; y < results; ++y) {
    expected.insert(expected.end(), bias.begin(), bias.end());
  }
  w.each([&](std::int64_t y, std::int64_t tap, std::int64_t voxel) {
    if (voxel < 0) return;
    // Weights are (filters, height, width, depth, channels / groups).
    const std::int64_t plane = w.kernel[1] * w.kernel[2];
    const std::int64_t at = tap % plane * w.kernel[0] + tap / plane;
    for (std::int64_t f = 0; f < conv.filters; ++f) {
      const std::int64_t first = f / (conv.filters / conv.groups) * count;
      for (std::int64_t c = 0; c < count; ++c) {
        expected[y * conv.filters + f] +=
            x[voxel * channels + first + c] * weight[(f * taps + at) * count + c];
      }
    }
  });
  expect_numbers(computed(network), expected);
  EXPECT_EQ(Network::from_json(network.to_json()).to_json(), network.to_json());
}

TEST(Conv3dLayer, IsItsDefinition) {
  expect_convolution({.filters = 3}, 2, {.in = {3, 4, 5}, .kernel = {3, 3, 3}});
  expect_convolution({.filters = 3, .kernel = 1}, 2, {.in = {3, 2, 2}, .kernel = {1, 1, 1}});
  expect_convolution({.filters = 4, .kernel = {1, 2, 3}, .stride = {2, 1, 1}, .bias = false}, 3,
                     {.in = {4, 3, 3}, .kernel = {1, 2, 3}, .stride = {2, 1, 1}});
  expect_convolution(
      {.filters = 2, .kernel = {5, 1, 1}, .padding = Padding3d::all(2)}, 1,
      {.in = {1, 1, 1}, .kernel = {5, 1, 1}, .before = {2, 2, 2}, .after = {2, 2, 2}});
  expect_convolution({.filters = 6,
                      .kernel = {2, 3, 1},
                      .stride = {3, 2, 1},
                      .padding = {Padding3d::Mode::fixed, 1, 2, 0, 1, 2, 0},
                      .dilation = {2, 1, 3},
                      .groups = 2},
                     4,
                     {.in = {7, 5, 3},
                      .kernel = {2, 3, 1},
                      .stride = {3, 2, 1},
                      .dilation = {2, 1, 3},
                      .before = {1, 0, 2},
                      .after = {2, 1, 0}});
  // An odd voxel of padding goes to back, bottom and right.
  expect_convolution({.filters = 4,
                      .kernel = {4, 3, 2},
                      .stride = {2, 1, 3},
                      .padding = Padding3d::same(),
                      .groups = 4},
                     4,
                     {.in = {7, 3, 4},
                      .kernel = {4, 3, 2},
                      .stride = {2, 1, 3},
                      .before = {1, 1, 0},
                      .after = {2, 1, 1}});
}

TEST(Conv3dLayer, NamesWhatIsWrong) {
  const auto error = [](Shape sample, const Conv3d& layer) {
    return message_of([&] { Network(std::move(sample), {layer}); });
  };
  EXPECT_EQ(error({9, 8, 4}, {.filters = 2}),
            "[conv3d 'conv3d_1'] expected volumes (N, D, H, W, C); got (N, 9, 8, 4)");
  EXPECT_EQ(error({5, 9, 8, 4}, {.filters = 2, .groups = 3}),
            "[conv3d 'conv3d_1'] expected groups that divide 4 channels and 2 filters; got 3");
  EXPECT_EQ(error({5, 9, 8, 4}, {.filters = 2, .kernel = {1, 0, 1}}),
            "[conv3d 'conv3d_1'] expected kernel to be at least 1; got [1, 0, 1]");
  EXPECT_EQ(error({5, 9, 8, 4},
                  {.filters = 2, .padding = {Padding3d::Mode::fixed, 0, 0, 0, 0, 0, -1}}),
            "[conv3d 'conv3d_1'] expected padding to be at least 0; got [0, 0, 0, 0, 0, -1]");
  EXPECT_EQ(error({2, 9, 8, 4},
                  {.filters = 2, .padding = {Padding3d::Mode::fixed, 1}, .dilation = 2}),
            "[conv3d 'conv3d_1'] expected a kernel that fits a padded depth of 3; got 5");
  EXPECT_EQ(error({5000, 9, 8, 4}, {.filters = 2, .kernel = {1025, 1, 1}}),
            "[conv3d 'conv3d_1'] expected a kernel of at most 1024 planes, and strides, dilations "
            "and padding below 2147483648; got 1025 planes of (5000, 9, 8, 4)");
}

const Windows kPool{.in = {5, 4, 6},
                    .kernel = {2, 3, 3},
                    .stride = {2, 1, 3},
                    .before = {1, 2, 0},
                    .after = {0, 1, 2}};
const Padding3d kSides{Padding3d::Mode::fixed, 1, 0, 2, 1, 0, 2};
constexpr std::int64_t kChannels = 3;

Numbers pooled(Layer layer) {
  const Network network({5, 4, 6, kChannels}, {std::move(layer)});
  EXPECT_EQ(network.output_shape(), (Shape{kPool.out(0), kPool.out(1), kPool.out(2), kChannels}));
  return computed(network);
}

TEST(Pooling3dLayers, AreTheirDefinitions) {
  const Numbers x = drawn(kSamples * 5 * 4 * 6 * kChannels, 0.3);
  const auto size =
      static_cast<std::size_t>(kSamples * kPool.out(0) * kPool.out(1) * kPool.out(2) * kChannels);
  Numbers largest(size, -std::numeric_limits<double>::infinity());
  Numbers sums(size, 0);
  Numbers counts(size, 0);
  kPool.each([&](std::int64_t y, std::int64_t /*tap*/, std::int64_t voxel) {
    if (voxel < 0) return;
    for (std::int64_t c = 0; c < kChannels; ++c) {
      const double value = x[voxel * kChannels + c];
      largest[y * kChannels + c] = std::max(largest[y * kChannels + c], value);
      sums[y * kChannels + c] += value;
      counts[y * kChannels + c] += 1;
    }
  });
  Numbers with_padding;
  Numbers inside;
  for (std::size_t i = 0; i < size; ++i) {
    with_padding.push_back(sums[i] / 18);
    inside.push_back(sums[i] / counts[i]);
  }
  const Size3d kernel{2, 3, 3};
  const Size3d stride{2, 1, 3};
  expect_numbers(pooled(MaxPool3d{.size = kernel, .stride = stride, .padding = kSides}), largest);
  expect_numbers(pooled(AvgPool3d{.size = kernel, .stride = stride, .padding = kSides}),
                 with_padding);
  expect_numbers(pooled(AvgPool3d{.size = kernel,
                                  .stride = stride,
                                  .padding = kSides,
                                  .count_include_pad = false}),
                 inside);
}

TEST(Pooling3dLayers, TakeWholeVolumes) {
  const Numbers x = drawn(kSamples * 2 * 3 * 2 * kChannels, 0.3);
  Numbers means(kSamples * kChannels, 0);
  Numbers largest(kSamples * kChannels, -1);
  for (std::size_t i = 0; i < x.size(); ++i) {
    const std::size_t to = i / (12 * kChannels) * kChannels + i % kChannels;
    means[to] += x[i] / 12;
    largest[to] = std::max(largest[to], x[i]);
  }
  expect_numbers(computed(Network({2, 3, 2, kChannels}, {GlobalAvgPool3d{}})), means);
  expect_numbers(computed(Network({2, 3, 2, kChannels}, {GlobalMaxPool3d{}})), largest);
}

TEST(Pooling3dLayers, NameWhatIsWrong) {
  const auto error = [](Shape sample, Layer layer) {
    return message_of([&] { Network(std::move(sample), {std::move(layer)}); });
  };
  EXPECT_EQ(error({9, 8, 4}, MaxPool3d{}),
            "[max_pool3d 'max_pool3d_1'] expected volumes (N, D, H, W, C); got (N, 9, 8, 4)");
  EXPECT_EQ(
      error({9, 8, 4}, GlobalAvgPool3d{}),
      "[global_avg_pool3d 'global_avg_pool3d_1'] expected volumes (N, D, H, W, C); got (N, 9, "
      "8, 4)");
  EXPECT_EQ(error({9, 8, 4, 2}, AvgPool3d{.size = 3, .stride = {1, 0, 1}}),
            "[avg_pool3d 'avg_pool3d_1'] expected strides of at least 1; got (1, 0)");
  EXPECT_EQ(
      error({1, 8, 4, 2}, AvgPool3d{.count_include_pad = false}),
      "[avg_pool3d 'avg_pool3d_1'] expected padding smaller than the window and a window that "
      "fits; got a window of 2, padding 0 and 0, an input of 1");
}

}  // namespace
}  // namespace linnet
