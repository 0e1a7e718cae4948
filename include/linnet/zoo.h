// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/network.h>

namespace linnet::zoo {

/// Rescale 1/255 -> conv 16 3x3 same, ReLU -> max pool 2 -> flatten -> dense 10, on (28, 28, 1).
/// 31,530 parameters.
Network mnist_cnn();

}  // namespace linnet::zoo
