// SPDX-License-Identifier: Apache-2.0
#include "ops/element_loss/element_loss.h"

#include "graph/registry.h"
#include "ops/element_loss/formulas.h"

namespace linnet {
namespace {

/// y, and t if the kind has it.
void require_operands(const ElementLossAttrs& attrs, std::span<const ValueType> inputs) {
  using In = ElementLossOp::In;
  const bool targets = has_targets(attrs.kind);
  require(inputs.size() == (targets ? 2U : 1U) && inputs[In::y].dtype == DType::f32 &&
              inputs.back() == inputs[In::y] &&
              (attrs.mean != LossMean::rows || inputs[In::y].shape.rank() >= 1),
          "expected {}; got {}", targets ? "outputs and targets of one shape" : "one f32 operand",
          to_string({"y", "target"}, {inputs.begin(), inputs.end()}));
  require(attrs.parameter >= 0, "expected a parameter of at least 0; got {}", attrs.parameter);
}

}  // namespace

double loss_factor(const ElementLossAttrs& attrs, const Shape& shape) {
  const std::int64_t elements = shape.elements();
  if (elements == 0) return 0;
  if (attrs.mean == LossMean::none) return attrs.scale;
  const std::int64_t count = attrs.mean == LossMean::rows ? elements / shape[-1] : elements;
  return attrs.scale / static_cast<double>(count);
}

std::vector<ValueType> ElementLossOp::infer(std::span<const ValueType> inputs) const {
  require_operands(attrs(), inputs);
  return {{DType::f32, Shape{}}};
}

std::vector<Value> ElementLossOp::gradient(const GradientArgs& args) const {
  std::vector<Value> operands{args.output_gradients[Out::loss]};
  operands.insert(operands.end(), args.node.inputs.begin(), args.node.inputs.end());
  require(operands.size() == 2 || !args.needed[In::target],
          "[{} '{}'] is not differentiable by the targets", kName, args.node.name);
  std::vector<Value> gradients(args.node.inputs.size());
  gradients[In::y] =
      args.graph.emit(ElementLossGradOp(attrs()), std::move(operands), args.node.name);
  return gradients;
}

void ElementLossOp::reference(const ReferenceArgs& args) const {
  const std::vector<double>& y = args.in(In::y).data;
  const std::vector<double>& t = args.inputs.back()->data;
  double sum = 0;
  with_element_loss(attrs().kind, [&]<ElementLoss kKind>() {
    for (std::size_t i = 0; i < y.size(); ++i) {
      sum += element_loss<kKind, LibraryExp>(y[i], t[i], attrs().parameter);
    }
  });
  args.out(Out::loss)[0] = loss_factor(attrs(), args.in(In::y).shape) * sum;
}

std::vector<ValueType> ElementLossGradOp::infer(std::span<const ValueType> inputs) const {
  require(inputs.size() >= 2 && inputs[In::dloss] == ValueType{DType::f32, Shape{}},
          "expected dloss () before outputs and targets; got {}",
          to_string({"dloss", "y", "target"}, {inputs.begin(), inputs.end()}));
  require_operands(attrs(), inputs.subspan(1));
  return {inputs[In::y]};
}

void ElementLossGradOp::reference(const ReferenceArgs& args) const {
  const std::vector<double>& y = args.in(In::y).data;
  const std::vector<double>& t = args.inputs.back()->data;
  const double factor = args.in(In::dloss)[0] * loss_factor(attrs(), args.in(In::y).shape);
  with_element_loss(attrs().kind, [&]<ElementLoss kKind>() {
    for (std::size_t i = 0; i < y.size(); ++i) {
      args.out(Out::dy).data[i] =
          factor * element_slope<kKind, LibraryExp>(y[i], t[i], attrs().parameter);
    }
  });
}

void register_element_loss(OpRegistry& registry) {
  registry.add<ElementLossOp>();
  registry.add<ElementLossGradOp>();
}

}  // namespace linnet
