// SPDX-License-Identifier: Apache-2.0
// Trains a network with an operator of this project's, saves it, and loads it again.
#include <linnet/linnet.h>

#include <cstdio>

#include "soft_threshold.h"

int main() {
  using namespace linnet;
  // Kernel against reference, gradient against differences: throws Error where they differ.
  check_operator(std::make_shared<SoftThreshold>(0.1), {{8, 5}});
  check_operator(std::make_shared<SoftThresholdGradient>(0.1), {{8, 5}, {8, 5}},
                 {.gradient = false});

  const Splits digits = datasets::digits(2000, 500, 0);
  const CustomLayer shrink{"soft_threshold", [](const Expression& x, LayerWeights&) {
                             return apply(std::make_shared<SoftThreshold>(0.1), {x})[0];
                           }};
  Model model(
      Network({28, 28, 1}, {Rescale{}, Flatten{}, Dense{.units = 64}, shrink, Dense{.units = 10}}));
  train(model, digits.train, {.epochs = 3, .batch = 64, .optimizer = Adam{.learning_rate = 1e-3}});
  const double accuracy = evaluate(model, digits.test).accuracy;
  std::printf("test accuracy %.2f %%\n", 100 * accuracy);

  model.save("own_operator.safetensors");
  Model loaded = Model::load("own_operator.safetensors",
                             {.operators = {{"example.soft_threshold", SoftThreshold::read}}});
  std::printf("loaded: %s\n",
              evaluate(loaded, digits.test).accuracy == accuracy ? "the same" : "another accuracy");
}
