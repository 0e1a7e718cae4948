// SPDX-License-Identifier: Apache-2.0
#include "onnx/cut.h"

#include <algorithm>
#include <ranges>
#include <set>
#include <string_view>
#include <utility>

#include "base/check.h"

namespace linnet::onnx {
namespace {

constexpr int kMostNested = 16;

using Values = std::set<std::string_view>;

/// Adds what a node reads, in the graphs that it has too.
void add_reads(const NodeProto& node, Values& reads, int depth = 0) {
  require<DataError>(depth <= kMostNested, "it has graphs more than {} deep in each other",
                     kMostNested);
  reads.insert(node.inputs.begin(), node.inputs.end());
  for (const Attribute& attribute : node.attributes) {
    if (attribute.graph.empty()) continue;
    const ModelProto graph = parse_graph(attribute.graph);
    for (const NodeProto& each : graph.nodes) add_reads(each, reads, depth + 1);
    for (const ValueProto& output : graph.outputs) reads.insert(output.name);
  }
}

}  // namespace

void cut(ModelProto& model, const std::vector<std::string>& outputs) {
  Values needed;
  model.outputs.clear();
  for (const std::string& name : outputs) {
    const auto gives = [&](const NodeProto& node) {
      return std::ranges::find(node.outputs, name) != node.outputs.end();
    };
    const auto node = std::ranges::find_if(model.nodes, gives);
    require<DataError>(!name.empty() && node != model.nodes.end(), "'{}' is computed by no node",
                       name);
    ValueProto output;
    output.name = *std::ranges::find(node->outputs, name);
    needed.insert(output.name);
    model.outputs.push_back(std::move(output));
  }
  std::vector<NodeProto> nodes;  // the last one first
  for (NodeProto& node : model.nodes | std::views::reverse) {
    const auto is_needed = [&](std::string_view output) {
      return !output.empty() && needed.contains(output);
    };
    if (std::ranges::none_of(node.outputs, is_needed)) continue;
    add_reads(node, needed);
    nodes.push_back(std::move(node));
  }
  std::ranges::reverse(nodes);
  model.nodes = std::move(nodes);
  std::erase_if(model.inputs,
                [&](const ValueProto& input) { return !needed.contains(input.name); });
}

}  // namespace linnet::onnx
