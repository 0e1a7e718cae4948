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
  unsigned tickets[kTickets];       ///< Args::tickets
  unsigned side_tickets[kTickets];  ///< of nodes on the side branch
};

/// The conditions of an epoch's two WHILE nodes.
struct LoopRounds {
  cudaGraphConditionalHandle whole = {};   ///< of rounds of `steps` steps
  cudaGraphConditionalHandle single = {};  ///< of the steps that are left, one a round
  std::uint64_t steps = 0;                 ///< 0: all steps are single
};

/// What programs that take turns are told, one after the other; in device memory.
struct StepList {
  std::uint64_t* next = nullptr;  ///< place of the next one that is taken
  const StepInfo* infos = nullptr;
};

/// Enqueues: *state = value.
void start_loop(const Queue& stream, LoopState* state, const LoopState& value);
/// Enqueues, after a step's kernels: the end of the step.
void advance_loop(const Queue& stream, const StepEnd& end);
/// Enqueues: state->step = the next one of `steps`.
void take_step(const Queue& stream, LoopState* state, const StepList& steps);
/// Enqueues, before the WHILE nodes: the values that their conditions have at first.
void decide_rounds(const Queue& stream, const LoopState* state, const LoopRounds& rounds);

}  // namespace linnet::cuda
