// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/export.h>
#include <linnet/layers/activations.h>
#include <linnet/layers/rescale.h>
#include <linnet/network.h>

#include <cstdint>
#include <span>
#include <string_view>

LINNET_API_BEGIN
/// Makes networks from the literature, without weights.
namespace linnet::zoo {

/// Says how an image classifier is built.
struct ImageOptions {
  Shape sample = {32, 32, 3};  ///< shape of an image; (224, 224, 3) for ImageNet
  std::int64_t classes = 10;   ///< number of outputs; 0: the features before the last dense layer
  Layer pixels = Rescale{};    ///< first layer, which normalises pixels
  double epsilon = 1e-5;       ///< epsilon of batch norms; Keras's applications have 1.001e-5
  /// Whether a ResNet-18 to 101 begins with a 3x3 convolution of stride 1, for images of 32x32,
  /// instead of a 7x7 convolution of stride 2 and a max pool.
  bool small_stem = false;
  /// Whether bottleneck blocks have their stride in the first 1x1 convolution, as in the paper and
  /// in Keras (form v1), instead of the 3x3 one (v1.5, PyTorch).
  bool stride_first = false;
};

/// Returns a multilayer perceptron on samples (features): dense layers of the `hidden` sizes, each
/// followed by `activation` (e.g. Tanh{}, without a name), then a dense layer of `outputs`.
Network mlp(std::int64_t features, std::span<const std::int64_t> hidden, const Layer& activation,
            std::int64_t outputs);

/// Returns a residual network of 18 layers (He et al., 2016). resnet50() and resnet101() have the
/// form v1.5: in bottleneck blocks the 3x3 convolution has the stride. Pixels -> conv 64 7x7/2 ->
/// batch norm -> ReLU -> max pool 3x3/2
/// -> four stages -> global average pool -> dense; convolutions without bias, He initialisation.
/// Layers are named as in torchvision ("layer1.0.conv1"), except the projections:
/// "layer1.0.shortcut.conv" and "layer1.0.shortcut.bn" for its "layer1.0.downsample.0" and ".1".
/// 11,181,642, 21,289,802, 23,528,522 and 42,520,650 parameters with 10 classes.
Network resnet18(const ImageOptions& options = {});
/// Returns a residual network of 34 layers: see resnet18().
Network resnet34(const ImageOptions& options = {});
/// Returns a residual network of 50 layers: see resnet18().
Network resnet50(const ImageOptions& options = {});
/// Returns a residual network of 101 layers: see resnet18().
Network resnet101(const ImageOptions& options = {});

/// Returns the residual network for CIFAR of He et al., 2016, section 4.2: pixels -> conv 16 3x3 ->
/// batch norm -> ReLU -> three stages of (depth - 2) / 6 blocks of two 3x3 convolutions, with 16,
/// 32 and 64 filters -> global average pool -> dense. Shortcuts have no weights (option A): where a
/// stage begins they take every second row and column and add channels of zeros, half of them
/// before the others. `depth` is 6n + 2: 20, 32, 44, 56, 110. Layers are named as in the published
/// PyTorch weights ("layer1.0.conv1", "linear"). 269,722 parameters at depth 20 and 853,018 at 56,
/// with 10 classes. Throws Error for another depth.
Network cifar_resnet(std::int64_t depth, const ImageOptions& options = {});

/// Returns a residual network for small images (image_task() trains a cheaper one, which pools):
/// pixels -> conv 32 3x3 -> batch norm -> ReLU -> 3 blocks of two 3x3 convolutions, with 32, 64,
/// 128 filters -> global average pool -> dropout 0.2 -> dense "fc". Where the shorter side has at
/// least 64 pixels the first convolution has stride 2, and from 128 on a max pool follows it.
/// Shortcuts of the second and third block are 1x1 convolutions with a batch norm. 308,650
/// parameters for colour images of 10 classes.
Network small_resnet(const ImageOptions& options = {});

/// Says how a VGG network is built. Defaults are torchvision's.
struct VggOptions {
  Shape sample = {224, 224, 3};  ///< shape of an image, at least 32x32
  std::int64_t classes = 1000;   ///< number of outputs; 0: 4,096 features
  Layer pixels = Rescale{};      ///< first layer, which normalises pixels
  bool batch_norm = false;       ///< adds a batch norm after each convolution
  double dropout = 0.5;          ///< rate of the dropout after the first two dense layers
};

/// Returns VGG-11 (Simonyan and Zisserman, 2014): five stages of 3x3 convolutions that end in max
/// pool 2, then dense 4096, 4096, classes. Layers are named as in torchvision ("features.0",
/// "classifier.6"); its pooling to 7x7 before the dense layers, which has no effect on images of
/// 224, is left out: there are 25,088 features at 224x224 and 512 at 32x32. He normal (by fan in)
/// and Glorot uniform. 132,863,336 and 138,357,544 parameters.
Network vgg11(const VggOptions& options = {});
/// Returns VGG-16: see vgg11().
Network vgg16(const VggOptions& options = {});

/// Returns a densely connected network of 121 layers (Huang et al., 2017), of growth 32 with
/// bottlenecks of 128 channels: pixels -> conv 64 7x7/2 -> batch norm, ReLU -> max pool 3x3/2 ->
/// four dense blocks with halving transitions between them -> batch norm, ReLU -> global average
/// pool -> dense. Layers are named as in torchvision ("features.denseblock1.denselayer1.conv1").
/// Images of at least 32x32. 7,978,856 and 14,149,480 parameters with 1,000 classes; 6,968,206 for
/// densenet121 with 14.
Network densenet121(const ImageOptions& options = {});
/// Returns a densely connected network of 169 layers: see densenet121().
Network densenet169(const ImageOptions& options = {});

/// Returns MobileNetV2 (Sandler et al., 2018) of width 1: inverted residual blocks with ReLU6.
/// Layers are named as in torchvision ("features.1.conv.0.0"). 3,504,872 parameters with 1,000
/// classes.
Network mobilenet_v2(const ImageOptions& options = {});

/// Returns MobileNetV3 small (Howard et al., 2019): inverted residual blocks with hard swish and
/// squeeze-and-excitation. Layers are named as in torchvision ("features.1.block.0.0"), whose batch
/// norms have epsilon 1e-3; timm's have 1e-5. Without classes, 1,024 features of the layer before
/// the last; 1,280 of mobilenet_v3_large(). 2,542,856 and 5,483,032 parameters with 1,000 classes.
Network mobilenet_v3_small(const ImageOptions& options = {});
/// Returns MobileNetV3 large: see mobilenet_v3_small().
Network mobilenet_v3_large(const ImageOptions& options = {});

/// Returns EfficientNet (Tan and Le, 2019) of a scale 0 to 2: B0, B1 or B2, for images of 224, 240
/// and 260 or 288 pixels. Layers are named as in torchvision ("features.1.0.block.0.0"); its
/// stochastic depth is left out. 5,288,548, 7,794,184 and 9,109,994 parameters with 1,000 classes.
/// Throws Error for another scale.
Network efficientnet(std::int64_t scale, const ImageOptions& options = {});

/// Returns ConvNeXt (Liu et al., 2022) of a size: "atto", "femto", "pico", "nano" (Wightman's), or
/// "tiny". Layers are named as in timm ("stages.0.blocks.0.conv_dw"); stochastic depth is left out.
/// Images of at least 32x32. 3,695,520, 5,217,784, 9,045,672, 15,593,560 and 28,589,128 parameters
/// with 1,000 classes. Throws Error for another size.
Network convnext(std::string_view size, const ImageOptions& options = {});

/// Returns a RegNet (Radosavovic et al., 2020) of a size: "x_400mf", "x_800mf", "x_1_6gf", or with
/// squeeze-and-excitation "y_400mf", "y_800mf", "y_1_6gf". Layers are named as in torchvision
/// ("trunk_output.block1.block1-0.f.a.0"), except projections, "....shortcut.proj.0". 5,495,976,
/// 7,259,656, 9,190,136, 4,344,144, 6,432,512 and 11,202,430 parameters with 1,000 classes. Throws
/// Error for another size.
Network regnet(std::string_view size, const ImageOptions& options = {});

/// Returns a vision transformer (Dosovitskiy et al., 2021) of a size, "tiny", "small" or "base":
/// patches of 16x16 pixels, a class token, 12 encoder layers. Its position embeddings fix the size
/// of the images, `options.sample`. 5,717,416, 22,050,664 and 86,567,656 parameters for images of
/// 224x224 and 1,000 classes. Throws Error for another size.
Network vit(std::string_view size, const ImageOptions& options = {});

/// Says how a text classifier is built. Texts are rows of ids.
struct TextOptions {
  std::int64_t steps = 150;         ///< ids of a sample
  std::int64_t vocabulary = 30000;  ///< number of words; ids are below it
  std::int64_t features = 125;      ///< length of a word's embedding
  std::int64_t units = 100;         ///< units of the GRU or LSTM
  std::int64_t classes = 2;         ///< number of outputs; 0: the last state of the units
};

/// Returns a text classifier: words (steps) of i32 -> embedding -> GRU, its last state -> dense.
/// 3,818,302 parameters.
Network gru_text(const TextOptions& options = {});
/// Returns gru_text() with an LSTM instead of the GRU. 3,841,002 parameters.
Network lstm_text(const TextOptions& options = {});

}  // namespace linnet::zoo
LINNET_API_END
