// SPDX-License-Identifier: Apache-2.0
// MobileNetV2, MobileNetV3 and EfficientNet: tables of stages, and one builder of their blocks.
#include <linnet/layers.h>
#include <linnet/zoo.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <vector>

#include "nn/zoo/conv_norm.h"
#include "nn/zoo/options.h"

namespace linnet::zoo {
namespace {

/// Blocks that follow each other: the first one has the stride.
struct Stage {
  double expansion;  ///< channels of the depthwise convolution per channel of the block's input
  std::int64_t kernel, stride, channels, blocks = 1;
  bool squeezes = false, hard_swish = false;
};

// The papers' tables. Of MobileNetV3 a row is a block or several alike.
constexpr std::array kMobileNetV2{Stage{1, 3, 1, 16, 1}, Stage{6, 3, 2, 24, 2},
                                  Stage{6, 3, 2, 32, 3}, Stage{6, 3, 2, 64, 4},
                                  Stage{6, 3, 1, 96, 3}, Stage{6, 3, 2, 160, 3},
                                  Stage{6, 3, 1, 320, 1}};
constexpr std::array kMobileNetV3Large{Stage{1, 3, 1, 16},
                                       Stage{4, 3, 2, 24},
                                       Stage{3, 3, 1, 24},
                                       Stage{3, 5, 2, 40, 3, true},
                                       Stage{6, 3, 2, 80, 1, false, true},
                                       Stage{2.5, 3, 1, 80, 1, false, true},
                                       Stage{2.3, 3, 1, 80, 2, false, true},
                                       Stage{6, 3, 1, 112, 2, true, true},
                                       Stage{6, 5, 2, 160, 3, true, true}};
constexpr std::array kMobileNetV3Small{Stage{1, 3, 2, 16, 1, true},
                                       Stage{4.5, 3, 2, 24},
                                       Stage{3.67, 3, 1, 24},
                                       Stage{4, 5, 2, 40, 1, true, true},
                                       Stage{6, 5, 1, 40, 2, true, true},
                                       Stage{3, 5, 1, 48, 2, true, true},
                                       Stage{6, 5, 2, 96, 3, true, true}};
constexpr std::array kEfficientNet{Stage{1, 3, 1, 16, 1, true},  Stage{6, 3, 2, 24, 2, true},
                                   Stage{6, 5, 2, 40, 2, true},  Stage{6, 3, 2, 80, 3, true},
                                   Stage{6, 5, 1, 112, 3, true}, Stage{6, 5, 2, 192, 4, true},
                                   Stage{6, 3, 1, 320, 1, true}};

/// Returns the multiple of 8 next to x, at least 90 % of it.
std::int64_t multiple_of_8(double x) {
  const std::int64_t near = std::max<std::int64_t>(8, static_cast<std::int64_t>(x + 4) / 8 * 8);
  return static_cast<double>(near) < 0.9 * x ? near + 8 : near;
}

/// What the blocks of a network have in common.
struct Style {
  double epsilon;
  const char* part;  ///< first part of the names within a block
  bool flat;         ///< whether the last convolution and its norm are numbered with the others
  Layer squeeze_activation = SiLU{}, gate = Sigmoid{};
};

/// Returns the channels of a stage's depthwise convolutions, where its blocks read `channels`.
std::int64_t depthwise_channels(const Stage& stage, std::int64_t channels) {
  return multiple_of_8(stage.expansion * static_cast<double>(channels));
}

Layer block(const Style& style, const Stage& stage, std::int64_t channels, std::int64_t stride,
            std::int64_t squeezed, const Layer& activation, const std::string& name) {
  std::vector<Layer> layers;
  int part = 0;
  const auto add = [&](std::int64_t filters, std::int64_t kernel, std::int64_t by,
                       std::int64_t groups) {
    const std::string prefix = fmt::format("{}.{}.", style.part, part++);
    Conv2d convolution = conv(filters, kernel, by, prefix + "0");
    convolution.groups = groups;
    layers.insert(layers.end(), {convolution, norm(style.epsilon, prefix + "1"), activation});
  };
  const std::int64_t wide = depthwise_channels(stage, channels);
  if (stage.expansion != 1) add(wide, 1, 1, 1);
  add(wide, stage.kernel, stride, wide);
  if (squeezed > 0) {
    layers.push_back(SqueezeExcitation{.squeezed = squeezed,
                                       .activation = style.squeeze_activation,
                                       .gate = style.gate,
                                       .name = fmt::format("{}.{}", style.part, part++)});
  }
  const auto last = [&](int index) {
    return style.flat ? fmt::format("{}.{}", style.part, part + index)
                      : fmt::format("{}.{}.{}", style.part, part, index);
  };
  layers.push_back(conv(stage.channels, 1, 1, last(0)));
  layers.push_back(norm(style.epsilon, last(1)));
  if (stride == 1 && channels == stage.channels) return Residual{.body = layers, .name = name};
  return Sequential{.layers = layers, .name = name};
}

/// Appends a convolution "<name>.0" with its norm and activation.
void add_convolution(Network& network, std::int64_t filters, std::int64_t kernel,
                     std::int64_t stride, double epsilon, const Layer& activation,
                     const std::string& name) {
  network.add(conv(filters, kernel, stride, name + ".0")).add(norm(epsilon, name + ".1"));
  network.add(activation);
}

void add_classifier(Network& network, const ImageOptions& options, double dropout,
                    const char* name) {
  if (options.classes > 0) network.add(Dropout{.rate = dropout});
  add_logits(network, options.classes, name, kSmallDense);
}

Network mobilenet_v3(std::span<const Stage> stages, std::int64_t units,
                     const ImageOptions& options) {
  check_options("a MobileNetV3", options.sample, options.classes);
  const Style style{options.epsilon, "block", false, ReLU{}, HardSigmoid{}};
  Network network(options.sample, {options.pixels});
  std::int64_t channels = 16;
  add_convolution(network, channels, 3, 2, style.epsilon, HardSwish{}, "features.0");
  int index = 1;
  for (const Stage& stage : stages) {
    const Layer activation = stage.hard_swish ? Layer(HardSwish{}) : Layer(ReLU{});
    for (std::int64_t i = 0; i < stage.blocks; ++i) {
      const auto wide = static_cast<double>(depthwise_channels(stage, channels));
      network.add(block(style, stage, channels, i == 0 ? stage.stride : 1,
                        stage.squeezes ? multiple_of_8(wide / 4) : 0, activation,
                        fmt::format("features.{}", index++)));
      channels = stage.channels;
    }
  }
  add_convolution(network, 6 * channels, 1, 1, style.epsilon, HardSwish{},
                  fmt::format("features.{}", index));
  network.add(GlobalAvgPool2d{})
      .add(Dense{.units = units, .weight_init = kSmallDense, .name = "classifier.0"})
      .add(HardSwish{});
  add_classifier(network, options, 0.2, "classifier.3");
  return network;
}

}  // namespace

Network mobilenet_v2(const ImageOptions& options) {
  check_options("a MobileNetV2", options.sample, options.classes);
  const Style style{options.epsilon, "conv", true};
  const Layer relu6 = HardTanh{.low = 0, .high = 6};
  Network network(options.sample, {options.pixels});
  std::int64_t channels = 32;
  add_convolution(network, channels, 3, 2, style.epsilon, relu6, "features.0");
  int index = 1;
  for (const Stage& stage : kMobileNetV2) {
    for (std::int64_t i = 0; i < stage.blocks; ++i) {
      network.add(block(style, stage, channels, i == 0 ? stage.stride : 1, 0, relu6,
                        fmt::format("features.{}", index++)));
      channels = stage.channels;
    }
  }
  add_convolution(network, 1280, 1, 1, style.epsilon, relu6, fmt::format("features.{}", index));
  network.add(GlobalAvgPool2d{});
  add_classifier(network, options, 0.2, "classifier.1");
  return network;
}

Network mobilenet_v3_small(const ImageOptions& options) {
  return mobilenet_v3(kMobileNetV3Small, 1024, options);
}

Network mobilenet_v3_large(const ImageOptions& options) {
  return mobilenet_v3(kMobileNetV3Large, 1280, options);
}

Network efficientnet(std::int64_t scale, const ImageOptions& options) {
  /// Factors of channels and blocks, and the dropout, of B0, B1 and B2.
  struct Scale {
    double channels, blocks, dropout;
  };
  constexpr std::array kScales{Scale{1, 1, 0.2}, Scale{1, 1.1, 0.2}, Scale{1.1, 1.2, 0.3}};
  require(scale >= 0 && scale < std::ssize(kScales),
          "expected an EfficientNet of B0 to B2, 0 to 2; got {}", scale);
  check_options("an EfficientNet", options.sample, options.classes);
  const Scale& by = kScales[static_cast<std::size_t>(scale)];
  const Style style{options.epsilon, "block", false};
  Network network(options.sample, {options.pixels});
  std::int64_t channels = multiple_of_8(32 * by.channels);
  add_convolution(network, channels, 3, 2, style.epsilon, SiLU{}, "features.0");
  int index = 1;
  for (Stage stage : kEfficientNet) {
    stage.channels = multiple_of_8(by.channels * static_cast<double>(stage.channels));
    const auto blocks =
        static_cast<std::int64_t>(std::ceil(by.blocks * static_cast<double>(stage.blocks)));
    for (std::int64_t i = 0; i < blocks; ++i) {
      network.add(block(style, stage, channels, i == 0 ? stage.stride : 1, channels / 4, SiLU{},
                        fmt::format("features.{}.{}", index, i)));
      channels = stage.channels;
    }
    ++index;
  }
  add_convolution(network, 4 * channels, 1, 1, style.epsilon, SiLU{},
                  fmt::format("features.{}", index));
  network.add(GlobalAvgPool2d{});
  add_classifier(network, options, by.dropout, "classifier.1");
  return network;
}

}  // namespace linnet::zoo
