// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "backend/cuda/element_wise.cuh"
#include "backend/cuda/total.cuh"
#include "ops/binary_cross_entropy/binary_cross_entropy.h"

namespace linnet::cuda {
namespace {

struct Loss {
  const float* logits;
  const float* t;
  __device__ double operator()(std::int64_t i) const {
    const float z = logits[i];
    const float top = z < 0 ? 0.0F : z;  // keeps NaN
    return static_cast<double>(top) - static_cast<double>(z) * static_cast<double>(t[i]) +
           static_cast<double>(::log1pf(::expf(-::fabsf(z))));
  }
};

struct LossGradient {
  float factor;
  const float* dloss;
  __device__ float operator()(float z, float t) const {
    const float e = ::expf(-::fabsf(z));
    const float sigmoid = (z < 0 ? e : 1.0F) / (1.0F + e);
    return factor * *dloss * (sigmoid - t);
  }
};

std::optional<Kernel> prepare_forward(const NodeView& node, const Context& /*context*/) {
  using In = BceWithLogitsOp::In;
  const std::int64_t n = node.in(In::logits).elements();
  return total("bce_with_logits", n, mean_factor(n), [](const Args& args) {
    return Loss{args.in(In::logits), args.in(In::target)};
  });
}

std::optional<Kernel> prepare_gradient(const NodeView& node, const Context& /*context*/) {
  using In = BceWithLogitsGradOp::In;
  using Out = BceWithLogitsGradOp::Out;
  const std::int64_t n = node.in(In::logits).elements();
  const auto factor = static_cast<float>(mean_factor(n));
  return Kernel{.enqueue = [=](const Args& args) {
    map_elements(args.stream, "bce_with_logits_grad", LossGradient{factor, args.in(In::dloss)}, n,
                 args.out(Out::dlogits), args.in(In::logits), args.in(In::target));
  }};
}

}  // namespace

void register_binary_cross_entropy(Registry& registry) {
  registry.add(BceWithLogitsOp::kName, prepare_forward);
  registry.add(BceWithLogitsGradOp::kName, prepare_gradient);
}

}  // namespace linnet::cuda
