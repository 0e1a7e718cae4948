// SPDX-License-Identifier: Apache-2.0
#include <linnet/zoo.h>

namespace linnet::zoo {

Network mnist_cnn() {
  return Network({28, 28, 1}, {Rescale{}, Conv2d{.filters = 16, .padding = Padding2d::same()},
                               ReLU{}, MaxPool2d{.size = 2}, Flatten{}, Dense{.units = 10}});
}

}  // namespace linnet::zoo
