// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "backend/cuda/device.cuh"
#include "backend/cuda/kernel.h"
#include "ops/mix_batch/formulas.h"
#include "ops/mix_batch/mix_batch.h"

namespace linnet::cuda {
namespace {

/// A sample a block (x), parts of its elements (y); the first thread draws for all.
struct Mixing {
  MixDraw draw;
  std::int64_t partner;
};

__device__ inline void draw_for_block(Mixing& mixing, const MixRule& rule, const StepInfo* step) {
  if (threadIdx.x == 0) {
    mixing.draw = draw_mix(rule, *step);
    mixing.partner = mixing.draw.partner(blockIdx.x, gridDim.x);
  }
  __syncthreads();
}

__device__ inline std::int64_t first_element() {
  return static_cast<std::int64_t>(blockIdx.y) * blockDim.x + threadIdx.x;
}
__device__ inline std::int64_t element_stride() {
  return static_cast<std::int64_t>(gridDim.y) * blockDim.x;
}

__global__ void mix_batch_kernel(MixRule rule, const StepInfo* step, std::int64_t size,
                                 std::int64_t channels, const float* __restrict__ x,
                                 float* __restrict__ y) {
  __shared__ Mixing mixing;
  draw_for_block(mixing, rule, step);
  const std::int64_t own = static_cast<std::int64_t>(blockIdx.x) * size;
  const std::int64_t other = mixing.partner * size;
  for (std::int64_t k = first_element(); k < size; k += element_stride()) {
    y[own + k] = mixing.draw.mixed(x[own + k], x[other + k], k, rule.width, channels);
  }
}

__global__ void mix_labels_kernel(MixRule rule, const StepInfo* step, std::int64_t classes,
                                  const std::int32_t* labels, float* rows) {
  __shared__ Mixing mixing;
  draw_for_block(mixing, rule, step);
  const std::int64_t i = blockIdx.x;
  for (std::int64_t c = first_element(); c < classes; c += element_stride()) {
    rows[i * classes + c] =
        static_cast<float>(mixed_label(mixing.draw, labels[i], labels[mixing.partner], c, classes));
  }
}

__global__ void mix_values_kernel(MixRule rule, const StepInfo* step, std::int64_t size,
                                  const float* __restrict__ t, float* __restrict__ y) {
  __shared__ Mixing mixing;
  draw_for_block(mixing, rule, step);
  const std::int64_t own = static_cast<std::int64_t>(blockIdx.x) * size;
  const std::int64_t other = mixing.partner * size;
  const auto share = static_cast<float>(mixing.draw.share);
  const auto rest = static_cast<float>(1 - mixing.draw.share);
  for (std::int64_t k = first_element(); k < size; k += element_stride()) {
    y[own + k] = share * t[own + k] + rest * t[other + k];
  }
}

LaunchShape shape_for(std::int64_t batch, std::int64_t size) {
  const std::int64_t parts =
      std::clamp<std::int64_t>((size + 4 * kBlock - 1) / (4 * kBlock), 1, 1024);
  return {.grid = dim3(static_cast<unsigned>(batch), static_cast<unsigned>(parts)),
          .block = kBlock};
}

std::optional<Kernel> prepare_batch(const NodeView& node, const Context& /*context*/) {
  using In = MixBatchOp::In;
  using Out = MixBatchOp::Out;
  const MixRule rule = node.attrs<MixBatchOp>();
  const std::int64_t batch = node.in(In::x)[0];
  const std::int64_t size = node.in(In::x).sample().elements();
  const std::int64_t channels = rule.cutmix > 0 ? node.in(In::x)[3] : 1;
  return Kernel{.enqueue = [=](const Args& args) {
    if (batch * size == 0) return;
    launch(args.stream, "mix_batch", shape_for(batch, size), mix_batch_kernel, rule, args.step,
           size, channels, args.in(In::x), args.out(Out::y));
  }};
}

std::optional<Kernel> prepare_targets(const NodeView& node, const Context& /*context*/) {
  using In = MixTargetsOp::In;
  using Out = MixTargetsOp::Out;
  const MixRule rule = node.attrs<MixTargetsOp>().rule;
  const bool labels = node.inputs[In::targets].dtype == DType::i32;
  const std::int64_t batch = node.in(In::targets)[0];
  const std::int64_t size = node.out(Out::y).sample().elements();
  return Kernel{.enqueue = [=](const Args& args) {
    if (batch * size == 0) return;
    if (labels) {
      launch(args.stream, "mix_targets", shape_for(batch, size), mix_labels_kernel, rule, args.step,
             size, args.in<std::int32_t>(In::targets), args.out(Out::y));
    } else {
      launch(args.stream, "mix_targets", shape_for(batch, size), mix_values_kernel, rule, args.step,
             size, args.in(In::targets), args.out(Out::y));
    }
  }};
}

}  // namespace

void register_mix_batch(Registry& registry) {
  registry.add(MixBatchOp::kName, prepare_batch);
  registry.add(MixTargetsOp::kName, prepare_targets);
}

}  // namespace linnet::cuda
