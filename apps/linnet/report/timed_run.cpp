// SPDX-License-Identifier: Apache-2.0
#include "report/timed_run.h"

#include <fmt/format.h>
#include <linnet/predictor.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>

#include "base/check.h"
#include "base/counted.h"
#include "data/targets.h"
#include "model/model_state.h"

namespace linnet::command {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

double mean(std::span<const float> values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

/// Why the losses are not those of a training that learns, or "".
std::string not_learning(const std::vector<EpochReport>& epochs) {
  double first = epochs.front().train.loss;
  double last = epochs.back().train.loss;
  std::string from = fmt::format("from epoch 1 to {}", epochs.size());
  if (epochs.size() == 1) {
    const std::span<const float> steps(epochs[0].step_losses);
    if (steps.size() < 2) return "one step cannot show whether the loss falls";
    first = mean(steps.first(steps.size() / 2));
    last = mean(steps.last(steps.size() / 2));
    from = "from the first half of the epoch to the second";
  }
  if (last < first) return "";
  return fmt::format("the loss does not fall: it goes from {:.6g} to {:.6g}, {}", first, last,
                     from);
}

/// A pass over a data set by a predictor.
class Pass {
 public:
  Pass(Model& model, const Dataset& data, std::int64_t batch, bool streamed)
      : predictor_(model),
        samples_(data.inputs().at(0).data),
        batch_(batch),
        streamed_(streamed),
        on_host_(model.device() == "cpu"),
        outputs_(model.state().definition().numbers, predictor_.output_shape().batched(batch)) {
    require(data.inputs().size() == 1 && data.inputs()[0].source == nullptr,
            "--mode infer needs data in memory with one input; '{}' has others", data.info().name);
  }

  /// Compiles and allocates, and puts a batch of each size where a GPU's run() reads it.
  void prepare() {
    if (size() >= batch_) predict(0, batch_);
    const std::int64_t rest = size() % batch_;
    if (rest > 0) predict(size() - rest, rest);
  }

  void run() {
    for (std::int64_t begin = 0; begin < size(); begin += batch_) {
      const std::int64_t count = std::min(batch_, size() - begin);
      if (streamed_ || on_host_) {
        predict(begin, count);  // of host memory a CPU copies nothing
      } else {
        predictor_.run(count, samples_.dtype());
      }
    }
    predictor_.wait();
  }

  /// Outputs of the last batch that predict() gave.
  bool finite() const {
    const Tensor rounded = outputs_.to(DType::f32);
    return std::ranges::all_of(rounded.as<float>(), [](float y) { return std::isfinite(y); });
  }

 private:
  std::int64_t size() const { return samples_.shape()[0]; }

  void predict(std::int64_t begin, std::int64_t count) {
    predictor_.predict(samples_.rows(begin, begin + count), outputs_.rows(0, count));
  }

  Predictor predictor_;
  Tensor samples_;
  std::int64_t batch_;
  bool streamed_;
  bool on_host_;
  Tensor outputs_;  ///< of a batch
};

/// Counts the epochs of a training.
class EpochCount : public Callback {
 public:
  EpochCount(const PassProgress& progress, std::int64_t epochs)
      : progress_(progress), epochs_(epochs) {}
  void on_epoch(const EpochReport& report) override {
    if (progress_) progress_(report.epoch, epochs_);
  }

 private:
  const PassProgress& progress_;
  std::int64_t epochs_;
};

/// Stops a training once the test set's accuracy is reached.
class FinishLine final : public EpochCount {
 public:
  FinishLine(double wanted, const PassProgress& progress, std::int64_t epochs)
      : EpochCount(progress, epochs), wanted_(wanted) {}
  void on_epoch(const EpochReport& report) override {
    EpochCount::on_epoch(report);
    reached_ = report.test.accuracy >= wanted_;
  }
  bool stop_requested() override { return reached_; }
  bool reached() const { return reached_; }

 private:
  double wanted_;
  bool reached_ = false;
};

TimedRun run_of(const History& history, std::int64_t samples, std::int64_t warmup) {
  TimedRun run{.seconds = {},
               .samples = samples,
               .startup_seconds = history.startup_seconds,
               .planned_bytes = history.planned_bytes,
               .shards = history.shards,
               .epochs = history.epochs,
               .notes = history.notes};
  for (const EpochReport& epoch : history.epochs) {
    if (epoch.epoch > warmup) run.seconds.push_back(epoch.seconds);
  }
  return run;
}

}  // namespace

Spread spread_of(std::vector<double> values) {
  if (values.empty()) return {};
  std::sort(values.begin(), values.end());
  const std::size_t middle = values.size() / 2;
  const double median =
      values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
  return {median, values.front(), values.back()};
}

TimedRun time_training(Model& model, const Dataset& data, TrainingOptions options,
                       std::int64_t warmup, const Dataset* test, const PassProgress& progress) {
  options.epochs += warmup;
  EpochCount count(progress, options.epochs);
  TimedRun run =
      run_of(train(model, data, options, test, progress ? &count : nullptr), data.size(), warmup);
  run.failed = not_learning(run.epochs);
  return run;
}

Race time_to_accuracy(Model& model, const Dataset& data, const TrainingOptions& options,
                      const Dataset& test, double wanted, const PassProgress& progress) {
  require(!labels_of(test).empty(), "an accuracy is for samples with classes; '{}' has none",
          test.info().name);
  FinishLine line(wanted, progress, options.epochs);
  const Clock::time_point start = Clock::now();
  Race race{.run = run_of(train(model, data, options, &test, &line), data.size(), 0)};
  race.test_seconds = seconds_since(start) - race.run.startup_seconds;
  for (const double seconds : race.run.seconds) race.test_seconds -= seconds;
  race.accuracy = race.run.epochs.back().test.accuracy;
  if (!line.reached()) {
    race.run.failed =
        fmt::format("{:.2f} % of the test set were not reached in {}; the last has {:.2f} %",
                    100 * wanted, counted(race.run.epochs.size(), "epoch"), 100 * race.accuracy);
  }
  return race;
}

TimedRun time_inference(Model& model, const Dataset& data, std::int64_t batch, bool streamed,
                        std::int64_t warmup, std::int64_t epochs, const PassProgress& progress) {
  const Clock::time_point start = Clock::now();
  batch = std::min(batch, data.size());
  Pass pass(model, data, batch, streamed);
  pass.prepare();
  TimedRun run{.seconds = {}, .samples = data.size(), .startup_seconds = seconds_since(start)};
  for (std::int64_t epoch = 0; epoch < warmup + epochs; ++epoch) {
    const Clock::time_point begin = Clock::now();
    pass.run();
    if (epoch >= warmup) run.seconds.push_back(seconds_since(begin));
    if (progress) progress(epoch + 1, warmup + epochs);
  }
  if (!pass.finite()) run.failed = "the outputs are not finite";
  return run;
}

}  // namespace linnet::command
