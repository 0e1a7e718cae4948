// SPDX-License-Identifier: Apache-2.0
#include <linnet/zoo.h>

#include <array>

#include "nn/zoo/conv_norm.h"
#include "nn/zoo/options.h"

namespace linnet::zoo {
namespace {

constexpr std::int64_t kGrowth = 32;     // channels that a layer adds
constexpr std::int64_t kBottleneck = 4;  // how many times the growth its 1x1 convolution has

/// Layers of each dense block.
using Design = std::array<int, 4>;

Concat dense_layer(double epsilon, const std::string& name) {
  return {.branches = {{},
                       {norm(epsilon, "norm1"), relu("relu1"),
                        conv(kBottleneck * kGrowth, 1, 1, "conv1"), norm(epsilon, "norm2"),
                        relu("relu2"), conv(kGrowth, 3, 1, "conv2")}},
          .name = name};
}

Network densenet(std::string_view model, const Design& design, const ImageOptions& options) {
  check_options(model, options.sample, options.classes);
  std::int64_t channels = 2 * kGrowth;
  const double epsilon = options.epsilon;
  Network network(
      options.sample,
      {options.pixels, conv(channels, 7, 2, "features.conv0"), norm(epsilon, "features.norm0"),
       relu("features.relu0"),
       MaxPool2d{.size = 3, .stride = 2, .padding = Padding2d::all(1), .name = "features.pool0"}});
  for (std::size_t block = 0; block < design.size(); ++block) {
    if (block > 0) {
      channels /= 2;
      const std::string name = fmt::format("features.transition{}.", block);
      network.add(norm(epsilon, name + "norm"))
          .add(relu(name + "relu"))
          .add(conv(channels, 1, 1, name + "conv"))
          .add(AvgPool2d{.size = 2, .name = name + "pool"});
    }
    for (int i = 0; i < design[block]; ++i) {
      network.add(dense_layer(epsilon,
                              fmt::format("features.denseblock{}.denselayer{}", block + 1, i + 1)));
      channels += kGrowth;
    }
  }
  network.add(norm(epsilon, "features.norm5")).add(relu("features.relu5")).add(GlobalAvgPool2d{});
  add_logits(network, options.classes, "classifier");
  return network;
}

}  // namespace

Network densenet121(const ImageOptions& options) {
  return densenet("densenet121", {6, 12, 24, 16}, options);
}

Network densenet169(const ImageOptions& options) {
  return densenet("densenet169", {6, 12, 32, 32}, options);
}

}  // namespace linnet::zoo
