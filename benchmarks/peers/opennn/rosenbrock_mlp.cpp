// SPDX-License-Identifier: Apache-2.0
// rosenbrock-mlp in OpenNN: dense 1000 -> 1000 tanh -> 1; 1,002,001 parameters.
#include "opennn/dense_layer.h"
#include "protocol.h"

int main(int count, char** words) {
  const auto add_layers = [](opennn::NeuralNetwork& network) {
    using opennn::Dense;
    using opennn::Shape;
    network.add_layer(std::make_unique<Dense>(Shape{1000}, Shape{1000}, "Tanh", false, "tanh"));
    network.add_layer(std::make_unique<Dense>(Shape{1000}, Shape{1}, "Identity", false, "dense"));
  };
  return protocol::run("rosenbrock-mlp", 1002001, add_layers, protocol::use_adam, count, words);
}
