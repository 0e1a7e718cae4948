// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/export.h>
#include <linnet/layers/settings.h>

#include <cstdint>
#include <string>

LINNET_API_BEGIN
namespace linnet {

/// Convolves sequences along their steps. Weight (filters, 1, kernel, channels / groups), bias
/// (filters).
struct Conv1d {
  std::int64_t filters = 0;      ///< features of each step of the output; at least 1
  std::int64_t kernel = 3;       ///< the window, in steps; at least 1
  std::int64_t stride = 1;       ///< steps from one window to the next; at least 1
  Padding2d padding = {};        ///< zeros before and after the steps (left and right); at least 0
  std::int64_t dilation = 1;     ///< steps from one element of the window to the next; at least 1
  std::int64_t groups = 1;       ///< equal groups of features, see Conv2d; at least 1
  bool bias = true;              ///< whether each filter adds a trained number
  Initializer weight_init = {};  ///< initial values of the weight
  Initializer bias_init = kZeros;  ///< initial values of the bias
  std::string name = {};           ///< unique in the network; empty: "conv1d_1", "conv1d_2", ...
  void build(NetworkBuilder& builder) const;
};

}  // namespace linnet
LINNET_API_END
