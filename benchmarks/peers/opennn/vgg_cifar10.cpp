// SPDX-License-Identifier: Apache-2.0
// vgg-cifar10 in OpenNN: four 3x3 convolutions of 50, 50, 100, 100, dense 512; 3,441,592
// parameters. OpenNN has dropout in dense layers alone, so the two after the poolings are left out.
#include "opennn/activation_layer.h"
#include "opennn/convolutional_layer.h"
#include "opennn/dense_layer.h"
#include "opennn/flatten_layer.h"
#include "opennn/pooling_layer.h"
#include "protocol.h"

int main(int count, char** words) {
  const auto add_layers = [](opennn::NeuralNetwork& network) {
    using namespace opennn;
    const auto add_block = [&](Index width, Index channels, Index filters) {
      const auto add_convolution = [&](Index from, const char* activation) {
        network.add_layer(
            std::make_unique<Convolutional>(Shape{width, width, from}, Shape{3, 3, from, filters},
                                            activation, Shape{1, 1}, "Same", false, "convolution"));
      };
      add_convolution(channels, "ReLU");
      add_convolution(filters, "Identity");
      network.add_layer(std::make_unique<Pooling>(Shape{width, width, filters}, Shape{2, 2},
                                                  Shape{2, 2}, Shape{0, 0}, "MaxPooling",
                                                  "pooling"));
      network.add_layer(
          std::make_unique<Activation>(Shape{width / 2, width / 2, filters}, "ReLU", "relu"));
    };
    add_block(32, 3, 50);
    add_block(16, 50, 100);
    network.add_layer(std::make_unique<Flatten>(Shape{8, 8, 100}));
    auto dense = std::make_unique<opennn::Dense>(Shape{6400}, Shape{512}, "ReLU", false, "one");
    dense->set_dropout_rate(0.5f);
    network.add_layer(std::move(dense));
    network.add_layer(
        std::make_unique<opennn::Dense>(Shape{512}, Shape{10}, "Softmax", false, "two"));
  };
  return protocol::run("vgg-cifar10", 3441592, add_layers, protocol::use_momentum, count, words);
}
