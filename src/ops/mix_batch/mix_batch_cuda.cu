// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "backend/cuda/device.cuh"
#include "backend/cuda/kernel.h"
#include "ops/mix_batch/formulas.h"
#include "ops/mix_batch/mix_batch.h"

namespace linnet::cuda {
namespace {

/// A sample a block (x), parts of its elements (y): f(draw, sample, its partner, element). The
/// first thread draws for all.
template <class F>
__global__ void mix_kernel(MixRule rule, const StepInfo* step, std::int64_t size, F f) {
  __shared__ MixDraw draw;
  __shared__ std::int64_t partner;
  if (threadIdx.x == 0) {
    draw = draw_mix(rule, *step);
    partner = draw.partner(blockIdx.x, gridDim.x);
  }
  __syncthreads();
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.y) * blockDim.x;
  for (std::int64_t k = static_cast<std::int64_t>(blockIdx.y) * blockDim.x + threadIdx.x; k < size;
       k += stride) {
    f(draw, static_cast<std::int64_t>(blockIdx.x), partner, k);
  }
}

template <class F>
void mix(const Args& args, const char* name, const MixRule& rule, std::int64_t batch,
         std::int64_t size, F f) {
  const std::int64_t parts = std::min<std::int64_t>((size + 4 * kBlock - 1) / (4 * kBlock), 1024);
  if (parts == 0) return;
  launch(args.stream, name,
         {.grid = dim3(static_cast<unsigned>(batch), static_cast<unsigned>(parts)),
          .block = kBlock},
         mix_kernel<F>, rule, args.step, size, f);
}

std::optional<Kernel> prepare_batch(const NodeView& node, const Context& /*context*/) {
  using In = MixBatchOp::In;
  const MixRule rule = node.attrs<MixBatchOp>();
  const std::int64_t batch = node.in(In::x)[0];
  const std::int64_t size = node.in(In::x).sample().elements();
  const std::int64_t channels = rule.cutmix > 0 ? node.in(In::x)[3] : 1;
  return Kernel{.enqueue = [=](const Args& args) {
    const float* x = args.in(In::x);
    float* y = args.out(MixBatchOp::Out::y);
    mix(args, "mix_batch", rule, batch, size,
        [=] __device__(const MixDraw& draw, std::int64_t i, std::int64_t other, std::int64_t k) {
          y[i * size + k] =
              draw.mixed(x[i * size + k], x[other * size + k], k, rule.width, channels);
        });
  }};
}

std::optional<Kernel> prepare_targets(const NodeView& node, const Context& /*context*/) {
  using In = MixTargetsOp::In;
  const MixRule rule = node.attrs<MixTargetsOp>().rule;
  const bool are_labels = node.inputs[In::targets].dtype == DType::i32;
  const std::int64_t batch = node.in(In::targets)[0];
  const std::int64_t size = node.out(MixTargetsOp::Out::y).sample().elements();
  return Kernel{.enqueue = [=](const Args& args) {
    const auto* labels = args.in<std::int32_t>(In::targets);
    const float* t = args.in(In::targets);
    float* y = args.out(MixTargetsOp::Out::y);
    mix(args, "mix_targets", rule, batch, size,
        [=] __device__(const MixDraw& draw, std::int64_t i, std::int64_t other, std::int64_t k) {
          y[i * size + k] =
              are_labels ? static_cast<float>(mixed_label(draw, labels[i], labels[other], k, size))
                         : static_cast<float>(draw.share) * t[i * size + k] +
                               static_cast<float>(1 - draw.share) * t[other * size + k];
        });
  }};
}

}  // namespace

void register_mix_batch(Registry& registry) {
  registry.add(MixBatchOp::kName, prepare_batch);
  registry.add(MixTargetsOp::kName, prepare_targets);
}

}  // namespace linnet::cuda
