// SPDX-License-Identifier: Apache-2.0
#include <linnet/layers.h>
#include <linnet/zoo.h>

#include <algorithm>
#include <array>

#include "nn/zoo/options.h"

namespace linnet::zoo {
namespace {

/// 3x3 convolutions in each of the five stages, which end in a pooling.
using Design = std::array<int, 5>;

Network vgg(std::string_view model, const Design& design, const VggOptions& options) {
  check_options(model, options.sample, options.classes);
  Network network(options.sample, {options.pixels});
  int index = 0;  // in torchvision's sequence, whose members have numbers for names
  const auto next = [&index] { return fmt::format("features.{}", index++); };
  for (std::size_t stage = 0; stage < design.size(); ++stage) {
    const std::int64_t filters = std::min<std::int64_t>(std::int64_t{64} << stage, 512);
    for (int i = 0; i < design[stage]; ++i) {
      network.add(Conv2d{.filters = filters,
                         .padding = Padding2d::all(1),
                         .weight_init = {Initializer::Kind::he_normal},
                         .name = next()});
      if (options.batch_norm) network.add(BatchNorm{.name = next()});
      network.add(ReLU{.name = next()});
    }
    network.add(MaxPool2d{.name = next()});
  }
  network.add(Flatten{});
  for (const char* number : {"0", "3"}) {
    network.add(Dense{.units = 4096, .name = fmt::format("classifier.{}", number)})
        .add(ReLU{})
        .add(Dropout{.rate = options.dropout});
  }
  add_logits(network, options.classes, "classifier.6");
  return network;
}

}  // namespace

Network vgg11(const VggOptions& options) { return vgg("vgg11", {1, 1, 2, 2, 2}, options); }
Network vgg16(const VggOptions& options) { return vgg("vgg16", {2, 2, 3, 3, 3}, options); }

}  // namespace linnet::zoo
