// SPDX-License-Identifier: Apache-2.0
#include "backend/cuda/element_wise.cuh"
#include "ops/one_hot/one_hot.h"

namespace linnet::cuda {
namespace {

std::optional<Kernel> prepare_one_hot(const NodeView& node, const Context& /*context*/) {
  const std::int64_t classes = node.attrs<OneHotOp>().classes;
  const auto f = [=] __device__(std::int64_t i, float* y, const std::int32_t* ids) {
    const std::int64_t id = i / classes;
    y[i] = ids[id] == i - id * classes ? 1.0F : 0.0F;
  };
  return each_item<float, std::int32_t>("one_hot", node.out(kFirst).elements(), f);
}

}  // namespace

void register_one_hot(Registry& registry) { registry.add(OneHotOp::kName, prepare_one_hot); }

}  // namespace linnet::cuda
