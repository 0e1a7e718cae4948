// SPDX-License-Identifier: Apache-2.0
#include <linnet/layers.h>

#include "networks/networks.h"

namespace linnet::workloads {

Network mnist_cnn(const ImageOptions& options) {
  Network network(options.sample,
                  {options.pixels, Conv2d{.filters = 16, .padding = Padding2d::same()}, ReLU{},
                   MaxPool2d{.size = 2}, Flatten{}});
  if (options.classes > 0) network.add(Dense{.units = options.classes});
  return network;
}

}  // namespace linnet::workloads
