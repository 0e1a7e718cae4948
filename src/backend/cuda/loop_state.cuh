// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backend/cuda/last_block.cuh"
#include "backend/cuda/loop_state.h"

namespace linnet::cuda {

__device__ inline void go_on(const StepEnd& end) {
  LoopState& state = *end.loop;
  state.step.step += 1;
  state.step.update += 1;
  state.step.position += state.stride;
  state.remaining -= 1;
  if (end.steps > 0) {
    cudaGraphSetConditional(end.condition, state.remaining >= end.steps ? 1 : 0);
  }
}

/// Ends the step, where `end` says so, once all blocks of a one-dimensional grid have read its
/// state: every thread calls it, last. The ticket is Args::tickets.
__device__ inline void end_step(const StepEnd& end, unsigned* ticket) {
  if (end.loop != nullptr && is_last_block(ticket, gridDim.x) && threadIdx.x == 0) go_on(end);
}

}  // namespace linnet::cuda
