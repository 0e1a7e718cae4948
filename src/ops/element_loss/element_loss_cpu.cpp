// SPDX-License-Identifier: Apache-2.0
#include "ops/element_loss/element_loss.h"

#include "backend/cpu/element_wise.h"
#include "backend/cpu/total.h"
#include "ops/element_loss/formulas.h"

namespace linnet::cpu {
namespace {

/// About in nanoseconds an element.
double cost_of(ElementLoss kind) {
  return kind == ElementLoss::focal || kind == ElementLoss::log_sigmoid ? 40
         : kind == ElementLoss::kl_divergence                           ? 15
                                                                        : 1.5;
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
                     sum += element_loss<kKind>(y[i], t[i], attrs.parameter);
                   }
                   return sum;
                 });
  });
}

std::optional<Kernel> prepare_gradient(const NodeView& node) {
  using In = ElementLossGradOp::In;
  using Out = ElementLossGradOp::Out;
  const ElementLossAttrs attrs = node.attrs<ElementLossGradOp>();
  const double factor = loss_factor(attrs, node.in(In::y));
  const std::size_t targets = node.inputs.size() - 1;
  return with_element_loss(attrs.kind, [&]<ElementLoss kKind>() {
    return one_stage(node.in(In::y).elements(), cost_of(kKind), [=](const Args& args, Range range) {
      const float* y = args.in(In::y);
      const float* t = args.in(targets);
      const double slope = factor * *args.in(In::dloss);
      float* dy = args.out(Out::dy);
      for (std::int64_t i = range.begin; i < range.end; ++i) {
        dy[i] = static_cast<float>(slope * element_slope<kKind>(y[i], t[i], attrs.parameter));
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
