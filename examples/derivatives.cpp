// SPDX-License-Identifier: Apache-2.0
// A network that learns the solution of a differential equation: u'' = -pi² sin(pi x) between -1
// and 1, 0 at both ends, which is sin(pi x).
#include <linnet/linnet.h>

#include <cstdio>
#include <numbers>
#include <vector>

using namespace linnet;

Network solution() {
  FunctionalNetwork functional;
  const Expression x = functional.input("x", {1});
  const Expression inner =
      x | Dense{.units = 16} | Tanh{} | Dense{.units = 16} | Tanh{} | Dense{.units = 1};
  const Expression u = inner * (1 - square(x));  // 0 at both ends, whatever the network says
  const double pi = std::numbers::pi;
  const Expression residual = gradient(gradient(u, x), x) + pi * pi * sin(pi * x);
  return functional.build({{"residual", residual}, {"u", u}});
}

int main() {
  // 64 points, at which the residual is to be 0.
  std::vector<float> points;
  for (int i = 0; i < 64; ++i) points.push_back(-1 + 2.0F * static_cast<float>(i) / 63);
  const Shape column{64, 1};
  const Dataset data({{.name = "x", .data = Tensor(points, column)}},
                     {{.name = "residual", .data = Tensor(std::vector<float>(64), column)}});

  Model model(solution(), {.device = "cpu", .seed = 1});
  train(model, data,
        {.epochs = 800,
         .batch = 64,
         .optimizer = Adam{.learning_rate = 1e-2},
         .schedule = CosineDecay{}});

  const Dataset at({{.name = "x", .data = Tensor(std::vector{0.25F, 0.5F}, {2, 1})}});
  const Tensor u = model.predict_all(at)[1].data;
  std::printf("u(0.25) = %.2f, u(0.5) = %.2f\n", u.as<float>()[0], u.as<float>()[1]);
}

// Prints:
//   u(0.25) = 0.71, u(0.5) = 1.00
