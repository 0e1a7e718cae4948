// SPDX-License-Identifier: Apache-2.0
#include <linnet/linnet.h>

#include <cstdio>

int main() {
  const linnet::Splits digits = linnet::datasets::digits(1000, 200, 1);
  linnet::Network network({28, 28, 1});
  network.add(linnet::Rescale{}).add(linnet::Flatten{}).add(linnet::Dense{.units = 10});
  linnet::Model model(network);
  linnet::train(model, digits.train, {.epochs = 3, .batch = 50});
  const double trained = linnet::evaluate(model, digits.test).accuracy;
  model.save("model.safetensors");
  linnet::Model loaded = linnet::Model::load("model.safetensors");
  const bool same = linnet::evaluate(loaded, digits.test).accuracy == trained;
  std::printf("accuracy %.3f, %s\n", trained, same ? "the same accuracy after loading" : "changed");
  return same && trained > 0.2 ? 0 : 1;
}
