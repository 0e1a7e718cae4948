// SPDX-License-Identifier: Apache-2.0
#include <linnet/expression.h>
#include <linnet/zoo.h>

#include <cstdint>
#include <string>

#include "base/check.h"
#include "nn/zoo/conv_norm.h"
#include "nn/zoo/options.h"

namespace linnet::zoo {
namespace {

/// Returns every second row and column, and as many channels of zeros as make twice the channels.
CustomLayer subsampled_shortcut() {
  const auto function = [](const Expression& x, LayerWeights& /*weights*/) {
    const std::int64_t zeros = x.shape()[2] / 2;
    const Expression rows = slice(x, 0, 0, kToEnd, 2);
    return pad(slice(rows, 1, 0, kToEnd, 2), 2, zeros, zeros);
  };
  return {.kind = "option_a", .function = function, .name = "option_a"};
}

}  // namespace

Network cifar_resnet(std::int64_t depth, const ImageOptions& options) {
  check_options("a CIFAR ResNet", options.sample, options.classes);
  require(depth >= 8 && depth % 6 == 2,
          "expected a depth of 6n + 2 for a CIFAR ResNet, such as 20, 32, 44, 56 or 110; got {}",
          depth);
  const double epsilon = options.epsilon;
  Network network(options.sample,
                  {options.pixels, conv(16, 3, 1, "conv1"), norm(epsilon, "bn1"), relu("relu1")});
  for (std::int64_t stage = 0; stage < 3; ++stage) {
    const std::int64_t filters = std::int64_t{16} << stage;
    for (std::int64_t block = 0; block < (depth - 2) / 6; ++block) {
      const bool narrows = stage > 0 && block == 0;
      const std::string name = fmt::format("layer{}.{}", stage + 1, block);
      Residual residual{.body = {conv(filters, 3, narrows ? 2 : 1, "conv1"), norm(epsilon, "bn1"),
                                 relu("relu1"), conv(filters, 3, 1, "conv2"), norm(epsilon, "bn2")},
                        .name = name};
      if (narrows) residual.shortcut = {subsampled_shortcut()};
      network.add(residual).add(relu(name + ".relu"));
    }
  }
  network.add(GlobalAvgPool2d{});
  add_logits(network, options.classes, "linear");
  return network;
}

}  // namespace linnet::zoo
