// SPDX-License-Identifier: Apache-2.0
#include "ops/row_loss/row_loss.h"

#include "graph/registry.h"
#include "ops/row_loss/formulas.h"

namespace linnet {
namespace {

void require_operands(std::span<const ValueType> inputs) {
  using In = RowLossOp::In;
  require(inputs.size() == 2 && inputs[In::y] == inputs[In::target] &&
              inputs[In::y].dtype == DType::f32 && inputs[In::y].shape.rank() >= 1 &&
              inputs[In::y].shape[-1] >= 1,
          "expected outputs and targets of one shape (..., C); got {}",
          to_string({"y", "target"}, {inputs.begin(), inputs.end()}));
}

double factor_of(const RowLossAttrs& attrs, std::int64_t rows) {
  return attrs.mean && rows > 0 ? 1 / static_cast<double>(rows) : 1;
}

}  // namespace

std::vector<ValueType> RowLossOp::infer(std::span<const ValueType> inputs) const {
  require_operands(inputs);
  return {{DType::f32, Shape{}}};
}

std::vector<Value> RowLossOp::gradient(const GradientArgs& args) const {
  require(!args.needed[In::target], "[{} '{}'] is not differentiable by the targets", kName,
          args.node.name);
  return {args.graph.emit(RowLossGradOp(attrs()),
                          {args.output_gradients[Out::loss], args.node.inputs[In::y],
                           args.node.inputs[In::target]},
                          args.node.name),
          Value{}};
}

void RowLossOp::reference(const ReferenceArgs& args) const {
  const std::int64_t n = args.in(In::y).shape[-1];
  const std::int64_t rows = args.in(In::y).shape.elements() / n;
  double sum = 0;
  for (std::int64_t r = 0; r < rows; ++r) {
    sum += row_loss(attrs().kind, args.in(In::y).data.data() + r * n,
                    args.in(In::target).data.data() + r * n, n);
  }
  args.out(Out::loss)[0] = factor_of(attrs(), rows) * sum;
}

std::vector<ValueType> RowLossGradOp::infer(std::span<const ValueType> inputs) const {
  require(inputs.size() == 3 && inputs[In::dloss] == ValueType{DType::f32, Shape{}},
          "expected dloss (), outputs and targets; got {}",
          to_string({"dloss", "y", "target"}, {inputs.begin(), inputs.end()}));
  require_operands(inputs.subspan(1));
  return {inputs[In::y]};
}

void RowLossGradOp::reference(const ReferenceArgs& args) const {
  const std::int64_t n = args.in(In::y).shape[-1];
  const std::int64_t rows = args.in(In::y).shape.elements() / n;
  const double factor = args.in(In::dloss)[0] * factor_of(attrs(), rows);
  for (std::int64_t r = 0; r < rows; ++r) {
    row_slope(attrs().kind, factor, args.in(In::y).data.data() + r * n,
              args.in(In::target).data.data() + r * n, n, args.out(Out::dy).data.data() + r * n);
  }
}

void register_row_loss(OpRegistry& registry) {
  registry.add<RowLossOp>();
  registry.add<RowLossGradOp>();
}

}  // namespace linnet
