// SPDX-License-Identifier: Apache-2.0
#include <linnet/layers.h>
#include <linnet/zoo.h>

#include "nn/zoo/options.h"

namespace linnet::zoo {

Network mnist_cnn(const ImageOptions& options) {
  check_options("mnist_cnn", options.sample, options.classes);
  Network network(options.sample,
                  {options.pixels, Conv2d{.filters = 16, .padding = Padding2d::same()}, ReLU{},
                   MaxPool2d{.size = 2}, Flatten{}});
  if (options.classes > 0) network.add(Dense{.units = options.classes});
  return network;
}

}  // namespace linnet::zoo
