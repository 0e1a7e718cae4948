// SPDX-License-Identifier: Apache-2.0
// Transfer learning: a network trained on ten classes gets a head of two, and learns these from 20
// images. Page 5 of the tutorial explains it.
//   transfer [FOLDER]   Fashion-MNIST in that folder, or else drawn digits
#include <linnet/linnet.h>

#include <cstdio>

using namespace linnet;

/// Returns the first `count` images of a 3 or an 8 (in Fashion-MNIST: dresses and bags).
Dataset two_classes(const Dataset& data, std::size_t count) {
  const std::span<const std::int32_t> all = data.targets()[0].data.as<std::int32_t>();
  std::vector<std::int64_t> chosen;
  std::vector<std::int32_t> labels;
  for (std::size_t i = 0; i < all.size() && chosen.size() < count; ++i) {
    if (all[i] != 3 && all[i] != 8) continue;
    chosen.push_back(static_cast<std::int64_t>(i));
    labels.push_back(all[i] == 3 ? 0 : 1);
  }
  const Shape shape{std::ssize(labels)};
  return Dataset(data.take(chosen).inputs(), {{"which", Tensor(std::move(labels), shape)}});
}

/// Trains `model` for 20 epochs on `train`, and returns its accuracy on `test`.
double tuned(const Model& model, const Objective& objective, const Dataset& train,
             const Dataset& test) {
  Trainer trainer(model, objective, {.seed = 1});
  trainer.fit(train, {.epochs = 20, .batch = 10});
  return trainer.evaluate(test).accuracy;
}

int main(int argc, char** argv) {
  const Splits data = argc > 1 ? datasets::fashion_mnist(argv[1]) : datasets::digits(5000, 1000, 1);

  // A network of ten classes. Its layers have names, by which they are found again.
  Model ten(Network({28, 28, 1}, {Rescale{1.0 / 255}, Conv2d{.filters = 8, .name = "conv"}, ReLU{},
                                  MaxPool2d{}, Flatten{}, Dense{.units = 32, .name = "features"},
                                  ReLU{}, Dense{.units = 10, .name = "fc"}}));
  Trainer first(ten, {.optimizer = Adam{.learning_rate = 3e-3}}, {.seed = 1});
  first.fit(data.train, {.epochs = 4, .batch = 64});
  std::printf("ten classes: accuracy %.3f\n", first.evaluate(data.test).accuracy);

  // The new task: two classes, 20 images. Without transfer:
  const Dataset few = two_classes(data.train, 20), test = two_classes(data.test, 200);
  const Objective whole{.optimizer = Adam{.learning_rate = 3e-3}};
  const Model untrained = Model(ten.network()).with_head("fc", Dense{.units = 2});
  std::printf("two classes from 20 images, from scratch: accuracy %.3f\n",
              tuned(untrained, whole, few, test));

  // Only the new head trains; all other layers are frozen.
  const Model two = ten.with_head("fc", Dense{.units = 2});
  const Objective head{.trains = {{.name = "fc.*"}}, .optimizer = Adam{.learning_rate = 1e-2}};
  std::printf("a new head on frozen features: accuracy %.3f\n", tuned(two, head, few, test));

  // Then all of it, the body at a tenth of the rate.
  const Objective finer{.trains = {{.name = "fc.*"}, {.name = "*", .learning_rate_factor = 0.1}},
                        .optimizer = Adam{.learning_rate = 3e-3}};
  std::printf("then all of it, the body at a tenth of the rate: accuracy %.3f\n",
              tuned(two, finer, few, test));
}

// Prints:
//   ten classes: accuracy 0.947
//   two classes from 20 images, from scratch: accuracy 0.855
//   a new head on frozen features: accuracy 0.990
//   then all of it, the body at a tenth of the rate: accuracy 0.995
