// SPDX-License-Identifier: Apache-2.0
#include "ops/element_loss/element_loss.h"

#include "backend/cpu/exponential.h"
#include "backend/cpu/total.h"
#include "ops/element_loss/formulas.h"

namespace linnet::cpu {
namespace {

struct FastExp {
  static float exp_nonpositive(float x) { return cpu::exp_nonpositive(x); }
};

/// About in nanoseconds an element.
double cost_of(ElementLoss kind) {
  switch (kind) {
    case ElementLoss::squared_error:
    case ElementLoss::absolute_error: return 1;
    case ElementLoss::binary_cross_entropy: return 12;
    case ElementLoss::kl_divergence: return 15;
    case ElementLoss::focal:
    case ElementLoss::log_sigmoid: return 40;
    default: return 1.5;
  }
}

double cost_of_slope(ElementLoss kind) {
  switch (kind) {
    case ElementLoss::squared_error:
    case ElementLoss::absolute_error: return 0.4;
    case ElementLoss::binary_cross_entropy: return 3;
    default: return cost_of(kind);
  }
}

std::optional<Kernel> prepare_forward(const NodeView& node) {
  using In = ElementLossOp::In;
  const ElementLossAttrs attrs = node.attrs<ElementLossOp>();
  const Shape& shape = node.in(In::y);
  const std::size_t targets = node.inputs.size() - 1;  // y stands for targets that there are not
  return with_element_loss(attrs.kind, [&]<ElementLoss kKind>() {
    return total(shape.elements(), cost_of(kKind), loss_factor(attrs, shape),
                 [=](const Args& args, Range range) {
                   const float* y = args.in(In::y);
                   const float* t = args.in(targets);
                   double sum = 0;
                   for (std::int64_t i = range.begin; i < range.end; ++i) {
                     sum += element_loss<kKind, FastExp>(y[i], t[i], attrs.parameter);
                   }
                   return sum;
                 });
  });
}

std::optional<Kernel> prepare_gradient(const NodeView& node) {
  using In = ElementLossGradOp::In;
  const ElementLossAttrs attrs = node.attrs<ElementLossGradOp>();
  const double factor = loss_factor(attrs, node.in(In::y));
  const std::size_t targets = node.inputs.size() - 1;
  return with_element_loss(attrs.kind, [&]<ElementLoss kKind>() {
    return one_stage(
        node.in(In::y).elements(), cost_of_slope(kKind), [=](const Args& args, Range range) {
          using Real = SlopeReal<kKind>;
          const float* y = args.in(In::y);
          const float* t = args.in(targets);
          const Real slope = static_cast<Real>(factor) * static_cast<Real>(*args.in(In::dloss));
          float* dy = args.out(ElementLossGradOp::Out::dy);
          for (std::int64_t i = range.begin; i < range.end; ++i) {
            dy[i] = static_cast<float>(
                slope * element_slope<kKind, FastExp, Real>(y[i], t[i], attrs.parameter));
          }
        });
  });
}

}  // namespace

void register_element_loss(Registry& registry) {
  registry.add(ElementLossOp::kName, prepare_forward);
  registry.add(ElementLossGradOp::kName, prepare_gradient);
}

}  // namespace linnet::cpu
