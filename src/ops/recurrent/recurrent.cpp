// SPDX-License-Identifier: Apache-2.0
#include "ops/recurrent/recurrent.h"

#include <utility>

#include "graph/registry.h"

namespace linnet {
namespace {

std::vector<std::string> operand_names(bool bias, bool saved, bool y, bool last) {
  const std::pair<const char*, bool> operands[] = {{"x", true},    {"w_ih", true}, {"w_hh", true},
                                                   {"b_ih", bias}, {"b_hh", bias}, {"saved", saved},
                                                   {"dy", y},      {"dlast", last}};
  std::vector<std::string> names;
  for (const auto& [name, present] : operands) {
    if (present) names.emplace_back(name);
  }
  return names;
}

/// Throws Error unless x, the weights and the biases fit.
void check_operands(Cell cell, bool bias, std::span<const ValueType> inputs,
                    const std::vector<std::string>& names) {
  using In = RecurrentOp::In;
  const std::vector<ValueType> types(inputs.begin(), inputs.end());
  require(inputs.size() == names.size() && inputs[In::x].shape.rank() == 3 &&
              inputs[In::w_ih].shape.rank() == 2 && inputs[In::w_hh].shape.rank() == 2,
          "expected {} operands, x (N, T, F), w_ih ({} U, F) and w_hh ({} U, U) first; got {}",
          names.size(), cell_gates(cell), cell_gates(cell), to_string(names, types));
  const std::int64_t units = inputs[In::w_hh].shape[1];
  const std::int64_t columns = cell_gates(cell) * units;
  bool fits = inputs[In::w_ih].shape == Shape{columns, inputs[In::x].shape[2]} &&
              inputs[In::w_hh].shape == Shape{columns, units} && units > 0;
  if (bias) {
    fits = fits && inputs[In::b_ih].shape == Shape{columns} &&
           inputs[In::b_hh].shape == Shape{columns};
  }
  for (const ValueType& type : types) fits = fits && type.dtype == DType::f32;
  require(fits, "expected f32 weights of {} rows for {} units, on {} features{}; got {}", columns,
          units, inputs[In::x].shape[2], bias ? ", and biases as long" : "",
          to_string(names, types));
  require(inputs[In::x].shape[1] > 0, "expected at least one step; got {}",
          to_string(names, types));
}

/// Multiplications and additions of the products alone.
Cost recurrent_cost(const RecurrentShape& s, double products, std::span<const ValueType> inputs,
                    std::span<const ValueType> outputs) {
  Cost cost{.flops = products * 2.0 * static_cast<double>(s.n) * static_cast<double>(s.steps) *
                     static_cast<double>(s.columns()) * static_cast<double>(s.features + s.units)};
  for (const ValueType& type : inputs) cost.bytes += static_cast<double>(type.bytes());
  for (const ValueType& type : outputs) cost.bytes += static_cast<double>(type.bytes());
  return cost;
}

}  // namespace

std::vector<ValueType> RecurrentOp::infer(std::span<const ValueType> inputs) const {
  check_operands(attrs().cell, attrs().bias, inputs,
                 operand_names(attrs().bias, false, false, false));
  const RecurrentShape s = recurrent_shape(attrs(), inputs[In::x].shape, inputs[In::w_hh].shape);
  return {{DType::f32, Shape{s.n, s.steps, s.units}},
          {DType::f32, Shape{s.n, s.units}},
          {DType::f32, Shape{s.n, s.steps, s.saved()}}};
}

std::vector<Value> RecurrentOp::gradient(const GradientArgs& args) const {
  const Node& node = args.node;
  const Value dy = args.output_gradients[Out::y];
  const Value dlast = args.output_gradients[Out::last];
  std::vector<Value> gradients(node.inputs.size());
  if (!dy && !dlast) return gradients;
  std::vector<Value> operands = node.inputs;
  operands.push_back(node.outputs[Out::saved]);
  if (dy) operands.push_back(dy);
  if (dlast) operands.push_back(dlast);
  const RecurrentGradOp op({.cell = attrs().cell,
                            .bias = attrs().bias,
                            .reverse = attrs().reverse,
                            .y_gradient = static_cast<bool>(dy),
                            .last_gradient = static_cast<bool>(dlast)});
  gradients = args.graph.add(std::make_shared<RecurrentGradOp>(op), operands, node.name);
  return gradients;
}

Cost RecurrentOp::cost(std::span<const ValueType> inputs,
                       std::span<const ValueType> outputs) const {
  return recurrent_cost(recurrent_shape(attrs(), inputs[In::x].shape, inputs[In::w_hh].shape), 1,
                        inputs, outputs);
}

std::vector<ValueType> RecurrentGradOp::infer(std::span<const ValueType> inputs) const {
  const std::vector<std::string> names =
      operand_names(attrs().bias, true, attrs().y_gradient, attrs().last_gradient);
  check_operands(attrs().cell, attrs().bias, inputs, names);
  const RecurrentShape s = recurrent_shape(attrs(), inputs[In::x].shape, inputs[In::w_hh].shape);
  bool fits = inputs[saved_input()].shape == Shape{s.n, s.steps, s.saved()};
  if (attrs().y_gradient) fits = fits && inputs[y_input()].shape == Shape{s.n, s.steps, s.units};
  if (attrs().last_gradient) fits = fits && inputs[last_input()].shape == Shape{s.n, s.units};
  require(fits, "expected saved ({}, {}, {}) and gradients of {} units; got {}", s.n, s.steps,
          s.saved(), s.units, to_string(names, {inputs.begin(), inputs.end()}));
  std::vector<ValueType> outputs(inputs.begin(), inputs.begin() + (attrs().bias ? 5 : 3));
  return outputs;
}

Cost RecurrentGradOp::cost(std::span<const ValueType> inputs,
                           std::span<const ValueType> outputs) const {
  return recurrent_cost(recurrent_shape(attrs(), inputs[In::x].shape, inputs[In::w_hh].shape), 2,
                        inputs, outputs);
}

void register_recurrent(OpRegistry& registry) {
  registry.add<RecurrentOp>();
  registry.add<RecurrentGradOp>();
}

}  // namespace linnet
