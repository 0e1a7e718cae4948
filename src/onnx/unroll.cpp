// SPDX-License-Identifier: Apache-2.0
// Loops of a constant number of iterations: Keras's recurrent layers, as tf2onnx writes some.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "base/check.h"
#include "base/utf8.h"
#include "onnx/unroll.h"

namespace linnet::onnx {
namespace {

constexpr std::int64_t kMostUnrolled = std::int64_t{1} << 15;  // nodes that all loops become

using Renames = std::map<std::string_view, std::string_view>;

/// Unrolls loops with a constant number of iterations. Adds each iteration's condition to
/// ModelProto::conditions; the importer checks that it is true.
class Unrolling {
 public:
  Unrolling(ModelProto& model, Additions& additions)
      : model_(model), additions_(additions), nodes_(std::move(model.nodes)) {}

  void run() {
    model_.nodes.clear();
    for (NodeProto& node : nodes_) {
      if (!is_loop(node)) {
        model_.nodes.push_back(std::move(node));
        continue;
      }
      try {
        add_loop(node, iterations_of(node));
      } catch (const Error& error) {
        fail_again<DataError>(error, "[Loop '{}'] {}", escaped(node.name), error.what());
      }
    }
  }

 private:
  /// Returns the iterations that an initializer says.
  std::int64_t iterations_of(const NodeProto& node) const {
    std::optional<std::int64_t> number;
    if (!node.inputs.empty()) number = whole_number_of(model_, node.inputs[0]);
    const std::int64_t iterations = number.value_or(0);
    require<DataError>(iterations >= 1 && iterations <= kMostIterations,
                       "expected an initializer with the number of iterations, 1 to {}{}",
                       kMostIterations, number ? fmt::format("; got {}", iterations) : "");
    return iterations;
  }

  static std::string_view renamed(const Renames& names, std::string_view name) {
    const auto found = names.find(name);
    return found == names.end() ? name : found->second;
  }

  /// Returns a value under one more axis, the first.
  std::string_view as_row(std::string_view value) {
    const std::string_view row = additions_.name("row");  // short: each iteration has one
    Attribute axes;
    axes.name = "axes";
    axes.kind = AttributeKind::ints;
    axes.ints = {0};
    if (model_.opset < 13) return additions_.node("Unsqueeze", {value}, row, {axes});
    return additions_.node("Unsqueeze", {value, additions_.integer(0, {1})}, row);
  }

  /// Returns how many nodes a graph is worth, by what a copy of it takes.
  static std::int64_t size_of(const ModelProto& graph) {
    constexpr std::int64_t kOfNode = 128;
    std::int64_t parts = 0;
    for (const NodeProto& node : graph.nodes) {
      parts += std::ssize(node.inputs);
      for (const std::string_view output : node.outputs) parts += 1 + std::ssize(output);
      for (const Attribute& a : node.attributes) {
        parts += 1 + std::ssize(a.ints) + std::ssize(a.floats) + std::ssize(a.strings);
      }
    }
    return std::ssize(graph.nodes) + std::ssize(graph.inputs) + std::ssize(graph.outputs) +
           std::ssize(graph.initializers) + parts / kOfNode;
  }

  /// Adds a node of a body, whose outputs get names of their own.
  void add_copy(const NodeProto& node, Renames& names) {
    NodeProto copy = node;
    for (std::string_view& input : copy.inputs) input = renamed(names, input);
    for (std::string_view& output : copy.outputs) {
      if (output.empty()) continue;
      const std::string_view name = additions_.name(output);
      names.insert_or_assign(output, name);
      output = name;
    }
    model_.nodes.push_back(std::move(copy));
  }

