// SPDX-License-Identifier: Apache-2.0
#include "ops/dense/dense.h"

#include "graph/registry.h"
#include "ops/bias_add/bias_add.h"

namespace linnet {
namespace {

/// 2 m n k FLOPs and every operand once.
Cost product_cost(std::span<const ValueType> inputs, std::span<const ValueType> outputs,
                  std::int64_t m, std::int64_t n, std::int64_t k) {
  Cost cost{.flops =
                2.0 * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k)};
  for (const ValueType& type : inputs) cost.bytes += static_cast<double>(type.bytes());
  for (const ValueType& type : outputs) cost.bytes += static_cast<double>(type.bytes());
  return cost;
}

bool matrices(std::span<const ValueType> inputs) {
  return inputs.size() >= 2 && inputs[kFirst].shape.rank() == 2 &&
         inputs[kSecond].shape.rank() == 2;
}

}  // namespace

std::vector<ValueType> DenseOp::infer(std::span<const ValueType> inputs) const {
  const std::vector<ValueType> types(inputs.begin(), inputs.end());
  require(matrices(inputs), "expected x (N, features) and w (units, features); got {}",
          to_string({"x", "w", "b"}, types));
  require(inputs[In::x].shape[1] == inputs[In::w].shape[1], "expected {} input features; got {}",
          inputs[In::w].shape[1], to_string({"x", "w", "b"}, types));
  require(inputs.size() == (attrs().bias ? 3U : 2U) &&
              (!attrs().bias || inputs[In::b].shape == Shape{inputs[In::w].shape[0]}),
          "expected a bias of {} units; got {}", inputs[In::w].shape[0],
          to_string({"x", "w", "b"}, types));
  require_f32(inputs);
  return {{DType::f32, Shape{inputs[In::x].shape[0], inputs[In::w].shape[0]}}};
}

std::vector<Value> DenseOp::gradient(const GradientArgs& args) const {
  Graph& graph = args.graph;
  const Node& node = args.node;
  const Value dz =
      activation_gradient_from_output(graph, attrs().activation, args.output_gradients[Out::y],
                                      node.outputs[Out::y], node.name);
  std::vector<Value> gradients(node.inputs.size());
  if (attrs().bias && args.needed[In::b])
    gradients[In::b] = graph.emit(BiasGradOp(), {dz}, node.name);
  if (args.needed[In::w]) {
    gradients[In::w] = graph.emit(DenseGradWeightOp(), {dz, node.inputs[In::x]}, node.name);
  }
  if (args.needed[In::x]) {
    gradients[In::x] = graph.emit(DenseGradInputOp(), {dz, node.inputs[In::w]}, node.name);
  }
  return gradients;
}

void DenseOp::reference(const ReferenceArgs& args) const {
  const ReferenceTensor& x = args.in(In::x);
  const ReferenceTensor& w = args.in(In::w);
  const std::int64_t features = x.shape[1];
  const std::int64_t units = w.shape[0];
  for (std::int64_t n = 0; n < x.shape[0]; ++n) {
    for (std::int64_t u = 0; u < units; ++u) {
      double sum = attrs().bias ? args.in(In::b)[u] : 0.0;
      for (std::int64_t f = 0; f < features; ++f) sum += x[n * features + f] * w[u * features + f];
      args.out(Out::y)[n * units + u] = activate(attrs().activation, sum);
    }
  }
}

Cost DenseOp::cost(std::span<const ValueType> inputs, std::span<const ValueType> outputs) const {
  return product_cost(inputs, outputs, inputs[In::x].shape[0], inputs[In::w].shape[0],
                      inputs[In::w].shape[1]);
}

