// SPDX-License-Identifier: Apache-2.0
#include <linnet/zoo.h>

#include <array>

#include "nn/zoo/conv_norm.h"
#include "nn/zoo/options.h"

namespace linnet::zoo {
namespace {

// First weights as in Goyal et al., 2017: residual bodies start silent, the last layer small.
// Without it the loss falls much more slowly (docs/notes/2026-11-21-results.md).

/// Describes how a depth is made: blocks of each stage, and whether they are bottlenecks (1x1, 3x3,
/// 1x1, the last four times as wide) or pairs of 3x3.
struct Design {
  std::array<std::int64_t, 4> blocks;
  bool bottleneck = true;
};

std::vector<Layer> body(const Design& design, const ImageOptions& options, std::int64_t width,
                        std::int64_t stride) {
  const double epsilon = options.epsilon;
  if (!design.bottleneck) {
    return {conv(width, 3, stride, "conv1"), norm(epsilon, "bn1"), relu("relu1"),
            conv(width, 3, 1, "conv2"), silent_norm(epsilon, "bn2")};
  }
  const std::int64_t first = options.stride_first ? stride : 1;
  return {conv(width, 1, first, "conv1"),          norm(epsilon, "bn1"),       relu("relu1"),
          conv(width, 3, stride / first, "conv2"), norm(epsilon, "bn2"),       relu("relu2"),
          conv(4 * width, 1, 1, "conv3"),          silent_norm(epsilon, "bn3")};
}

Network stem(const ImageOptions& options) {
  const auto first = [&](std::int64_t kernel, std::int64_t stride) {
    return Network(options.sample, {options.pixels, conv(64, kernel, stride, "conv1"),
                                    norm(options.epsilon, "bn1"), relu("relu1")});
  };
  if (options.small_stem) return first(3, 1);
  return first(7, 2).add(MaxPool2d{.size = 3, .stride = 2, .padding = Padding2d::all(1)});
}

Network resnet(const Design& design, const ImageOptions& options) {
  check_options("a ResNet", options.sample, options.classes);
  Network network = stem(options);
  std::int64_t channels = 64;
  for (std::size_t stage = 0; stage < design.blocks.size(); ++stage) {
    const std::int64_t width = std::int64_t{64} << stage;
    const std::int64_t wide = design.bottleneck ? 4 * width : width;
    for (std::int64_t block = 0; block < design.blocks[stage]; ++block) {
      const std::int64_t stride = stage > 0 && block == 0 ? 2 : 1;
      const std::string name = fmt::format("layer{}.{}", stage + 1, block);
      Residual residual{.body = body(design, options, width, stride), .name = name};
      if (stride > 1 || channels != wide) {
        residual.shortcut = {conv(wide, 1, stride, "conv"), norm(options.epsilon, "bn")};
      }
      network.add(residual).add(relu(name + ".relu"));
      channels = wide;
    }
  }
  network.add(GlobalAvgPool2d{});
  add_logits(network, options.classes, "fc", kSmallDense);
  return network;
}

}  // namespace

Network resnet18(const ImageOptions& options) {
  return resnet({.blocks = {2, 2, 2, 2}, .bottleneck = false}, options);
}

Network resnet34(const ImageOptions& options) {
  return resnet({.blocks = {3, 4, 6, 3}, .bottleneck = false}, options);
}

Network resnet50(const ImageOptions& options) { return resnet({.blocks = {3, 4, 6, 3}}, options); }

Network resnet101(const ImageOptions& options) {
  return resnet({.blocks = {3, 4, 23, 3}}, options);
}

}  // namespace linnet::zoo
