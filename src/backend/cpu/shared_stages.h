// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "backend/cpu/kernel.h"
#include "plan/access.h"
#include "plan/plan.h"

namespace linnet::cpu {

/// Threads from which on stages share hand-outs, and memory is kept apart for that: fewer hardly
/// wait for each other, and find more in their caches where memory is used again soon.
inline constexpr int kFewestSharing = 4;

/// What decides which stages may run at the same time.
struct StageUse {
  std::vector<std::size_t> nodes;  ///< whose stage it is, in order: those of one follow each other
  std::vector<Access> accesses;
  bool alone = false;  ///< Kernel::alone
};

/// Returns the use of a node's stage.
StageUse use_of(const Plan& plan, const Kernel& kernel, std::size_t node, std::size_t stage);

/// Lets stages, which stand in the order in which they would run one by one, share hand-outs: each
/// goes into the first of those shortly before it after which nothing touches memory that it needs.
/// Returns the stages of each hand-out, by place.
std::vector<std::vector<std::size_t>> share_stages(std::span<const StageUse> stages);

/// Returns nodes of a plan that would share stages if they did not share memory: as many as can be
/// kept apart with no more than `most` bytes of the arena in use at a time.
std::vector<Kept> find_kept(const Plan& plan, const std::vector<Kernel>& kernels, std::size_t most);

}  // namespace linnet::cpu
