// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "runtime/backend.h"

namespace linnet {

/// A program whose kind can run for many blocks of samples at the same time: each block on one
/// thread from the first operator to the last, so that its values stay in that thread's cache.
class RunsBlocks {
 public:
  virtual ~RunsBlocks() = default;
  /// Returns how many blocks run at the same time, of `blocks`.
  virtual std::size_t lanes(std::size_t blocks) const = 0;
  /// Gives each lane its memory, which may share all but the arena with the others'; called after
  /// Program::attach().
  virtual void attach_lanes(std::span<const Memory> lanes) = 0;
  /// Runs `blocks` blocks. The i-th one has external slot s at its bound address + i * strides[s],
  /// and first.first_row + i * rows. A block has the bits that Program::run() would give it.
  virtual void run_blocks(const StepInfo& first, std::uint64_t rows, std::size_t blocks,
                          std::span<const std::size_t> strides) = 0;
};

}  // namespace linnet
