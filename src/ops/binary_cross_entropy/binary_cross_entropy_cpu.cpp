// SPDX-License-Identifier: Apache-2.0
#include "ops/binary_cross_entropy/binary_cross_entropy.h"

#include <cmath>

#include "backend/cpu/element_wise.h"
#include "backend/cpu/exponential.h"
#include "backend/cpu/total.h"

namespace linnet::cpu {
namespace {

std::optional<Kernel> prepare_forward(const NodeView& node) {
  using In = BceWithLogitsOp::In;
  const std::int64_t n = node.in(In::logits).elements();
  return total(n, 12, mean_factor(n), [](const Args& args, Range range) {
    const float* logits = args.in(In::logits);
    const float* t = args.in(In::target);
    double sum = 0;
    for (std::int64_t i = range.begin; i < range.end; ++i) {
      const float z = logits[i];
      const float top = z < 0 ? 0.0F : z;  // keeps NaN
      sum += static_cast<double>(top) - static_cast<double>(z) * static_cast<double>(t[i]) +
             static_cast<double>(std::log1p(exp_nonpositive(-std::abs(z))));
    }
    return sum;
  });
}

std::optional<Kernel> prepare_gradient(const NodeView& node) {
  using In = BceWithLogitsGradOp::In;
  using Out = BceWithLogitsGradOp::Out;
  const std::int64_t n = node.in(In::logits).elements();
  const auto factor = static_cast<float>(mean_factor(n));
  return one_stage(n, 3, [=](const Args& args, Range range) {
    const float* logits = args.in(In::logits);
    const float* t = args.in(In::target);
    const float scale = factor * *args.in(In::dloss);
    float* dz = args.out(Out::dlogits);
    for (std::int64_t i = range.begin; i < range.end; ++i) {
      const float z = logits[i];
      const float e = exp_nonpositive(-std::abs(z));
      const float sigmoid = (z < 0 ? e : 1.0F) / (1.0F + e);
      dz[i] = scale * (sigmoid - t[i]);
    }
  });
}

}  // namespace

void register_binary_cross_entropy(Registry& registry) {
  registry.add(BceWithLogitsOp::kName, prepare_forward);
  registry.add(BceWithLogitsGradOp::kName, prepare_gradient);
}

}  // namespace linnet::cpu
