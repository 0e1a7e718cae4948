// SPDX-License-Identifier: Apache-2.0
#include "ops/loss_scale/loss_scale.h"

#include "backend/cuda/kernel.h"
#include "backend/cuda/loop_state.cuh"

namespace linnet::cuda {
namespace {

/// One thread, which ends the step, too.
__global__ void loss_scale_kernel(float* scale, double* stopped, const double* counters,
                                  std::int64_t interval, const StepInfo* step, StepEnd end,
                                  unsigned* ticket) {
  update_loss_scale(scale, stopped, counters, interval, *step);
  end_step(end, ticket);
}

std::optional<Kernel> prepare_loss_scale(const NodeView& node, const Context& /*context*/) {
  using In = LossScaleOp::In;
  const auto enqueue = [interval = node.attrs<LossScaleOp>().interval](const Args& args) {
    launch(args.stream, "loss_scale", {.block = 1}, loss_scale_kernel, args.in_out(In::scale),
           args.in_out<double>(In::stopped), args.in<double>(In::counters), interval, args.step,
           args.end, args.tickets);
  };
  return Kernel{.enqueue = enqueue, .ends_steps = true};
}

}  // namespace

void register_loss_scale(Registry& registry) {
  registry.add(LossScaleOp::kName, prepare_loss_scale);
}

}  // namespace linnet::cuda
