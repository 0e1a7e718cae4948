// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/network.h>

#include <cstdint>
#include <span>

namespace linnet::zoo {

/// Rescale 1/255 -> conv 16 3x3 same, ReLU -> max pool 2 -> flatten -> dense 10, on (28, 28, 1).
/// 31,530 parameters.
Network mnist_cnn();

/// Dense layers of the `hidden` sizes, each with `activation` (e.g. Tanh{}, without a name) behind
/// it, then a plain one of `outputs`; on samples (features).
Network mlp(std::int64_t features, std::span<const std::int64_t> hidden, const Layer& activation,
            std::int64_t outputs);

/// mlp(1000, {1000}, Tanh{}, 1): 1,002,001 parameters.
Network rosenbrock_mlp();

struct ResNetOptions {
  Shape sample = {32, 32, 3};  ///< (224, 224, 3) for ImageNet
  std::int64_t classes = 10;   ///< 0: none; the network ends in the features before the last dense
  Rescale pixels = {};         ///< the first layer
};

/// Residual networks (He et al., 2016) in the form that is called v1.5: in bottleneck blocks the
/// 3x3 convolution has the stride. Rescale -> conv 64 7x7/2 -> batch norm -> ReLU -> max pool 3x3/2
/// -> four stages -> global average pool -> dense; convolutions without bias, He initialisation.
/// Layers are named as in torchvision ("layer1.0.conv1"), but for the projections:
/// "layer1.0.shortcut.conv" and "layer1.0.shortcut.bn" for its "layer1.0.downsample.0" and ".1".
/// 11,181,642, 21,289,802, 23,528,522 and 42,520,650 parameters with 10 classes.
Network resnet18(const ResNetOptions& options = {});
Network resnet34(const ResNetOptions& options = {});
Network resnet50(const ResNetOptions& options = {});
Network resnet101(const ResNetOptions& options = {});

}  // namespace linnet::zoo
