// SPDX-License-Identifier: Apache-2.0
// Conditions that are known when the file is read: PyTorch writes squeeze() as such, for example.
#include <algorithm>

#include "base/check.h"
#include "onnx/importer.h"

namespace linnet::onnx {
namespace {

constexpr int kMostNested = 16;

std::string_view graph_of(const NodeProto& node, std::string_view branch) {
  const auto found = std::ranges::find(node.attributes, branch, &Attribute::name);
  require<DataError>(found != node.attributes.end(), "has no {}", branch);
  return found->graph;
}

}  // namespace

bool is_if(const NodeProto& node) { return is_of_onnx(node) && node.op_type == "If"; }

void Importer::count_uses(const std::vector<NodeProto>& nodes, const NodeProto* within, int depth) {
  require<DataError>(depth <= kMostNested, "it has conditions more than {} deep in each other",
                     kMostNested);
  for (const NodeProto& node : nodes) {
    const NodeProto* reader = within != nullptr ? within : &node;
    const auto count = [&](std::string_view name) {
      Uses& uses = uses_[std::string(name)];
      ++uses.count;
      uses.reader = reader;
    };
    std::ranges::for_each(node.inputs, count);
    if (!is_if(node)) continue;
    for (const Attribute& attribute : node.attributes) {
      if (attribute.graph.empty()) continue;
      const ModelProto branch = parse_graph(attribute.graph);
      count_uses(branch.nodes, reader, depth + 1);
      std::ranges::for_each(branch.outputs, count, &ValueProto::name);
    }
  }
}

void Importer::add_branch(const NodeProto& node) {
  const FileValue* condition = node.inputs.size() == 1 ? find(node.inputs[0]) : nullptr;
  require<DataError>(condition != nullptr && condition->constant && !condition->constant->batch &&
                         condition->constant->elements() == 1,
                     "expected a condition that does not depend on the inputs");
  require<DataError>(nested_ < kMostNested, "expected at most {} conditions in each other",
                     kMostNested);
  const bool holds = condition->constant->values()[0] != 0;
  const ModelProto& branch =
      branches_.emplace_back(parse_graph(graph_of(node, holds ? "then_branch" : "else_branch")));
  require<DataError>(branch.inputs.empty() && branch.outputs.size() == node.outputs.size(),
                     "its branch has {} inputs and {} outputs; expected none and {}",
                     branch.inputs.size(), branch.outputs.size(), node.outputs.size());
  ++nested_;
  for (const TensorProto& tensor : branch.initializers) add_initializer(tensor);
  for (const NodeProto& each : branch.nodes) add_node(each);
  --nested_;
  for (std::size_t i = 0; i < node.outputs.size(); ++i) {
    const FileValue* value = find(branch.outputs[i].name);
    require<DataError>(value != nullptr, "its output {} is computed by no node", i);
    define(node.outputs[i], *value);
  }
}

}  // namespace linnet::onnx
