// SPDX-License-Identifier: Apache-2.0
#include "train/fit_checks.h"

#include <algorithm>

#include "base/check.h"
#include "model/options.h"
#include "model/shards.h"
#include "train/early_stopping.h"

namespace linnet {

void check_shards(std::int64_t shards) {
  require(is_shard_count(shards),
          "expected a power of two from 1 to {} as the shards of a batch; got {}", kMostShards,
          shards);
}

void check_options(const FitOptions& o) {
  description_of<FitOptions>().check(&o, "");
  if (o.shards != 0) check_shards(o.shards);
}

void check_watch(const Watch& watch, bool classification, const std::vector<CustomMetric>& metrics,
                 bool held_out) {
  const std::string& name = watch.metric;
  if (watches_loss(watch)) return;
  if (name == "accuracy") {
    require(classification, "watching the accuracy needs labels; the targets are values");
    require(watch.better == Better::larger,
            "watching the accuracy needs Better::larger; got Better::smaller");
    return;
  }
  require(std::ranges::any_of(metrics, [&](const CustomMetric& m) { return m.name == name; }),
          "the watched '{}' is not the loss, the accuracy or a metric of the trainer", name);
  require(held_out, "watching the metric '{}' needs a validation or a test set; got neither", name);
}

}  // namespace linnet
