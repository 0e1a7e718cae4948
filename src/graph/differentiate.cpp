// SPDX-License-Identifier: Apache-2.0
#include "graph/differentiate.h"

#include "base/check.h"
#include "graph/add.h"

namespace linnet {

std::vector<bool> dependents(const Graph& graph, std::span<const Value> wrt) {
  std::vector<bool> depends(graph.value_count(), false);
  for (Value w : wrt) depends[static_cast<std::size_t>(w.id)] = true;
  for (const Node& node : graph.nodes()) {
    bool any = false;
    for (Value v : node.inputs) any = any || depends[static_cast<std::size_t>(v.id)];
    for (Value v : node.outputs) {
      const std::size_t id = static_cast<std::size_t>(v.id);
      depends[id] = depends[id] || any;
    }
  }
  return depends;
}

std::vector<Value> differentiate(Graph& graph, Value loss, std::span<const Value> wrt) {
  require(graph.type(loss) == ValueType{DType::f32, Shape{}}, "expected a scalar f32 loss; got {}",
          to_string(graph.type(loss)));
  const Value one = graph.add_constant({DType::f32, Shape{}}, 1.0);
  return differentiate(graph, std::span(&loss, 1), std::span(&one, 1), wrt);
}

std::vector<Value> differentiate(Graph& graph, std::span<const Value> outputs,
                                 std::span<const Value> output_gradients,
                                 std::span<const Value> wrt) {
  LINNET_ASSERT(outputs.size() == output_gradients.size());
  const std::size_t forward_values = graph.value_count();
  const std::size_t forward_nodes = graph.nodes().size();

  const std::vector<bool> depends = dependents(graph, wrt);
  std::vector<Value> gradients(forward_values);
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    gradients[static_cast<std::size_t>(outputs[i].id)] = output_gradients[i];
  }
  for (std::size_t i = forward_nodes; i-- > 0;) {
    const Node node = graph.nodes()[i];  // a copy: the graph grows below
    std::vector<Value> incoming;
    std::vector<bool> needed;
    bool any_incoming = false;
    bool any_needed = false;
    for (Value v : node.outputs) {
      incoming.push_back(gradients[static_cast<std::size_t>(v.id)]);
      any_incoming = any_incoming || incoming.back();
    }
    for (Value v : node.inputs) {
      needed.push_back(depends[static_cast<std::size_t>(v.id)] &&
                       graph.type(v).dtype == DType::f32);
      any_needed = any_needed || needed.back();
    }
    if (!any_incoming || !any_needed) continue;
    const std::vector<Value> input_gradients = node.op->gradient({graph, node, incoming, needed});
    LINNET_ASSERT(input_gradients.size() == node.inputs.size());
    for (std::size_t k = 0; k < node.inputs.size(); ++k) {
      if (!needed[k] || !input_gradients[k]) continue;
      LINNET_ASSERT(graph.type(input_gradients[k]) == graph.type(node.inputs[k]));
      Value& total = gradients[static_cast<std::size_t>(node.inputs[k].id)];
      total =
          total ? graph.emit(AddOp(), {total, input_gradients[k]}, node.name) : input_gradients[k];
    }
  }

  std::vector<Value> result;
  for (Value w : wrt) result.push_back(gradients[static_cast<std::size_t>(w.id)]);
  return result;
}

}  // namespace linnet
