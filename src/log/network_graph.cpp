// SPDX-License-Identifier: Apache-2.0
#include "log/network_graph.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>

namespace linnet {
namespace {

/// "block.conv" as "block/conv", and what TensorFlow's names may not hold as "_".
std::string path_of(const std::string& name) {
  std::string path = name;
  for (char& c : path) {
    const bool fits = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    if (c == '.')
      c = '/';
    else if (!fits && c != '_' && c != '-' && c != '/')
      c = '_';
  }
  return path.empty() ? "network" : path;
}

class Names {
 public:
  /// `wanted`, with a number where it is taken.
  std::string unique(const std::string& wanted) {
    std::string name = wanted;
    for (int i = 1; !taken_.insert(name).second; ++i) name = wanted + "_" + std::to_string(i);
    return name;
  }

 private:
  std::set<std::string, std::less<>> taken_;
};

}  // namespace

std::vector<GraphNode> network_graph(const NetworkDefinition& network) {
  std::vector<GraphNode> nodes;
  std::map<int, std::string> writers;  // of values
  Names names;
  const Graph& graph = network.graph;
  const auto shape_of = [&](Value value, bool batched) {
    const auto dims = graph.shape(value).dims();
    std::vector<std::int64_t> shape(dims.begin(), dims.end());
    if (batched && !shape.empty()) shape[0] = -1;
    return shape;
  };
  for (const NetworkInput& input : network.inputs) {
    const std::string name = names.unique(path_of(input.name));
    writers[input.value.id] = name;
    nodes.push_back({name, "Placeholder", {}, shape_of(input.value, true)});
  }
  for (const ParameterSpec& spec : network.parameters) {
    const std::string name = names.unique(path_of(spec.name));
    writers[spec.value.id] = name;
    nodes.push_back(
        {name, spec.trainable ? "Variable" : "Statistic", {}, shape_of(spec.value, false)});
  }
  for (const Node& node : graph.nodes()) {
    const std::string op(node.op->name());
    GraphNode drawn{names.unique(path_of(node.name) + "/" + op), op, {}, {}};
    for (const Value input : node.inputs) {
      const auto writer = writers.find(input.id);
      if (writer != writers.end()) drawn.inputs.push_back(writer->second);
    }
    for (const Value output : node.outputs) writers[output.id] = drawn.name;
    drawn.shape = shape_of(node.outputs[0], true);
    nodes.push_back(std::move(drawn));
  }
  return nodes;
}

}  // namespace linnet
