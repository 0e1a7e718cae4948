// SPDX-License-Identifier: Apache-2.0
#pragma once

// What a running kernel asks of the simulator; device_functions.h gives it CUDA's names.
#include <cstddef>
#include <cstdint>
#include <source_location>

namespace linnet::cuda::sim {

enum class BlockBarrier : std::uint8_t { kSync, kOr, kAnd, kCount };
enum class WarpOp : std::uint8_t {
  kSync,
  kShuffle,
  kShuffleXor,
  kShuffleDown,
  kShuffleUp,
  kBallot,
  kAny,
  kAll
};

/// The launch's dynamic shared memory: 16-byte aligned, garbage at the start of each block. Throws
/// where the launch asked for none.
void* dynamic_shared();

/// Waits until every thread of the block that has not exited is here. Returns the number of threads
/// whose `predicate` held. Throws where the block's threads wait at different barriers.
int block_barrier(BlockBarrier kind, bool predicate, const std::source_location& where);

/// Waits for the lanes of `mask` and returns the bits that lane `source` of the warp brought, or
/// for kBallot, kAny and kAll the mask of lanes whose bits are not zero. Throws for masks without
/// the caller, with lanes past the block's end, or where `source` does not take part.
std::uint64_t warp_exchange(WarpOp op, unsigned mask, std::uint64_t bits, unsigned source,
                            const std::source_location& where);

/// Returns the calling thread's place in its warp.
unsigned lane_index();

/// Returns the lanes of the calling thread's warp that exist and have not exited.
unsigned live_lanes();

}  // namespace linnet::cuda::sim
