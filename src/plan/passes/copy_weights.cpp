// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "ops/copy_all/copy_all.h"
#include "plan/passes/graph_copy.h"
#include "plan/passes/passes.h"

namespace linnet {
namespace {

/// Returns whether operand `i` of a node is a weight that its kernel takes in 16 bits too.
bool takes_half(const Graph& graph, const Supports& supports, const Node& node, std::size_t i) {
  const ValueInfo& value = graph.info(node.inputs[i]);
  if (value.storage != Storage::parameter || value.type.dtype != DType::f32 ||
      value.type.shape.rank() < 2 || node.op->mutates(i)) {
    return false;
  }
  std::vector<ValueType> types = graph.types(node.inputs);
  return std::ranges::any_of(std::array{DType::bf16, DType::f16}, [&](DType half) {
    types[i].dtype = half;
    return supports(*node.op, types, graph.types(node.outputs));
  });
}

}  // namespace

void copy_weights(Graph& graph, const Supports& supports) {
  using Place = std::pair<std::size_t, std::size_t>;  // node, operand
  std::map<int, std::vector<Place>> readers;          // by the weight's id
  for (std::size_t n = 0; n < graph.nodes().size(); ++n) {
    const Node& node = graph.nodes()[n];
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      if (takes_half(graph, supports, node, i)) readers[node.inputs[i].id].emplace_back(n, i);
    }
  }
  std::erase_if(readers, [](const auto& reader) { return reader.second.size() < 2; });
  if (readers.empty()) return;

  GraphCopy copy(graph);
  copy.add_unwritten();
  std::vector<Value> weights;
  for (const auto& [weight, places] : readers) weights.push_back(copy.of(Value{weight}));
  const std::vector<Value> copies =
      copy.made().add(std::make_shared<CopyAllOp>(), std::move(weights), "weights");
  std::map<Place, Value> copy_at;
  auto next = copies.begin();
  for (const auto& [weight, places] : readers) {
    for (const Place& place : places) copy_at[place] = *next;
    ++next;
  }
  for (std::size_t n = 0; n < graph.nodes().size(); ++n) {
    const Node& node = graph.nodes()[n];
    std::vector<Value> inputs;
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      const auto found = copy_at.find({n, i});
      inputs.push_back(found != copy_at.end() ? found->second : copy.of(node.inputs[i]));
    }
    copy.add(node.op, std::move(inputs), node.name, node.outputs);
  }
  graph = std::move(copy.made());
}

}  // namespace linnet
