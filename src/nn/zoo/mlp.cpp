// SPDX-License-Identifier: Apache-2.0
#include <linnet/layers.h>
#include <linnet/zoo.h>

namespace linnet::zoo {

Network mlp(std::int64_t features, std::span<const std::int64_t> hidden, const Layer& activation,
            std::int64_t outputs) {
  Network network({features});
  for (std::int64_t units : hidden) network.add(Dense{.units = units}).add(activation);
  return network.add(Dense{.units = outputs});
}

}  // namespace linnet::zoo
