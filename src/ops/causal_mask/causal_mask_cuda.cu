// SPDX-License-Identifier: Apache-2.0
#include "backend/cuda/element_wise.cuh"
#include "ops/causal_mask/causal_mask.h"

namespace linnet::cuda {
namespace {

std::optional<Kernel> prepare_causal_mask(const NodeView& node, const Context& /*context*/) {
  const Shape& scores = node.in(CausalMaskOp::In::x);
  const std::int64_t queries = scores[-2];
  const std::int64_t keys = scores[-1];
  const auto fill = static_cast<float>(node.attrs<CausalMaskOp>().fill);
  const auto f = [=] __device__(std::int64_t i, float* y, const float* x) {
    y[i] = i % keys <= i / keys % queries ? x[i] : fill;
  };
  return each_item<float, float>("causal_mask", scores.elements(), f);
}

}  // namespace

void register_causal_mask(Registry& registry) {
  registry.add(CausalMaskOp::kName, prepare_causal_mask);
}

}  // namespace linnet::cuda
