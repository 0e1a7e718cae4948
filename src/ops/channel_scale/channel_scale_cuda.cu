// SPDX-License-Identifier: Apache-2.0
#include "backend/cuda/device.cuh"
#include "backend/cuda/kernel.h"
#include "ops/channel_scale/channel_scale.h"

namespace linnet::cuda {
namespace {

__global__ void channel_scale_kernel(ChannelFactors factors, std::int64_t elements, float* y,
                                     const float* x) {
  for (std::int64_t i = first_item(); i < elements; i += grid_stride()) {
    const std::int64_t c = i % factors.channels;
    y[i] = factors.scale[c] * x[i] + factors.shift[c];
  }
}

std::optional<Kernel> prepare_channel_scale(const NodeView& node, const Context& /*context*/) {
  using In = ChannelScaleOp::In;
  using Out = ChannelScaleOp::Out;
  const ChannelFactors factors(node.attrs<ChannelScaleOp>());
  const std::int64_t elements = node.in(In::x).elements();
  return Kernel{.enqueue = [=](const Args& args) {
    if (elements == 0) return;
    launch(args.stream, "channel_scale", for_items(elements), channel_scale_kernel, factors,
           elements, args.out(Out::y), args.in(In::x));
  }};
}

}  // namespace

void register_channel_scale(Registry& registry) {
  registry.add(ChannelScaleOp::kName, prepare_channel_scale);
}

}  // namespace linnet::cuda
