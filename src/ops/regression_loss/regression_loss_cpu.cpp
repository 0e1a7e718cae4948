// SPDX-License-Identifier: Apache-2.0
#include "ops/regression_loss/regression_loss.h"

#include <cmath>

#include "backend/cpu/element_wise.h"
#include "backend/cpu/total.h"

namespace linnet::cpu {
namespace {

std::optional<Kernel> prepare_forward(const NodeView& node) {
  using In = RegressionLossOp::In;
  const std::int64_t n = node.in(In::y).elements();
  const bool squared = node.attrs<RegressionLossOp>().kind == RegressionLoss::mse;
  return total(n, 1, mean_factor(n), [=](const Args& args, Range range) {
    const float* y = args.in(In::y);
    const float* t = args.in(In::target);
    double sum = 0;
    for (std::int64_t i = range.begin; i < range.end; ++i) {
      const double d = static_cast<double>(y[i]) - static_cast<double>(t[i]);
      sum += squared ? d * d : std::abs(d);
    }
    return sum;
  });
}

/// dy[i] = dloss / n * slope(y[i] - t[i])
template <class F>
Kernel gradient(std::int64_t n, F slope) {
  using In = RegressionLossGradOp::In;
  using Out = RegressionLossGradOp::Out;
  const auto factor = static_cast<float>(mean_factor(n));
  return one_stage(n, 0.4, [=](const Args& args, Range range) {
    const float* y = args.in(In::y);
    const float* t = args.in(In::target);
    const float scale = factor * *args.in(In::dloss);
    float* dy = args.out(Out::dy);
    for (std::int64_t i = range.begin; i < range.end; ++i) dy[i] = scale * slope(y[i] - t[i]);
  });
}

std::optional<Kernel> prepare_gradient(const NodeView& node) {
  const std::int64_t n = node.in(RegressionLossGradOp::In::y).elements();
  if (node.attrs<RegressionLossGradOp>().kind == RegressionLoss::mse) {
    return gradient(n, [](float d) { return 2 * d; });
  }
  return gradient(n, [](float d) { return d > 0 ? 1.0F : d < 0 ? -1.0F : d; });
}

}  // namespace

void register_regression_loss(Registry& registry) {
  registry.add(RegressionLossOp::kName, prepare_forward);
  registry.add(RegressionLossGradOp::kName, prepare_gradient);
}

}  // namespace linnet::cpu
