// SPDX-License-Identifier: Apache-2.0
// Inference in a product: prepared once, thread-safe, no allocation in a call. See
// docs/inference.md.
#include <linnet/linnet.h>

#include <cstdio>
#include <span>
#include <thread>
#include <vector>

using namespace linnet;

int main() {
  const Splits digits = datasets::digits(5000, 1000, 1);
  {
    Model model(Network({28, 28, 1}, {Rescale{1.0 / 255}, Conv2d{.filters = 8}, ReLU{}, MaxPool2d{},
                                      Flatten{}, Dense{.units = 10}}));
    train(model, digits.train, {.epochs = 3, .batch = 50});
    model.save("digits.safetensors");
  }

  const Model model = Model::load("digits.safetensors", {.threads = 1});
  const Predictor predictor(model, {.batches = {1, 100}, .dtype = DType::u8});

  // Samples and outputs lie in the program's own memory; nothing is copied.
  const Tensor images = digits.test.column("image").data;
  std::vector<float> scores(1000 * 10);
  std::vector<std::jthread> threads;
  for (std::int64_t first = 0; first < 1000; first += 250) {
    threads.emplace_back([&, first] {  // side by side: the model computes on one thread
      for (std::int64_t i = first; i < first + 250; ++i) {
        const std::span<float> to = std::span(scores).subspan(static_cast<std::size_t>(i) * 10, 10);
        predictor.predict(images.rows(i, i + 1), Tensor::borrow(to, {1, 10}));
      }
    });
  }
  threads.clear();  // joins them
  std::printf("first image: score of a 4 %.2f, of a 9 %.2f\n", scores[4], scores[9]);

  const auto [label, probability] = predictor.classify(images.rows(0, 1))[0];
  std::printf("first image: %s with probability %.2f\n", label.c_str(), probability);
}

// Prints:
//   first image: score of a 4 4.33, of a 9 -1.13
//   first image: 4 with probability 0.95
