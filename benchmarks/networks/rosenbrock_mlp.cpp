// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cstdint>

#include "networks/networks.h"

namespace linnet::workloads {

Network rosenbrock_mlp() {
  constexpr std::array<std::int64_t, 1> kHidden{1000};
  return zoo::mlp(1000, kHidden, Tanh{}, 1);
}

}  // namespace linnet::workloads
