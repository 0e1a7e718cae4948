// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/trainer.h>

#include <cstdint>
#include <vector>

namespace linnet {

/// Throws Error unless a batch may be cut into so many shards.
void check_shards(std::int64_t shards);

/// Throws Error for options out of range.
void check_options(const FitOptions& options);

/// Throws Error unless a fit measures what it is to watch. classification: of its first target;
/// held_out: whether there is a validation or a test set.
void check_watch(const Watch& watch, bool classification, const std::vector<CustomMetric>& metrics,
                 bool held_out);

}  // namespace linnet
