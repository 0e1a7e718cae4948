// SPDX-License-Identifier: Apache-2.0
// A Wasserstein GAN whose critic is kept to slopes of 1 by a gradient penalty (Gulrajani et al.,
// "Improved training of Wasserstein GANs", 2017). It learns points on a ring of radius 1.
#include <linnet/linnet.h>

#include <cmath>
#include <cstdio>
#include <numbers>
#include <vector>

using namespace linnet;

/// A loss that is the output itself, times `weight`.
OutputLoss plain(const char* output, double weight) {
  return {.output = output,
          .weight = weight,
          .custom = [](const Expression& y, const Expression& /*target*/) { return y; },
          .target = 0};
}

Network networks() {
  FunctionalNetwork f;
  const Block generator =
      block("g", {Dense{.units = 64}, ReLU{}, Dense{.units = 64}, ReLU{}, Dense{.units = 2}});
  const Block critic = block("c", {Dense{.units = 64}, LeakyReLU{.slope = 0.2}, Dense{.units = 64},
                                   LeakyReLU{.slope = 0.2}, Dense{.units = 1}});
  const Expression real = f.input("point", {2});
  const Expression fake = generator(f.normal({4}));
  const Expression share = f.uniform({1}, 0, 1);
  const Expression between = real * share + fake * (1 - share);
  const Expression slope = gradient(critic(between), between);
  return f.build({{"fake", fake},
                  {"on_real", critic(real)},
                  {"on_fake", critic(fake)},
                  {"steepness", sqrt(sum(square(slope), {0}, true) + 1e-12)}});
}

int main() {
  std::vector<float> points;
  for (int i = 0; i < 1000; ++i) {
    const double angle = 2 * std::numbers::pi * i / 1000;
    points.insert(points.end(),
                  {static_cast<float>(std::cos(angle)), static_cast<float>(std::sin(angle))});
  }
  const Dataset ring({{.name = "point", .data = Tensor(points, {1000, 2})}});
  Model model(networks(), {.device = "cpu", .seed = 1});

  Objective critic;
  critic.trains = {{.name = "c.*"}};
  critic.output_losses = {plain("on_fake", 1),
                          plain("on_real", -1),
                          {.output = "steepness", .loss = Loss::mse, .weight = 10, .target = 1}};
  critic.optimizer = Adam{.learning_rate = 1e-3, .beta1 = 0.5, .beta2 = 0.9};
  Objective generator = critic;
  generator.trains = {{.name = "g.*"}};
  generator.output_losses = {plain("on_fake", -1)};
  Trainer trainer(model, Objectives{{"critic", critic}, {"generator", generator}});

  int steps = 0;
  for (int epoch = 0; epoch < 2000; ++epoch) {
    for (const Batch& batch : trainer.batches(ring, {.size = 100})) {
      trainer.step("critic", batch);
      if (++steps % 5 == 0) trainer.step("generator", batch);
    }
  }
  const std::vector<Column> outputs = model.predict_all(ring);
  const std::span<const float> made = outputs[0].data.as<float>();
  double radius = 0;
  for (std::size_t i = 0; i < made.size(); i += 2) radius += std::hypot(made[i], made[i + 1]);
  double steepness = 0;
  for (const float one : outputs[3].data.as<float>()) steepness += one;
  std::printf("mean radius of the generated points %.0f, slope of the critic %.0f\n", radius / 1000,
              steepness / 1000);
}

// Prints:
//   mean radius of the generated points 1, slope of the critic 1
