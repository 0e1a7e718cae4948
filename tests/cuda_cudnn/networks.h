// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "backend/cuda/cudnn_convolution.h"

namespace linnet::cuda {

/// One graph that a network's training or inference asks for.
struct Row {
  std::string name;  ///< "resnet50-cifar stage2.conv2/2 grad_input"
  CudnnConvolution problem;
};

/// The different convolutions of mnist-cnn, a VGG, ResNet-50 at 32x32 and 224x224 and the
/// stem of densenet121, forward with and without what is fused after them, and their gradients;
/// after them groups, asymmetric padding, dilation and odd numbers of channels.
std::vector<Row> network_rows();

}  // namespace linnet::cuda
