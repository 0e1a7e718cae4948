// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <linnet/dataset.h>

namespace linnet {

/// Keeps `samples` samples, spread evenly over all of them; all where there are no more, or for 0.
/// Throws Error for data that are read from files as they are needed.
void subsample(Dataset& data, std::int64_t samples);

/// Returns which of `records` records becomes sample `i` of `kept`.
constexpr std::int64_t kept_record(std::int64_t i, std::int64_t records, std::int64_t kept) {
  return i * records / kept;
}

}  // namespace linnet
