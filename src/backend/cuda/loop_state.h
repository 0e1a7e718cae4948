// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "backend/cuda/kernel.h"
#include "backend/cuda/queue.h"
#include "graph/step.h"

namespace linnet::cuda {

/// State of a run in device memory: the step that its kernels read, and how it goes on.
struct LoopState {
  StepInfo step;
  std::uint64_t stride = 0;     ///< what a step adds to the position
  std::uint64_t remaining = 0;  ///< steps, the current one included
};

/// What a program keeps in device memory beside its operands; zeros before the first run.
struct ProgramState {
  LoopState loop;
  unsigned tickets[kTickets];  ///< Args::tickets
};

/// Enqueues: *state = value.
void start_loop(const Queue& stream, LoopState* state, const LoopState& value);
/// Enqueues, after a step's kernels: the next step.
void advance_loop(const Queue& stream, LoopState* state);
/// The same at the end of a WHILE node's body, which goes on as long as steps remain.
void advance_loop(const Queue& stream, LoopState* state, cudaGraphConditionalHandle condition);

}  // namespace linnet::cuda
