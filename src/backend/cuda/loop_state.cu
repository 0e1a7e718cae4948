// SPDX-License-Identifier: Apache-2.0
#include "backend/cuda/loop_state.h"

#include "backend/cuda/launch.h"
#include "backend/cuda/loop_state.cuh"

namespace linnet::cuda {
namespace {

__global__ void start(LoopState* state, LoopState value) { *state = value; }

__global__ void take(LoopState* state, StepList steps) {
  state->step = steps.infos[*steps.next];
  *steps.next += 1;
}

__global__ void advance(StepEnd end) { go_on(end); }

__global__ void decide(const LoopState* state, LoopRounds rounds) {
  const std::uint64_t steps = state->remaining;
  if (rounds.steps > 0) cudaGraphSetConditional(rounds.whole, steps >= rounds.steps ? 1 : 0);
  const std::uint64_t left = rounds.steps > 0 ? steps % rounds.steps : steps;
  cudaGraphSetConditional(rounds.single, left > 0 ? 1 : 0);
}

}  // namespace

void start_loop(const Queue& stream, LoopState* state, const LoopState& value) {
  launch(stream, "start_loop", {}, start, state, value);
}

void advance_loop(const Queue& stream, const StepEnd& end) {
  launch(stream, "advance_loop", {}, advance, end);
}

void take_step(const Queue& stream, LoopState* state, const StepList& steps) {
  launch(stream, "take_step", {}, take, state, steps);
}

void decide_rounds(const Queue& stream, const LoopState* state, const LoopRounds& rounds) {
  launch(stream, "decide_rounds", {}, decide, state, rounds);
}

}  // namespace linnet::cuda