std::vector<ValueType> DenseGradInputOp::infer(std::span<const ValueType> inputs) const {
  require(matrices(inputs) && inputs[In::dz].shape[1] == inputs[In::w].shape[0],
          "expected dz (N, units) and w (units, features); got {}",
          to_string({"dz", "w"}, {inputs.begin(), inputs.end()}));
  require_f32(inputs);
  return {{DType::f32, Shape{inputs[In::dz].shape[0], inputs[In::w].shape[1]}}};
}

std::vector<Value> DenseGradInputOp::gradient(const GradientArgs& args) const {
  const Node& node = args.node;
  const Value g = args.output_gradients[Out::dx];
  std::vector<Value> gradients(2);
  if (args.needed[In::dz]) {
    gradients[In::dz] = args.graph.emit(DenseOp(), {g, node.inputs[In::w]}, node.name);
  }
  if (args.needed[In::w]) {
    gradients[In::w] = args.graph.emit(DenseGradWeightOp(), {node.inputs[In::dz], g}, node.name);
  }
  return gradients;
}

void DenseGradInputOp::reference(const ReferenceArgs& args) const {
  const std::int64_t units = args.in(In::w).shape[0];
  const std::int64_t features = args.in(In::w).shape[1];
  for (std::int64_t n = 0; n < args.in(In::dz).shape[0]; ++n) {
    for (std::int64_t f = 0; f < features; ++f) {
      double sum = 0;
      for (std::int64_t u = 0; u < units; ++u) {
        sum += args.in(In::dz)[n * units + u] * args.in(In::w)[u * features + f];
      }
      args.out(Out::dx)[n * features + f] = sum;
    }
  }
}

Cost DenseGradInputOp::cost(std::span<const ValueType> inputs,
                            std::span<const ValueType> outputs) const {
  return product_cost(inputs, outputs, inputs[In::dz].shape[0], inputs[In::w].shape[1],
                      inputs[In::w].shape[0]);
}

std::vector<ValueType> DenseGradWeightOp::infer(std::span<const ValueType> inputs) const {
  require(matrices(inputs) && inputs[In::dz].shape[0] == inputs[In::x].shape[0],
          "expected dz (N, units) and x (N, features); got {}",
          to_string({"dz", "x"}, {inputs.begin(), inputs.end()}));
  require_f32(inputs);
  return {{DType::f32, Shape{inputs[In::dz].shape[1], inputs[In::x].shape[1]}}};
}

std::vector<Value> DenseGradWeightOp::gradient(const GradientArgs& args) const {
  const Node& node = args.node;
  const Value g = args.output_gradients[Out::dw];
  std::vector<Value> gradients(2);
  if (args.needed[In::dz]) {
    gradients[In::dz] = args.graph.emit(DenseOp(), {node.inputs[In::x], g}, node.name);
  }
  if (args.needed[In::x]) {
    gradients[In::x] = args.graph.emit(DenseGradInputOp(), {node.inputs[In::dz], g}, node.name);
  }
  return gradients;
}

void DenseGradWeightOp::reference(const ReferenceArgs& args) const {
  const std::int64_t units = args.in(In::dz).shape[1];
  const std::int64_t features = args.in(In::x).shape[1];
  for (std::int64_t u = 0; u < units; ++u) {
    for (std::int64_t f = 0; f < features; ++f) {
      double sum = 0;
      for (std::int64_t n = 0; n < args.in(In::dz).shape[0]; ++n) {
        sum += args.in(In::dz)[n * units + u] * args.in(In::x)[n * features + f];
      }
      args.out(Out::dw)[u * features + f] = sum;
    }
  }
}

Cost DenseGradWeightOp::cost(std::span<const ValueType> inputs,
                             std::span<const ValueType> outputs) const {
  return product_cost(inputs, outputs, inputs[In::dz].shape[1], inputs[In::x].shape[1],
                      inputs[In::dz].shape[0]);
}

void register_dense(OpRegistry& registry) {
  registry.add<DenseOp>();
  registry.add<DenseGradInputOp>();
  registry.add<DenseGradWeightOp>();
}

}  // namespace linnet
