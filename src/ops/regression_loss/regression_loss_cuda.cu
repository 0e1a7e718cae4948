// SPDX-License-Identifier: Apache-2.0
#include "backend/cuda/element_wise.cuh"
#include "backend/cuda/total.cuh"
#include "ops/regression_loss/regression_loss.h"

namespace linnet::cuda {
namespace {

template <RegressionLoss kKind>
struct ElementLoss {
  const float* y;
  const float* t;
  __device__ double operator()(std::int64_t i) const {
    const double d = static_cast<double>(y[i]) - static_cast<double>(t[i]);
    return kKind == RegressionLoss::mse ? d * d : ::fabs(d);
  }
};

/// dloss / n * the slope at y - t
template <RegressionLoss kKind>
struct ElementGradient {
  float factor;
  const float* dloss;
  __device__ float operator()(float y, float t) const {
    const float d = y - t;
    const float slope = kKind == RegressionLoss::mse ? 2 * d : d > 0 ? 1.0F : d < 0 ? -1.0F : d;
    return factor * *dloss * slope;
  }
};

template <RegressionLoss kKind>
Kernel loss(std::int64_t n) {
  using In = RegressionLossOp::In;
  return total("regression_loss", n, mean_factor(n), [](const Args& args) {
    return ElementLoss<kKind>{args.in(In::y), args.in(In::target)};
  });
}

template <RegressionLoss kKind>
Kernel loss_gradient(std::int64_t n) {
  using In = RegressionLossGradOp::In;
  using Out = RegressionLossGradOp::Out;
  const auto factor = static_cast<float>(mean_factor(n));
  return {.enqueue = [=](const Args& args) {
    map_elements(args.stream, "regression_loss_grad",
                 ElementGradient<kKind>{factor, args.in(In::dloss)}, n, args.out(Out::dy),
                 args.in(In::y), args.in(In::target));
  }};
}

std::optional<Kernel> prepare_forward(const NodeView& node, const Context& /*context*/) {
  const std::int64_t n = node.in(RegressionLossOp::In::y).elements();
  const bool squared = node.attrs<RegressionLossOp>().kind == RegressionLoss::mse;
  return squared ? loss<RegressionLoss::mse>(n) : loss<RegressionLoss::mae>(n);
}

std::optional<Kernel> prepare_gradient(const NodeView& node, const Context& /*context*/) {
  const std::int64_t n = node.in(RegressionLossGradOp::In::y).elements();
  const bool squared = node.attrs<RegressionLossGradOp>().kind == RegressionLoss::mse;
  return squared ? loss_gradient<RegressionLoss::mse>(n) : loss_gradient<RegressionLoss::mae>(n);
}

}  // namespace

void register_regression_loss(Registry& registry) {
  registry.add(RegressionLossOp::kName, prepare_forward);
  registry.add(RegressionLossGradOp::kName, prepare_gradient);
}

}  // namespace linnet::cuda
