// SPDX-License-Identifier: Apache-2.0
#include "backend/cuda/loop_state.h"

#include "backend/cuda/launch.h"

namespace linnet::cuda {
namespace {

__global__ void start(LoopState* state, LoopState value) { *state = value; }

__device__ inline void next(LoopState* state) {
  state->step.step += 1;
  state->step.update += 1;
  state->step.position += state->stride;
  state->remaining -= 1;
}

__global__ void advance(LoopState* state) { next(state); }

__global__ void advance_and_test(LoopState* state, cudaGraphConditionalHandle condition) {
  next(state);
  cudaGraphSetConditional(condition, state->remaining > 0 ? 1 : 0);
}

}  // namespace

void start_loop(const Queue& stream, LoopState* state, const LoopState& value) {
  launch(stream, "start_loop", {}, start, state, value);
}

void advance_loop(const Queue& stream, LoopState* state) {
  launch(stream, "advance_loop", {}, advance, state);
}

void advance_loop(const Queue& stream, LoopState* state, cudaGraphConditionalHandle condition) {
  launch(stream, "advance_loop", {}, advance_and_test, state, condition);
}

}  // namespace linnet::cuda
