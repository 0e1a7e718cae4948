// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/trainer.h>

#include <cstdint>
#include <limits>

namespace linnet {

/// Watches the validation loss, or the test loss where nothing is held out, or else the training
/// loss.
class EarlyStopping {
 public:
  explicit EarlyStopping(std::int64_t patience) : patience_(patience) {}

  /// True when the loss has not improved in the last `patience` epochs.
  bool should_stop(const EpochReport& report) {
    const Evaluation& watched = report.validation.samples > 0 ? report.validation
                                : report.test.samples > 0     ? report.test
                                                              : report.train;
    if (watched.loss < best_) {
      best_ = watched.loss;
      waited_ = 0;
    } else {
      ++waited_;
    }
    return patience_ > 0 && waited_ >= patience_;
  }

 private:
  std::int64_t patience_;
  std::int64_t waited_ = 0;
  double best_ = std::numeric_limits<double>::infinity();
};

}  // namespace linnet
