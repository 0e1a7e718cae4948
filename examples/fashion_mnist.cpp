// SPDX-License-Identifier: Apache-2.0
// The program of the README and of the tutorial's first page. Prints what `./dev demo` prints at
// its end.
#include <linnet/linnet.h>

#include <cstdio>

int main() {
  using namespace linnet;
  const Splits data = datasets::fashion_mnist("data");
  Network network({28, 28, 1},
                  {Rescale{1.0 / 255}, Conv2d{.filters = 16, .padding = Padding2d::same()}, ReLU{},
                   MaxPool2d{}, Flatten{}, Dense{.units = 10}});
  Model model(network);
  train(model, data.train,
        {.epochs = 10,
         .batch = 64,
         .optimizer = Adam{.learning_rate = 4e-3},
         .schedule = CosineDecay{}});
  std::printf("test accuracy %.2f %%\n", 100 * evaluate(model, data.test).accuracy);
  model.save("model.safetensors");
}

// Prints:
//   test accuracy 90.92 %
