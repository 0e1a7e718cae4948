// SPDX-License-Identifier: Apache-2.0
#include <linnet/layers.h>
#include <linnet/zoo.h>

#include <array>
#include <span>
#include <vector>

#include "nn/zoo/conv_norm.h"
#include "nn/zoo/designs.h"
#include "nn/zoo/options.h"

namespace linnet::zoo {
namespace {

/// The blocks and channels of each stage, and the channels of a group of the 3x3 convolutions. Y
/// has squeeze-and-excitation, X has not.
struct RegNet {
  std::string_view name;
  std::array<std::int64_t, 4> blocks;
  std::array<std::int64_t, 4> widths;
  std::int64_t group;
};
constexpr std::array kRegNets{RegNet{"x_400mf", {1, 2, 7, 12}, {32, 64, 160, 400}, 16},
                              RegNet{"x_800mf", {1, 3, 7, 5}, {64, 128, 288, 672}, 16},
                              RegNet{"x_1_6gf", {2, 4, 10, 2}, {72, 168, 408, 912}, 24},
                              RegNet{"y_400mf", {1, 3, 6, 6}, {48, 104, 208, 440}, 8},
                              RegNet{"y_800mf", {1, 3, 8, 2}, {64, 144, 320, 784}, 16},
                              RegNet{"y_1_6gf", {2, 6, 17, 2}, {48, 120, 336, 888}, 24}};

Residual block(std::int64_t channels, std::int64_t width, std::int64_t stride, std::int64_t group,
               bool squeezes, double epsilon, std::string name) {
  Conv2d grouped = conv(width, 3, stride, "f.b.0");
  grouped.groups = width / group;
  Residual residual{.body = {conv(width, 1, 1, "f.a.0"), norm(epsilon, "f.a.1"), relu("f.a.2"),
                             grouped, norm(epsilon, "f.b.1"), relu("f.b.2")},
                    .name = std::move(name)};
  if (squeezes) {
    residual.body.push_back(SqueezeExcitation{.squeezed = channels / 4, .name = "f.se"});
  }
  residual.body.push_back(conv(width, 1, 1, "f.c.0"));
  residual.body.push_back(silent_norm(epsilon, "f.c.1"));
  if (stride > 1 || channels != width) {
    residual.shortcut = {conv(width, 1, stride, "proj.0"), norm(epsilon, "proj.1")};
  }
  return residual;
}

}  // namespace

Network regnet(std::string_view size, const ImageOptions& options) {
  const auto& design = design_named<RegNet>("RegNet", kRegNets, size);
  check_options("a RegNet", options.sample, options.classes);
  std::int64_t channels = 32;
  Network network(options.sample, {options.pixels, conv(channels, 3, 2, "stem.0"),
                                   norm(options.epsilon, "stem.1"), relu("stem.2")});
  for (std::size_t stage = 0; stage < design.blocks.size(); ++stage) {
    const std::int64_t width = design.widths[stage];
    for (std::int64_t i = 0; i < design.blocks[stage]; ++i) {
      const std::string name =
          fmt::format("trunk_output.block{}.block{}-{}", stage + 1, stage + 1, i);
      network
          .add(block(channels, width, i == 0 ? 2 : 1, design.group, size.starts_with('y'),
                     options.epsilon, name))
          .add(relu(name + ".activation"));
      channels = width;
    }
  }
  network.add(GlobalAvgPool2d{});
  add_logits(network, options.classes, "fc", kSmallDense);
  return network;
}

}  // namespace linnet::zoo
