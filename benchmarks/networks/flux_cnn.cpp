// SPDX-License-Identifier: Apache-2.0
#include <linnet/layers.h>

#include "networks/networks.h"

namespace linnet::workloads {

Network flux_cnn(const ImageOptions& options) {
  Network network(options.sample,
                  {options.pixels, Conv2d{.filters = 16, .kernel = 5}, ReLU{}, MaxPool2d{},
                   Conv2d{.filters = 8, .kernel = 5}, ReLU{}, MaxPool2d{}, Flatten{},
                   Dense{.units = 120}, Dense{.units = 84}});
  if (options.classes > 0) network.add(Dense{.units = options.classes});
  return network;
}

}  // namespace linnet::workloads
