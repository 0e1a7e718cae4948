// SPDX-License-Identifier: Apache-2.0
#include <linnet/layers.h>

#include "networks/networks.h"

namespace linnet::workloads {
namespace {

Conv2d conv(std::int64_t filters) { return {.filters = filters, .padding = Padding2d::same()}; }

}  // namespace

// Pooling stands before the ReLU: the same values, and a quarter of the work.
Network vgg_cifar10(const ImageOptions& options) {
  Network network(options.sample, {options.pixels, conv(50), ReLU{}, conv(50), MaxPool2d{}, ReLU{},
                                   Dropout{.rate = 0.25}, conv(100), ReLU{}, conv(100), MaxPool2d{},
                                   ReLU{}, Dropout{.rate = 0.25}, Flatten{}, Dense{.units = 512},
                                   ReLU{}, Dropout{.rate = 0.5}});
  if (options.classes > 0) network.add(Dense{.units = options.classes});
  return network;
}

}  // namespace linnet::workloads
