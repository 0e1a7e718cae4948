// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/random.h"
#include "graph/step.h"

namespace linnet {

/// Maps positions of an epoch to records, for one step. Constexpr, so CUDA kernels compute it too.
class RecordIndex {
 public:
  /// shuffle: in the epoch's order, a keyed permutation; else as stored.
  constexpr RecordIndex(const StepInfo& step, bool shuffle)
      : first_(step.position),
        begin_(step.begin),
        shuffle_(shuffle),
        part_(step.samples != step.records),
        order_(random_key(step.seed, RandomStream::shuffle, step.epoch),
               std::max<std::uint64_t>(step.samples, 1)),
        split_(random_key(step.seed, RandomStream::split),
               std::max<std::uint64_t>(step.records, 1)) {}

  /// The record of the batch's sample i.
  constexpr std::uint64_t operator()(std::int64_t i) const {
    std::uint64_t position = first_ + static_cast<std::uint64_t>(i);
    if (shuffle_) position = order_(position);
    position += begin_;
    return part_ ? split_(position) : position;
  }

 private:
  std::uint64_t first_;
  std::uint64_t begin_;
  bool shuffle_;
  bool part_;
  Permutation order_;
  Permutation split_;
};

}  // namespace linnet
