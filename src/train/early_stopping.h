// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/trainer.h>

#include <cstdint>
#include <limits>

namespace linnet {

/// What early stopping and Plateau watch: the validation set, or the test set where nothing is held
/// out, or else the training.
inline const Evaluation& watched(const EpochReport& report) {
  return report.validation.samples > 0 ? report.validation
         : report.test.samples > 0     ? report.test
                                       : report.train;
}

/// Watches the loss of watched().
class EarlyStopping {
 public:
  explicit EarlyStopping(std::int64_t patience) : patience_(patience) {}

  /// Takes an epoch in; returns whether its loss is the best so far.
  bool improved(const EpochReport& report) {
    const double loss = watched(report).loss;
    const bool better = loss < best_;
    best_ = better ? loss : best_;
    waited_ = better ? 0 : waited_ + 1;
    return better;
  }
  /// Whether the loss has not improved in the last `patience` epochs.
  bool exhausted() const { return patience_ > 0 && waited_ >= patience_; }

 private:
  std::int64_t patience_;
  std::int64_t waited_ = 0;
  double best_ = std::numeric_limits<double>::infinity();
};

}  // namespace linnet
