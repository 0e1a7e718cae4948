// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/export.h>
#include <linnet/layers/settings.h>

#include <string>

LINNET_API_BEGIN
namespace linnet {

/// Normalises each channel (the last axis) over the batch in training, by running statistics at
/// inference, then scales and shifts it (Ioffe and Szegedy, 2015). Statistics and defaults are
/// PyTorch's. Weight, bias, running_mean and running_var (channels). A single value per channel has
/// no variance: if a batch of the training, the last one included, gives only one, training throws
/// Error before the first step (PyTorch throws in the step).
struct BatchNorm {
  double epsilon = 1e-5;  ///< added to the variance; above 0
  /// Share of the batch in `running = (1 - momentum) * running + momentum * batch`, in [0, 1].
  /// Keras calls 1 - momentum by this name.
  double momentum = 0.1;
  Initializer weight_init = kOnes;  ///< initial values of the scale
  std::string name = {};            ///< unique in the network; empty: "batch_norm_1", ...
  void build(NetworkBuilder& builder) const;
};

}  // namespace linnet
LINNET_API_END
