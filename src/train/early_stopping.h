// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/callback.h>
#include <linnet/custom_metric.h>

#include <array>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>

namespace linnet {

/// Returns what early stopping and Plateau watch: the validation set, or the test set where nothing
/// is held out, or else the training.
inline const Evaluation& watched(const EpochReport& report) {
  return report.validation.samples > 0 ? report.validation
         : report.test.samples > 0     ? report.test
                                       : report.train;
}

/// Returns whether an epoch can be the best one. An epoch that a stop cut short cannot, since no
/// number of epochs repeats it; if it is the first, there is no other.
inline bool can_be_best(const EpochReport& report, bool first) { return report.complete || first; }

inline bool watches_loss(const Watch& watch) { return watch.metric == "loss"; }

/// Watches a number of watched().
class EarlyStopping {
 public:
  explicit EarlyStopping(std::int64_t patience, Watch watch = {})
      : patience_(patience), watch_(std::move(watch)) {}

  /// Takes an epoch in; returns whether its number is the best so far.
  bool improved(const EpochReport& report) {
    const double number = number_of(watched(report));
    const double cost = watch_.better == Better::smaller ? number : -number;
    const bool better = cost < best_;
    best_ = better ? cost : best_;
    waited_ = better ? 0 : waited_ + 1;
    return better;
  }
  /// Returns whether the number has not improved in the last `patience` epochs.
  bool exhausted() const { return patience_ > 0 && waited_ >= patience_; }

  /// Returns what it remembers: epochs waited, and the best number as a cost.
  std::array<double, 2> memory() const { return {static_cast<double>(waited_), best_}; }
  void remember(std::span<const double, 2> memory) {
    waited_ = static_cast<std::int64_t>(memory[0]);
    best_ = memory[1];
  }

 private:
  double number_of(const Evaluation& evaluation) const {
    if (watches_loss(watch_)) return evaluation.loss;
    if (watch_.metric == "accuracy") return evaluation.accuracy;
    return evaluation.metrics.at(watch_.metric);
  }

  std::int64_t patience_;
  Watch watch_;
  std::int64_t waited_ = 0;
  double best_ = std::numeric_limits<double>::infinity();
};

}  // namespace linnet
