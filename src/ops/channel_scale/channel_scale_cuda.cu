// SPDX-License-Identifier: Apache-2.0
#include "backend/cuda/element_wise.cuh"
#include "ops/channel_scale/channel_scale.h"

namespace linnet::cuda {
namespace {

std::optional<Kernel> prepare_channel_scale(const NodeView& node, const Context& /*context*/) {
  const ChannelFactors factors(node.attrs<ChannelScaleOp>());
  const auto f = [=] __device__(std::int64_t i, float* y, const float* x) {
    const std::int64_t c = i % factors.channels;
    y[i] = factors.scale[c] * x[i] + factors.shift[c];
  };
  return each_item<float, float>("channel_scale", node.in(kFirst).elements(), f);
}

}  // namespace

void register_channel_scale(Registry& registry) {
  registry.add(ChannelScaleOp::kName, prepare_channel_scale);
}

}  // namespace linnet::cuda
