// SPDX-License-Identifier: Apache-2.0
#include "backend/cuda/device.cuh"
#include "backend/cuda/kernel.h"
#include "ops/causal_mask/causal_mask.h"

namespace linnet::cuda {
namespace {

__global__ void causal_mask_kernel(float* y, const float* x, std::int64_t elements,
                                   std::int64_t queries, std::int64_t keys, float fill) {
  for (std::int64_t i = first_item(); i < elements; i += grid_stride()) {
    y[i] = i % keys <= i / keys % queries ? x[i] : fill;
  }
}

std::optional<Kernel> prepare_causal_mask(const NodeView& node, const Context& /*context*/) {
  using In = CausalMaskOp::In;
  using Out = CausalMaskOp::Out;
  const auto fill = static_cast<float>(node.attrs<CausalMaskOp>().fill);
  const std::int64_t queries = node.in(In::x)[-2];
  const std::int64_t keys = node.in(In::x)[-1];
  const std::int64_t elements = node.in(In::x).elements();
  return Kernel{.enqueue = [=](const Args& args) {
    if (elements == 0) return;
    launch(args.stream, "causal_mask", for_items(elements), causal_mask_kernel, args.out(Out::y),
           args.in(In::x), elements, queries, keys, fill);
  }};
}

}  // namespace

void register_causal_mask(Registry& registry) {
  registry.add(CausalMaskOp::kName, prepare_causal_mask);
}

}  // namespace linnet::cuda
