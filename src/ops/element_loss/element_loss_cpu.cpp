// SPDX-License-Identifier: Apache-2.0
#include "ops/element_loss/element_loss.h"

#include <utility>

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

// The loops of a kind are called through pointers: a kernel for each would be twice as much code.

/// Returns the sum of the losses of a range.
using LossSum = double (*)(const float* y, const float* t, Range range, double parameter);
/// Writes the slopes of a range, each times both factors.
using LossSlopes = void (*)(const float* y, const float* t, Range range, double parameter,
                            std::pair<double, float> factors, float* dy);

template <ElementLoss kKind>
double sum_of(const float* y, const float* t, Range range, double parameter) {
  double sum = 0;
  for (std::int64_t i = range.begin; i < range.end; ++i) {
    sum += element_loss<kKind, FastExp>(y[i], t[i], parameter);
  }
  return sum;
}

template <ElementLoss kKind>
void slopes_of(const float* y, const float* t, Range range, double parameter,
               std::pair<double, float> factors, float* dy) {
  using Real = SlopeReal<kKind>;
  const Real slope = static_cast<Real>(factors.first) * static_cast<Real>(factors.second);
  for (std::int64_t i = range.begin; i < range.end; ++i) {
    dy[i] = static_cast<float>(slope * element_slope<kKind, FastExp, Real>(y[i], t[i], parameter));
  }
}

std::optional<Kernel> prepare_forward(const NodeView& node) {
  using In = ElementLossOp::In;
  const ElementLossAttrs attrs = node.attrs<ElementLossOp>();
  const Shape& shape = node.in(In::y);
  const std::size_t targets = node.inputs.size() - 1;  // y stands for targets that there are not
  const LossSum sum =
      with_element_loss(attrs.kind, []<ElementLoss kKind>() -> LossSum { return &sum_of<kKind>; });
  return total(shape.elements(), cost_of(attrs.kind), loss_factor(attrs, shape),
               [=](const Args& args, Range range) {
                 return sum(args.in(In::y), args.in(targets), range, attrs.parameter);
               });
}

std::optional<Kernel> prepare_gradient(const NodeView& node) {
  using In = ElementLossGradOp::In;
  const ElementLossAttrs attrs = node.attrs<ElementLossGradOp>();
  const double factor = loss_factor(attrs, node.in(In::y));
  const std::size_t targets = node.inputs.size() - 1;
  const LossSlopes slopes = with_element_loss(attrs.kind, []<ElementLoss kKind>() -> LossSlopes {
    return &slopes_of<kKind>;
  });
  return one_stage(node.in(In::y).elements(), cost_of_slope(attrs.kind),
                   [=](const Args& args, Range range) {
                     slopes(args.in(In::y), args.in(targets), range, attrs.parameter,
                            {factor, *args.in(In::dloss)}, args.out(ElementLossGradOp::Out::dy));
                   });
}

}  // namespace

void register_element_loss(Registry& registry) {
  registry.add(ElementLossOp::kName, prepare_forward);
  registry.add(ElementLossGradOp::kName, prepare_gradient);
}

}  // namespace linnet::cpu
