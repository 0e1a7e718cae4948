// SPDX-License-Identifier: Apache-2.0
// Looks inside a trained network: gradients of weights, of an input's pixels, and what layers give.
#include <linnet/linnet.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <span>

using namespace linnet;

int main() {
  const Splits digits = datasets::digits(5000, 1000, 1);
  Model model(Network({28, 28, 1}, {Rescale{1.0 / 255}, Conv2d{.filters = 8}, ReLU{}, MaxPool2d{},
                                    Flatten{}, Dense{.units = 32}, ReLU{}, Dense{.units = 10}}));
  Trainer trainer(model, {.optimizer = Adam{.learning_rate = 3e-3}});
  trainer.fit(digits.train, {.epochs = 2, .batch = 50});

  const Batch batch = *trainer.batches(digits.train, {.size = 50}).begin();
  const State gradients = trainer.gradients(batch);
  std::printf("gradients of %zu weights; conv2d_1.weight %s\n", gradients.size(),
              to_string(gradients["conv2d_1.weight"].shape()).c_str());

  const Tensor features = model.value_of("dense_1", batch);
  std::printf("dense_1 gives %s\n", to_string(features.shape()).c_str());

  // How much each pixel of the first image, a 4, speaks for a 4: a saliency map.
  const Tensor saliency = model.input_gradient(digits.test.rows(0, 1), {.index = 4});
  const std::span<const float> pixels = saliency.as<float>();
  const auto top =
      std::ranges::max_element(pixels, {}, [](float gradient) { return std::abs(gradient); });
  const std::ptrdiff_t at = top - pixels.begin();
  std::printf("the pixel that matters most: row %td, column %td\n", at / 28, at % 28);
}

// Prints:
//   gradients of 6 weights; conv2d_1.weight (8, 3, 3, 1)
//   dense_1 gives (50, 32)
//   the pixel that matters most: row 16, column 20
