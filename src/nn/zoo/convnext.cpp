// SPDX-License-Identifier: Apache-2.0
#include <linnet/expression.h>
#include <linnet/layers.h>
#include <linnet/zoo.h>

#include <array>
#include <span>
#include <vector>

#include "nn/zoo/designs.h"
#include "nn/zoo/options.h"

namespace linnet::zoo {
namespace {

constexpr double kNormEpsilon = 1e-6;
constexpr Initializer kSmall{Initializer::Kind::normal, 0.02};

struct ConvNeXt {
  std::string_view name;
  std::array<std::int64_t, 4> blocks;
  std::int64_t width;  ///< channels of the first stage; each further one has twice as many
  bool convolutions;   ///< whether the dense layers of a pixel are 1x1 convolutions, as in timm
};
constexpr std::array kConvNeXts{ConvNeXt{"atto", {2, 2, 6, 2}, 40, true},
                                ConvNeXt{"femto", {2, 2, 6, 2}, 48, true},
                                ConvNeXt{"pico", {2, 2, 6, 2}, 64, true},
                                ConvNeXt{"nano", {2, 2, 8, 2}, 80, true},
                                ConvNeXt{"tiny", {3, 3, 9, 3}, 96, false}};

LayerNorm layer_norm(std::string name) {
  return {.epsilon = kNormEpsilon, .name = std::move(name)};
}

/// Returns a convolution of windows that touch each other.
Conv2d patches(std::int64_t filters, std::int64_t side, std::string name) {
  return {.filters = filters,
          .kernel = side,
          .stride = side,
          .weight_init = kSmall,
          .name = std::move(name)};
}

/// Scales each channel by a trained number that starts near 0.
CustomLayer layer_scale() {
  const auto function = [](const Expression& x, LayerWeights& weights) {
    return x * weights.add("gamma", {x.shape()[-1]}, {Initializer::Kind::constant, 1e-6});
  };
  return {.kind = "layer_scale", .function = function, .name = "layer_scale"};
}

Residual block(const ConvNeXt& design, std::int64_t width, std::string name) {
  const auto pixelwise = [&](std::int64_t units, const char* part) -> Layer {
    if (!design.convolutions) return Dense{.units = units, .weight_init = kSmall, .name = part};
    return Conv2d{.filters = units, .kernel = 1, .weight_init = kSmall, .name = part};
  };
  return {.body = {Conv2d{.filters = width,
                          .kernel = 7,
                          .padding = Padding2d::all(3),
                          .groups = width,
                          .weight_init = kSmall,
                          .name = "conv_dw"},
                   layer_norm("norm"), pixelwise(4 * width, "mlp.fc1"), GELU{},
                   pixelwise(width, "mlp.fc2"), layer_scale()},
          .name = std::move(name)};
}

}  // namespace

Network convnext(std::string_view size, const ImageOptions& options) {
  const auto& design = design_named<ConvNeXt>("ConvNeXt", kConvNeXts, size);
  check_options("a ConvNeXt", options.sample, options.classes);
  std::int64_t width = design.width;
  Network network(options.sample,
                  {options.pixels, patches(width, 4, "stem.0"), layer_norm("stem.1")});
  for (std::size_t stage = 0; stage < design.blocks.size(); ++stage) {
    if (stage > 0) {
      width *= 2;
      const std::string name = fmt::format("stages.{}.downsample.", stage);
      network.add(layer_norm(name + "0")).add(patches(width, 2, name + "1"));
    }
    for (std::int64_t i = 0; i < design.blocks[stage]; ++i) {
      network.add(block(design, width, fmt::format("stages.{}.blocks.{}", stage, i)));
    }
  }
  network.add(GlobalAvgPool2d{}).add(layer_norm("head.norm"));
  add_logits(network, options.classes, "head.fc", kSmall);
  return network;
}

}  // namespace linnet::zoo
