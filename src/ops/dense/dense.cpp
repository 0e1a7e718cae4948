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
  return inputs.size() >= 2 && inputs[0].shape.rank() == 2 && inputs[1].shape.rank() == 2;
}

}  // namespace

std::vector<ValueType> DenseOp::infer(std::span<const ValueType> inputs) const {
  const std::vector<ValueType> types(inputs.begin(), inputs.end());
  require(matrices(inputs), "expected x (N, features) and w (units, features); got {}",
          to_string({"x", "w", "b"}, types));
  require(inputs[0].shape[1] == inputs[1].shape[1], "expected {} input features; got {}",
          inputs[1].shape[1], to_string({"x", "w", "b"}, types));
  require(inputs.size() == (attrs().bias ? 3U : 2U) &&
              (!attrs().bias || inputs[2].shape == Shape{inputs[1].shape[0]}),
          "expected a bias of {} units; got {}", inputs[1].shape[0],
          to_string({"x", "w", "b"}, types));
  require_f32(inputs);
  return {{DType::f32, Shape{inputs[0].shape[0], inputs[1].shape[0]}}};
}

std::vector<Value> DenseOp::gradient(const GradientArgs& args) const {
  Graph& graph = args.graph;
  const Node& node = args.node;
  const Value dz =
      activation_gradient_from_output(graph, attrs().activation, args.output_gradients[0],
                                      node.outputs[0], node.name);
  std::vector<Value> gradients(node.inputs.size());
  if (attrs().bias && args.needed[2]) gradients[2] = graph.emit(BiasGradOp(), {dz}, node.name);
  if (args.needed[1]) {
    gradients[1] = graph.emit(DenseGradWeightOp(), {dz, node.inputs[0]}, node.name);
  }
  if (args.needed[0]) {
    gradients[0] = graph.emit(DenseGradInputOp(), {dz, node.inputs[1]}, node.name);
  }
  return gradients;
}

void DenseOp::reference(const ReferenceArgs& args) const {
  const ReferenceTensor& x = args.in(0);
  const ReferenceTensor& w = args.in(1);
  const std::int64_t features = x.shape[1];
  const std::int64_t units = w.shape[0];
  for (std::int64_t n = 0; n < x.shape[0]; ++n) {
    for (std::int64_t u = 0; u < units; ++u) {
      double sum = attrs().bias ? args.in(2)[u] : 0.0;
      for (std::int64_t f = 0; f < features; ++f) sum += x[n * features + f] * w[u * features + f];
      args.out(0)[n * units + u] = activate(attrs().activation, sum);
    }
  }
}

Cost DenseOp::cost(std::span<const ValueType> inputs, std::span<const ValueType> outputs) const {
  return product_cost(inputs, outputs, inputs[0].shape[0], inputs[1].shape[0], inputs[1].shape[1]);
}

std::vector<ValueType> DenseGradInputOp::infer(std::span<const ValueType> inputs) const {
  require(matrices(inputs) && inputs[0].shape[1] == inputs[1].shape[0],
          "expected dz (N, units) and w (units, features); got {}",
          to_string({"dz", "w"}, {inputs.begin(), inputs.end()}));
  require_f32(inputs);
  return {{DType::f32, Shape{inputs[0].shape[0], inputs[1].shape[1]}}};
}

void DenseGradInputOp::reference(const ReferenceArgs& args) const {
  const std::int64_t units = args.in(1).shape[0];
  const std::int64_t features = args.in(1).shape[1];
  for (std::int64_t n = 0; n < args.in(0).shape[0]; ++n) {
    for (std::int64_t f = 0; f < features; ++f) {
      double sum = 0;
      for (std::int64_t u = 0; u < units; ++u) {
        sum += args.in(0)[n * units + u] * args.in(1)[u * features + f];
      }
      args.out(0)[n * features + f] = sum;
    }
  }
}

Cost DenseGradInputOp::cost(std::span<const ValueType> inputs,
                            std::span<const ValueType> outputs) const {
  return product_cost(inputs, outputs, inputs[0].shape[0], inputs[1].shape[1], inputs[1].shape[0]);
}

std::vector<ValueType> DenseGradWeightOp::infer(std::span<const ValueType> inputs) const {
  require(matrices(inputs) && inputs[0].shape[0] == inputs[1].shape[0],
          "expected dz (N, units) and x (N, features); got {}",
          to_string({"dz", "x"}, {inputs.begin(), inputs.end()}));
  require_f32(inputs);
  return {{DType::f32, Shape{inputs[0].shape[1], inputs[1].shape[1]}}};
}

void DenseGradWeightOp::reference(const ReferenceArgs& args) const {
  const std::int64_t units = args.in(0).shape[1];
  const std::int64_t features = args.in(1).shape[1];
  for (std::int64_t u = 0; u < units; ++u) {
    for (std::int64_t f = 0; f < features; ++f) {
      double sum = 0;
      for (std::int64_t n = 0; n < args.in(0).shape[0]; ++n) {
        sum += args.in(0)[n * units + u] * args.in(1)[n * features + f];
      }
      args.out(0)[u * features + f] = sum;
    }
  }
}

Cost DenseGradWeightOp::cost(std::span<const ValueType> inputs,
                             std::span<const ValueType> outputs) const {
  return product_cost(inputs, outputs, inputs[0].shape[1], inputs[1].shape[1], inputs[0].shape[0]);
}

void register_dense(OpRegistry& registry) {
  registry.add<DenseOp>();
  registry.add<DenseGradInputOp>();
  registry.add<DenseGradWeightOp>();
}

}  // namespace linnet
