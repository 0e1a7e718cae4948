// SPDX-License-Identifier: Apache-2.0
// flux-cnn in OpenNN: two 5x5 convolutions of 16 and 8, dense 120, 84, 10 with nothing between
// them; 39,558 parameters.
#include "opennn/convolutional_layer.h"
#include "opennn/dense_layer.h"
#include "opennn/flatten_layer.h"
#include "opennn/pooling_layer.h"
#include "protocol.h"

int main(int count, char** words) {
  const auto add_layers = [](opennn::NeuralNetwork& network) {
    using namespace opennn;
    const auto add_block = [&](Index width, Index channels, Index filters) {
      network.add_layer(std::make_unique<Convolutional>(Shape{width, width, channels},
                                                        Shape{5, 5, channels, filters}, "ReLU",
                                                        Shape{1, 1}, "Valid", false,
                                                        "convolution"));
      network.add_layer(std::make_unique<Pooling>(Shape{width - 4, width - 4, filters}, Shape{2, 2},
                                                  Shape{2, 2}, Shape{0, 0}, "MaxPooling",
                                                  "pooling"));
    };
    add_block(32, 3, 16);
    add_block(14, 16, 8);
    network.add_layer(std::make_unique<Flatten>(Shape{5, 5, 8}));
    network.add_layer(
        std::make_unique<opennn::Dense>(Shape{200}, Shape{120}, "Identity", false, "one"));
    network.add_layer(
        std::make_unique<opennn::Dense>(Shape{120}, Shape{84}, "Identity", false, "two"));
    network.add_layer(
        std::make_unique<opennn::Dense>(Shape{84}, Shape{10}, "Softmax", false, "three"));
  };
  return protocol::run("flux-cnn", 39558, add_layers, protocol::use_momentum, count, words);
}
