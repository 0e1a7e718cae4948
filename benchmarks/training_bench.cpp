// SPDX-License-Identifier: Apache-2.0
// Training speed of mnist_cnn() on drawn digits: whole epochs, shuffled, resident data.
#include <benchmark/benchmark.h>
#include <linnet/linnet.h>

#include "networks/networks.h"

namespace linnet {
namespace {

/// Arguments: batch, threads. The time is that of the epochs alone, as the trainer reports it.
void train_mnist_cnn(benchmark::State& state) {
  static const Dataset digits = datasets::digits(20000, 0, 1).train;
  Model model(workloads::mnist_cnn(), {.threads = static_cast<int>(state.range(1))});
  const TrainingOptions options{.epochs = 1,
                                .batch = state.range(0),
                                .optimizer = Adam{.learning_rate = 1e-3}};
  train(model, digits, options);  // warm
  double loss = 0;
  for (auto _ : state) {
    const EpochReport epoch = train(model, digits, options).epochs[0];
    state.SetIterationTime(epoch.seconds);
    loss = epoch.train.loss;
  }
  state.SetItemsProcessed(state.iterations() * digits.size());
  state.counters["loss"] = loss;
}

BENCHMARK(train_mnist_cnn)
    ->ArgNames({"batch", "threads"})
    ->Args({128, 1})
    ->Args({128, 2})
    ->Args({1024, 1})
    ->Args({1024, 2})
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond)
    ->Repetitions(5)
    ->ReportAggregatesOnly();

/// Arguments: batch, threads. Bytes to probabilities.
void predict_mnist_cnn(benchmark::State& state) {
  static const Dataset digits = datasets::digits(20000, 0, 1).train;
  Model model(workloads::mnist_cnn(), {.threads = static_cast<int>(state.range(1))});
  for (auto _ : state) {
    benchmark::DoNotOptimize(model.predict_probabilities(digits, state.range(0)));
  }
  state.SetItemsProcessed(state.iterations() * digits.size());
}

BENCHMARK(predict_mnist_cnn)
    ->ArgNames({"batch", "threads"})
    ->Args({256, 1})
    ->Args({256, 2})
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond)
    ->Repetitions(5)
    ->ReportAggregatesOnly();

}  // namespace
}  // namespace linnet
