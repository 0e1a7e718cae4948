// SPDX-License-Identifier: Apache-2.0
// A generative adversarial network (Goodfellow et al., 2014): two objectives over one network. The
// discriminator `d` is applied to images, and to those that the generator `g` makes from noise.
//   gan [FOLDER]   Fashion-MNIST in that folder, or else drawn digits
#include <linnet/linnet.h>

#include <cstdio>
#include <numeric>

using namespace linnet;

/// The mean of all elements.
double mean_of(const Tensor& values) {
  const std::span<const float> all = values.as<float>();
  return std::accumulate(all.begin(), all.end(), 0.0) / static_cast<double>(all.size());
}

/// That output's binary cross-entropy against `target` in every element.
OutputLoss judged(const char* output, double target) {
  return {.output = output, .loss = Loss::binary_cross_entropy, .target = target};
}

int main(int argc, char** argv) {
  const Splits data = argc > 1 ? datasets::fashion_mnist(argv[1]) : datasets::digits(6000, 100, 1);

  FunctionalNetwork f;
  const Block g = block("g", {Dense{.units = 128}, ReLU{}, Dense{.units = 784}, Sigmoid{}});
  const Block d = block("d", {Dense{.units = 128}, LeakyReLU{.slope = 0.2}, Dense{.units = 1}});
  const Expression fake = g(f.normal({32}));
  const Expression real = f.input("image", {28, 28, 1}) | Rescale{1.0 / 255} | Flatten{};
  Model model(
      f.build({{"fake", fake}, {"real", real}, {"on_real", d(real)}, {"on_fake", d(fake)}}));

  Objective discriminator;
  discriminator.trains = {{.name = "d.*"}};
  discriminator.output_losses = {judged("on_real", 1), judged("on_fake", 0)};
  discriminator.optimizer = Adam{.learning_rate = 2e-4, .beta1 = 0.5};
  Objective generator = discriminator;
  generator.trains = {{.name = "g.*"}};
  generator.output_losses = {judged("on_fake", 1)};
  generator.optimizer = Adam{.learning_rate = 1e-3, .beta1 = 0.5};
  Trainer trainer(model, Objectives{{"discriminator", discriminator}, {"generator", generator}});

  for (int epoch = 1; epoch <= 5; ++epoch) {
    for (const Batch& batch : trainer.batches(data.train, {.size = 100})) {
      trainer.step("discriminator", batch);
      trainer.step("generator", batch);  // reads no images: its losses need none
    }
  }
  std::printf("discriminator's loss %.3f, generator's loss %.3f\n",
              trainer.evaluate("discriminator", data.test).loss,
              trainer.evaluate("generator", data.test).loss);
  const std::vector<Column> outputs = model.predict_all(data.test);
  std::printf("mean brightness: generated %.3f, real %.3f\n", mean_of(outputs[0].data),
              mean_of(outputs[1].data));
}

// Prints:
//   discriminator's loss 1.108, generator's loss 0.860
//   mean brightness: generated 0.141, real 0.132
