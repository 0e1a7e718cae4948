// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>

namespace linnet {

/// As many different shares as the losses of one network may have in a shard.
inline constexpr std::size_t kShares = 8;

/// A batch's place in an epoch whose records are not where the program reads them.
struct EpochPlace {
  std::uint64_t position = 0;  ///< of the batch's first sample
  std::uint64_t samples = 0;   ///< of the epoch; 0: the program reads the records themselves
  bool shuffled = false;
};

/// All that differs from one step to the next. Everything random or scheduled is a function of it,
/// so a step can be repeated, resumed, or run on a device without the host.
struct StepInfo {
  std::uint64_t seed = 0;
  std::uint64_t step = 0;  ///< steps done before this one, over the whole training; keys all noise
  /// Updates that this step's optimizer has done before: `step`, unless several objectives take
  /// turns.
  std::uint64_t update = 0;
  /// How far the schedule, which counts epochs, is ahead of `update`: 0 unless epochs have had
  /// other numbers of updates than they have now.
  std::int64_t schedule_lead = 0;
  std::uint64_t epoch = 0;     ///< keys the shuffle
  std::uint64_t position = 0;  ///< index in the epoch of the batch's first sample

  /// Where the program runs a part of a batch (a shard): the row in the whole batch of its first
  /// row. Noise is keyed by rows of the whole batch, so that it does not depend on the parts.
  std::uint64_t first_row = 0;
  /// Factors of a shard's losses: its shares of their denominators in the whole batch.
  /// The first one is its share of the rows.
  std::array<float, kShares> shares = {1, 1, 1, 1, 1, 1, 1, 1};

  std::uint64_t samples = 0;  ///< of an epoch: all records of the data
  EpochPlace streamed = {};   ///< where `position` and `samples` are those of a ring of batches

  /// Factor on the schedule's learning rate by the host, e.g. after a plateau.
  double rate_factor = 1;

  /// Returns the updates that the schedule counts: epochs done, in steps of their present length.
  constexpr std::uint64_t schedule_step() const {
    return static_cast<std::uint64_t>(static_cast<std::int64_t>(update) + schedule_lead);
  }
  /// Returns what so many steps later is, each `stride` samples further.
  constexpr StepInfo after(std::uint64_t steps, std::uint64_t stride) const {
    StepInfo later = *this;
    later.step += steps;
    later.update += steps;
    later.position += steps * stride;
    return later;
  }
};

}  // namespace linnet