  /// Adds the nodes that compute the same in every iteration, so that what they make of weights is
  /// one weight; returns the others.
  std::vector<const NodeProto*> add_constant_nodes(const ModelProto& body,
                                                   const std::vector<std::string_view>& state,
                                                   Renames& constants) {
    std::set<std::string_view> changing{body.inputs[0].name, body.inputs[1].name};
    for (std::size_t k = 0; k < state.size(); ++k) {
      const std::string_view name = body.inputs[2 + k].name;
      if (body.outputs[1 + k].name == name) {
        constants.insert_or_assign(name, state[k]);
      } else {
        changing.insert(name);
      }
    }
    std::vector<const NodeProto*> nodes;
    for (const NodeProto& node : body.nodes) {
      const auto changes = [&](std::string_view input) { return changing.contains(input); };
      if (std::ranges::any_of(node.inputs, changes)) {
        changing.insert(node.outputs.begin(), node.outputs.end());
        changing.erase("");  // an output that is left out
        nodes.push_back(&node);
      } else {
        add_copy(node, constants);
      }
    }
    return nodes;
  }

  void add_loop(const NodeProto& node, std::int64_t iterations) {
    const auto attribute = std::ranges::find(node.attributes, "body", &Attribute::name);
    require<DataError>(attribute != node.attributes.end(), "has no body");
    ModelProto body = parse_graph(attribute->graph);
    const std::size_t states = node.inputs.size() - std::min<std::size_t>(node.inputs.size(), 2);
    require<DataError>(node.inputs.size() >= 2 && body.inputs.size() == 2 + states &&
                           body.outputs.size() >= 1 + states &&
                           node.outputs.size() + 1 <= body.outputs.size(),
                       "its body has {} inputs and {} outputs, which do not fit its {} and {}",
                       body.inputs.size(), body.outputs.size(), node.inputs.size(),
                       node.outputs.size());
    const std::size_t results = body.outputs.size() - 1 - states;
    total_ += iterations * size_of(body);
    require<DataError>(total_ <= kMostUnrolled,
                       "{} iterations of {} nodes are too many: expected at most {} nodes in all",
                       iterations, body.nodes.size(), kMostUnrolled);
    Renames constants;
    for (TensorProto& tensor : body.initializers) {
      const std::string_view name = additions_.name(tensor.name);
      constants.insert_or_assign(tensor.name, name);
      tensor.name = name;
      model_.initializers.push_back(tensor);
    }
    std::vector<std::string_view> state(node.inputs.begin() + 2, node.inputs.end());
    std::vector<std::vector<std::string_view>> rows(results);
    std::string_view goes_on = node.inputs[1];
    const std::vector<const NodeProto*> changing = add_constant_nodes(body, state, constants);
    for (std::int64_t i = 0; i < iterations; ++i) {
      if (!goes_on.empty()) model_.conditions.insert(goes_on);
      Renames names = constants;
      names.insert_or_assign(body.inputs[0].name, additions_.integer(i));
      names.insert_or_assign(body.inputs[1].name, additions_.truth());
      for (std::size_t k = 0; k < states; ++k) {
        names.insert_or_assign(body.inputs[2 + k].name, state[k]);
      }
      for (const NodeProto* each : changing) add_copy(*each, names);
      goes_on = renamed(names, body.outputs[0].name);
      for (std::size_t k = 0; k < states; ++k) {
        state[k] = renamed(names, body.outputs[1 + k].name);
      }
      for (std::size_t k = 0; k < results; ++k) {
        rows[k].push_back(as_row(renamed(names, body.outputs[1 + states + k].name)));
      }
    }
    for (std::size_t k = 0; k < node.outputs.size(); ++k) {
      if (node.outputs[k].empty()) continue;  // no node reads it
      if (k < states) {
        additions_.node("Identity", {state[k]}, node.outputs[k]);
      } else {
        additions_.node("Concat", rows[k - states], node.outputs[k],
                        {integer_attribute("axis", 0)});
      }
    }
  }

  ModelProto& model_;
  Additions& additions_;
  std::vector<NodeProto> nodes_;
  std::int64_t total_ = 0;
};

}  // namespace

bool is_loop(const NodeProto& node) { return is_of_onnx(node) && node.op_type == "Loop"; }

void unroll(ModelProto& model, Additions& additions) { Unrolling(model, additions).run(); }

}  // namespace linnet::onnx
