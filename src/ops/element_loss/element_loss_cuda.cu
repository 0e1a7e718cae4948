// SPDX-License-Identifier: Apache-2.0
#include "backend/cuda/element_wise.cuh"
#include "backend/cuda/total.cuh"
#include "ops/element_loss/formulas.h"

namespace linnet::cuda {
namespace {

struct FloatExp {
  __device__ static float exp_nonpositive(float x) { return ::expf(x); }
};

template <ElementLoss kKind>
Kernel forward(const NodeView& node) {
  using In = ElementLossOp::In;
  const ElementLossAttrs attrs = node.attrs<ElementLossOp>();
  const Shape& shape = node.in(In::y);
  const std::size_t targets = node.inputs.size() - 1;  // y stands for targets that there are not
  return total("element_loss", shape.elements(), loss_factor(attrs, shape), [=](const Args& args) {
    const float* y = args.in(In::y);
    const float* t = args.in(targets);
    return [=] __device__(std::int64_t i) -> double {
      return element_loss<kKind, FloatExp>(y[i], t[i], attrs.parameter);
    };
  });
}

template <ElementLoss kKind>
Kernel gradient(const NodeView& node) {
  using In = ElementLossGradOp::In;
  using Real = SlopeReal<kKind>;
  const ElementLossAttrs attrs = node.attrs<ElementLossGradOp>();
  const std::int64_t elements = node.in(In::y).elements();
  const auto factor = static_cast<Real>(loss_factor(attrs, node.in(In::y)));
  const std::size_t targets = node.inputs.size() - 1;
  return {.enqueue = [=](const Args& args) {
    const auto slope = [=, dloss = args.in(In::dloss)] __device__(float y, float t) {
      return static_cast<float>(factor * static_cast<Real>(*dloss) *
                                element_slope<kKind, FloatExp, Real>(y, t, attrs.parameter));
    };
    map_elements(args.stream, "element_loss_grad", slope, elements,
                 args.out(ElementLossGradOp::Out::dy), args.in(In::y), args.in(targets));
  }};
}

std::optional<Kernel> prepare_element_loss(const NodeView& node, const Context& /*context*/) {
  return with_element_loss(node.attrs<ElementLossOp>().kind,
                           [&]<ElementLoss kKind>() { return forward<kKind>(node); });
}

std::optional<Kernel> prepare_element_loss_grad(const NodeView& node, const Context& /*context*/) {
  return with_element_loss(node.attrs<ElementLossGradOp>().kind,
                           [&]<ElementLoss kKind>() { return gradient<kKind>(node); });
}

}  // namespace

void register_element_loss(Registry& registry) {
  registry.add(ElementLossOp::kName, prepare_element_loss);
  registry.add(ElementLossGradOp::kName, prepare_element_loss_grad);
}

}  // namespace linnet::cuda
