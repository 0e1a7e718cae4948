// SPDX-License-Identifier: Apache-2.0
// rosenbrock-mlp in OpenNN: dense 1000 -> 1000 tanh -> 1; 1,002,001 parameters.
#include "protocol.h"

#include "opennn/network/layers/dense_layer.h"

int main(int count, char** words) {
  const auto add_layers = [](opennn::Network& network) {
    using opennn::Shape;
    const auto add = [&](const Shape& from, const Shape& to, const char* activation) {
      network.add_layer(std::make_unique<opennn::Dense>(from, to, activation,
                                                        opennn::BatchNormalization::No,
                                                        activation));
    };
    add(Shape{1000}, Shape{1000}, "Tanh");
    add(Shape{1000}, Shape{1}, "Identity");
  };
  return protocol::run("rosenbrock-mlp", 1002001, add_layers, count, words);
}
