// SPDX-License-Identifier: Apache-2.0
#include "train/fit_checks.h"

#include <algorithm>

#include "base/check.h"
#include "train/early_stopping.h"

namespace linnet {

void check_options(const FitOptions& o) {
  require(o.epochs >= 1, "expected at least 1 epoch; got {}", o.epochs);
  require(o.batch >= 1, "expected a batch of at least 1; got {}", o.batch);
  require(o.accumulate >= 1, "expected at least 1 batch of an update; got {}", o.accumulate);
  require(o.prefetch >= 1, "expected at least 1 batch to be prefetched; got {}", o.prefetch);
  require(o.decoders >= 0, "expected 0 threads that decode or more; got {}", o.decoders);
  require(o.patience >= 0, "the patience must not be negative; got {}", o.patience);
}

void check_watch(const Watch& watch, bool classification, const std::vector<CustomMetric>& metrics,
                 bool held_out) {
  const std::string& name = watch.metric;
  if (watches_loss(watch)) return;
  if (name == "accuracy") {
    require(classification, "the accuracy is watched, but the targets are values");
    require(watch.better == Better::larger,
            "the accuracy is watched for small values; set Better::larger");
    return;
  }
  require(std::ranges::any_of(metrics, [&](const CustomMetric& m) { return m.name == name; }),
          "'{}' is watched, which is neither the loss, the accuracy nor a metric of the trainer",
          name);
  require(held_out,
          "the metric '{}' is watched, but there is neither a validation nor a test set that it "
          "is measured on",
          name);
}

}  // namespace linnet
