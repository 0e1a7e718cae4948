// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/export.h>
#include <linnet/network.h>

#include <cstdint>
#include <span>

LINNET_API_BEGIN
namespace linnet::zoo {

/// Of a network that tells images apart.
struct ImageOptions {
  Shape sample = {32, 32, 3};  ///< (224, 224, 3) for ImageNet
  std::int64_t classes = 10;   ///< 0: none; the network ends in the features before the last dense
  Layer pixels = Rescale{};    ///< the first layer
};

/// Pixels -> conv 16 3x3 same, ReLU -> max pool 2 -> flatten -> dense 10, by default on (28, 28,
/// 1). 31,530 parameters.
Network mnist_cnn(const ImageOptions& options = {.sample = {28, 28, 1}});

/// Dense layers of the `hidden` sizes, each with `activation` (e.g. Tanh{}, without a name) behind
/// it, then a plain one of `outputs`; on samples (features).
Network mlp(std::int64_t features, std::span<const std::int64_t> hidden, const Layer& activation,
            std::int64_t outputs);

/// mlp(1000, {1000}, Tanh{}, 1): 1,002,001 parameters.
Network rosenbrock_mlp();

/// Residual networks (He et al., 2016) in the form that is called v1.5: in bottleneck blocks the
/// 3x3 convolution has the stride. Pixels -> conv 64 7x7/2 -> batch norm -> ReLU -> max pool 3x3/2
/// -> four stages -> global average pool -> dense; convolutions without bias, He initialisation.
/// Layers are named as in torchvision ("layer1.0.conv1"), but for the projections:
/// "layer1.0.shortcut.conv" and "layer1.0.shortcut.bn" for its "layer1.0.downsample.0" and ".1".
/// 11,181,642, 21,289,802, 23,528,522 and 42,520,650 parameters with 10 classes.
Network resnet18(const ImageOptions& options = {});
Network resnet34(const ImageOptions& options = {});
Network resnet50(const ImageOptions& options = {});
Network resnet101(const ImageOptions& options = {});

/// The convolutional example of Flux.jl: pixels -> conv 16 5x5, ReLU -> max pool 2 -> conv 8 5x5,
/// ReLU -> max pool 2 -> flatten -> dense 120 -> dense 84 -> dense 10, with no activation between
/// the dense ones. 39,558 parameters.
Network flux_cnn(const ImageOptions& options = {});

/// The small VGG of the "deep learning frameworks" comparison: pixels -> twice (conv 3x3 same, ReLU
/// -> conv 3x3 same -> max pool 2 -> ReLU -> dropout 0.25), of 50 and of 100 filters -> flatten ->
/// dense 512, ReLU -> dropout 0.5 -> dense 10. 3,441,592 parameters. Glorot uniform initialisation.
Network vgg_cifar10(const ImageOptions& options = {});

struct VggOptions {
  Shape sample = {224, 224, 3};  ///< at least 32x32
  std::int64_t classes = 1000;   ///< 0: none; the network ends in 4,096 features
  Layer pixels = Rescale{};      ///< the first layer
  bool batch_norm = false;       ///< behind each convolution
  double dropout = 0.5;          ///< behind the first two dense layers
};

/// Simonyan and Zisserman, 2014: five stages of 3x3 convolutions that end in max pool 2, then dense
/// 4096, 4096, classes. Layers are named as in torchvision ("features.0", "classifier.6"); its
/// pooling to 7x7 before the dense layers, which does nothing to images of 224, is left out: there
/// are 25,088 features at 224x224 and 512 at 32x32. He normal (by fan in) and Glorot uniform.
/// 132,863,336 and 138,357,544 parameters.
Network vgg11(const VggOptions& options = {});
Network vgg16(const VggOptions& options = {});

/// Densely connected networks (Huang et al., 2017) of growth 32 with bottlenecks of 128 channels:
/// pixels -> conv 64 7x7/2 -> batch norm, ReLU -> max pool 3x3/2 -> four dense blocks with halving
/// transitions between them -> batch norm, ReLU -> global average pool -> dense. Names as in
/// torchvision ("features.denseblock1.denselayer1.conv1"). Images of at least 32x32.
/// 7,978,856 and 14,149,480 parameters with 1,000 classes; 6,968,206 for densenet121 with 14.
Network densenet121(const ImageOptions& options = {});
Network densenet169(const ImageOptions& options = {});

/// Of a network that reads texts, as rows of ids.
struct TextOptions {
  std::int64_t steps = 150;         ///< ids of a sample
  std::int64_t vocabulary = 30000;  ///< ids are below it
  std::int64_t features = 125;      ///< of a word
  std::int64_t units = 100;
  std::int64_t classes = 2;  ///< 0: none; the network ends in the units' last state
};

/// Words (steps) of i32 -> embedding -> GRU, its last state -> dense. 3,818,302 parameters.
Network gru_imdb(const TextOptions& options = {});

}  // namespace linnet::zoo
LINNET_API_END
