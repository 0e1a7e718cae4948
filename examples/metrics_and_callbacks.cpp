// SPDX-License-Identifier: Apache-2.0
// Metrics, a log and noisy records; the best epoch by a metric. docs/training.md explains them.
#include <linnet/linnet.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <random>

using namespace linnet;

/// Logs to the standard error stream, and stops once an epoch lowers the loss by less than 1 %.
struct Log : LogCallback {
  void on_epoch(const EpochReport& report) override {
    LogCallback::on_epoch(report);
    enough = report.train.loss > 0.99 * last;
    last = report.train.loss;
  }
  bool stop_requested() override { return enough; }
  double last = INFINITY;
  bool enough = false;
};

/// Pixels with noise that differs from epoch to epoch; none in evaluations.
void noisy(const Tensor& from, Tensor& to, const RecordPlace& place) {
  std::mt19937_64 engine(place.key);
  std::normal_distribution<float> noise;
  const float strength = place.epoch > 0 ? 0.05F : 0.0F;
  std::ranges::transform(from.as<std::uint8_t>(), to.as_writable<float>().begin(),
                         [&](std::uint8_t pixel) {
                           return pixel / 255.0F + strength * noise(engine);
                         });
}

int main() {
  Splits data = datasets::digits(4000, 1000, 1);
  for (Dataset* part : {&data.train, &data.test}) {
    *part = part->map("image", {.record = {28, 28, 1}, .seed = 1}, noisy);
  }
  const auto [training, validation] = data.train.split(0.1, {.stratify = true});

  const auto brier = [](const Expression& y, const Expression& t) {  // Brier, 1950
    return sum(square(softmax(y) - t));
  };
  TrainerOptions options{.seed = 1};
  options.metrics = {{.name = "brier", .values = brier},
                     {.name = "root", .values = brier, .result = [](std::span<const double> m) {
                        return std::sqrt(m[0]);
                      }}};
  Model model(Network({28, 28, 1},
                      {Conv2d{.filters = 8}, ReLU{}, MaxPool2d{}, Flatten{}, Dense{.units = 10}}));
  Trainer trainer(model, {.optimizer = Adam{.learning_rate = 3e-3}}, options);
  Log log;
  FitOptions fit{.epochs = 4, .batch = 50, .validation = validation, .keep_best = true};
  fit.watch = {.metric = "brier"};
  fit.callback = &log;
  trainer.fit(training, fit);
  const Evaluation test = Trainer(trainer.best(), {}, options).evaluate(data.test);
  std::printf("test accuracy %.3f, Brier score %.4f\n", test.accuracy, test.metrics.at("brier"));
}

// Prints:
//   test accuracy 0.912, Brier score 0.1292
