// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "backend/cpu/kernel.h"
#include "ops/recurrent/step_chunks_cpu.h"

namespace linnet::cpu {

/// How tasks share each step of a recurrent layer: a task computes some units of some samples, so
/// that its part of the weights stays in its core's cache, and reads the state that all tasks of
/// the step before have written.
struct SharedSteps {
  static constexpr std::int64_t kLanes = 16;  ///< of the widest vectors

  explicit SharedSteps(const RecurrentShape& shape) : s(shape) {
    // About 128 KiB of w_hh are one task's, and at least two vectors of units.
    constexpr std::uint64_t kWeights = std::uint64_t{24} << 10;
    const auto worth = static_cast<std::int64_t>(
        std::bit_floor(static_cast<std::uint64_t>(s.columns() * s.units) / kWeights));
    const std::int64_t most = std::max<std::int64_t>(s.units / (2 * kLanes), 1);
    parts = static_cast<int>(std::clamp<std::int64_t>(worth, 1, most));
    constexpr std::int64_t kRows = 64;
    blocks = static_cast<int>(std::clamp<std::int64_t>(s.n / kRows, 1, 64));
  }

  /// Tasks of a step; those of the same units follow each other.
  int tasks() const { return parts * blocks; }
  int part(int task) const { return task / blocks; }
  /// The units of a part: whole vectors, but for the last one.
  Range units(int part) const {
    const Range vectors = split((s.units + kLanes - 1) / kLanes, parts, part);
    return {vectors.begin * kLanes, std::min(vectors.end * kLanes, s.units)};
  }
  Range rows(int task) const { return split(s.n, blocks, task % blocks); }
  std::int64_t most_rows() const { return (s.n + blocks - 1) / blocks; }
  std::int64_t most_units() const {
    return ((s.units + kLanes - 1) / kLanes + parts - 1) / parts * kLanes;
  }
  std::int64_t chunk() const { return chunk_steps(s, std::max<std::int64_t>(s.n, 1)); }

  RecurrentShape s;
  int parts = 1;   ///< of the units
  int blocks = 1;  ///< of the samples
};

/// Whether that is faster than tasks that take their samples through all steps alone: there are too
/// few samples for several tasks, or w_hh is larger than a core's L2 cache, taken to be 1 MiB.
inline bool shares_steps(const RecurrentShape& s) {
  constexpr std::int64_t kCached = std::int64_t{256} << 10;  // floats
  constexpr std::int64_t kMostSteps = 4096;                  // each is a stage
  const bool few = s.n <= block_rows(s);
  return s.cell != Cell::gru_original && s.n > 0 && s.steps <= kMostSteps &&
         SharedSteps(s).parts > 1 && (few || s.columns() * s.units > kCached);
}

/// RecurrentOp; what is not read, is not written.
Kernel shared_forward(const RecurrentShape& shape, bool bias, bool y_read, bool saved_read);

/// RecurrentGradOp of these attributes.
Kernel shared_backward(const RecurrentShape& shape, const RecurrentGradOp& op, bool dx_read);

}  // namespace linnet::cpu
