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
      : RecordIndex(step, step.position, step.samples, shuffle) {}

  /// Returns the records of the epoch, wherever the program reads them. shuffle: as a program that
  /// reads the records themselves has it.
  static constexpr RecordIndex of_epoch(const StepInfo& step, bool shuffle) {
    const EpochPlace& place = step.streamed;
    if (place.samples == 0) return {step, shuffle};
    return {step, place.position, place.samples, place.shuffled};
  }

  /// Returns the record of the batch's sample i.
  constexpr std::uint64_t operator()(std::int64_t i) const {
    const std::uint64_t position = first_ + static_cast<std::uint64_t>(i);
    return shuffle_ ? order_(position) : position;
  }

 private:
  constexpr RecordIndex(const StepInfo& step, std::uint64_t first, std::uint64_t samples,
                        bool shuffle)
      : first_(first),
        shuffle_(shuffle),
        order_(random_key(step.seed, RandomStream::shuffle, step.epoch),
               std::max<std::uint64_t>(samples, 1)) {}

  std::uint64_t first_;
  bool shuffle_;
  Permutation order_;
};

}  // namespace linnet
