// SPDX-License-Identifier: Apache-2.0
// mnist-cnn in OpenNN: convolution 3x3 of 16 filters, ReLU, 2x2 max pooling, dense 10; 31,530
// parameters.
#include "opennn/convolutional_layer.h"
#include "opennn/dense_layer.h"
#include "opennn/flatten_layer.h"
#include "opennn/pooling_layer.h"
#include "protocol.h"

int main(int count, char** words) {
  const auto add_layers = [](opennn::NeuralNetwork& network) {
    using opennn::Shape;
    network.add_layer(std::make_unique<opennn::Convolutional>(Shape{28, 28, 1}, Shape{3, 3, 1, 16},
                                                              "ReLU", Shape{1, 1}, "Same", false,
                                                              "convolution"));
    network.add_layer(std::make_unique<opennn::Pooling>(Shape{28, 28, 16}, Shape{2, 2}, Shape{2, 2},
                                                        Shape{0, 0}, "MaxPooling", "pooling"));
    network.add_layer(std::make_unique<opennn::Flatten>(Shape{14, 14, 16}));
    network.add_layer(
        std::make_unique<opennn::Dense>(Shape{3136}, Shape{10}, "Softmax", false, "dense"));
  };
  return protocol::run("mnist-cnn", 31530, add_layers, protocol::use_adam, count, words);
}
