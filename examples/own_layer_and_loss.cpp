// SPDX-License-Identifier: Apache-2.0
// A network of two inputs and two outputs, with a layer and a loss of one's own. Gradients, fusion
// and every device come from the operators that the expressions are made of.
#include <linnet/linnet.h>

#include <cstdio>

using namespace linnet;

/// x sigmoid(s x) with a trained s for each feature (Ramachandran et al., 2017).
Layer scaled_swish() {
  return CustomLayer{"scaled_swish", [](const Expression& x, LayerWeights& weights) {
                       return x * sigmoid(x * weights.add("scale", {x.shape()[-1]}, kOnes));
                     }};
}

/// Squares where the error is small, its absolute value where it is large.
Expression pseudo_huber(const Expression& y, const Expression& target) {
  return sqrt(1 + square(y - target)) - 1;
}

int main() {
  // What digit an image shows, and how much ink it has, when half of the images come with a hint:
  // whether the digit is odd (+1), even (-1), or nothing (0).
  DatasetPair data = make_digits(10000, 2000, 1);
  for (Dataset* part : {&data.train, &data.test}) {
    Column hint{.name = "hint", .shape = {1}};
    Column ink{.name = "ink", .shape = {1}};
    const std::size_t pixels = part->bytes.size() / part->labels.size();
    for (std::size_t i = 0; i < part->labels.size(); ++i) {
      hint.floats.push_back(i % 2 == 0 ? 0.0F : part->labels[i] % 2 != 0 ? 1.0F : -1.0F);
      float sum = 0;
      for (std::size_t p = 0; p < pixels; ++p) sum += part->bytes[i * pixels + p];
      ink.floats.push_back(sum / 25500);
    }
    part->more_inputs = {hint};
    part->more_targets = {ink};
  }

  FunctionalNetwork functional;
  const Expression image = functional.input("image", {28, 28, 1});
  const Expression hint = functional.input("hint", {1});
  const Expression features = image | Rescale{} | Conv2d{.filters = 8} | ReLU{} |
                              MaxPool2d{.size = 4} | Flatten{} | Dense{.units = 32};
  const Expression both = concat({features, hint}, 0) | scaled_swish();
  const Network network = functional.build(
      {{"digit", both | Dense{.units = 10}}, {"ink", features | Dense{.units = 1}}});

  Model model(network);
  TrainingOptions options{.epochs = 4, .batch = 64};
  options.output_losses = {{.output = "ink", .weight = 0.5, .custom = pseudo_huber}};
  const History history = train(model, data.train, options, &data.test);
  for (const EpochReport& epoch : history.epochs) {
    std::printf("epoch %lld  loss %.4f  test accuracy %.4f\n", static_cast<long long>(epoch.epoch),
                epoch.train.loss, epoch.test.accuracy);
  }
  const std::vector<Column> outputs = model.predict_all(data.test);
  std::printf("first test image: ink %.2f, predicted %.2f\n", data.test.more_targets[0].floats[0],
              outputs[1].floats[0]);
}
