// SPDX-License-Identifier: Apache-2.0
#include "graph/graph.h"

#include <fmt/format.h>

#include <utility>

#include "base/check.h"

namespace linnet {

Value Graph::add_value(std::string name, ValueType type, Storage storage, std::size_t offset) {
  require_possible(type);
  uses_.push_back(0);
  values_.push_back(
      {.type = std::move(type), .name = std::move(name), .storage = storage, .offset = offset});
  return {static_cast<int>(values_.size()) - 1};
}

Value Graph::add_constant(ValueType type, double fill) {
  const Value value = add_value(fmt::format("{}", fill), std::move(type), Storage::constant);
  info(value).fill = fill;
  return value;
}

Value Graph::add_constant(std::vector<double> elements) {
  LINNET_ASSERT(!elements.empty());
  const auto count = static_cast<std::int64_t>(elements.size());
  const Value value =
      add_value(fmt::format("{} numbers", count), {DType::f32, Shape{count}}, Storage::constant);
  info(value).elements = std::move(elements);
  return value;
}

std::vector<Value> Graph::add(OpPtr op, std::vector<Value> inputs, std::string name) {
  for (Value input : inputs) LINNET_ASSERT(input);
  std::vector<ValueType> output_types;
  try {
    output_types = op->infer(types(inputs));
    for (const ValueType& type : output_types) require_possible(type);
  } catch (const Error& error) {
    fail("[{} '{}'] {}", op->name(), name, error.what());
  }
  Node node{std::move(op), std::move(name), std::move(inputs), {}};
  for (ValueType& type : output_types) {
    node.outputs.push_back(add_value(node.name, std::move(type), Storage::arena));
    info(node.outputs.back()).producer = static_cast<int>(nodes_.size());
  }
  count_uses(node, 1);
  nodes_.push_back(std::move(node));
  return nodes_.back().outputs;
}

Value Graph::add_one(OpPtr op, std::vector<Value> inputs, std::string name) {
  std::vector<Value> outputs = add(std::move(op), std::move(inputs), std::move(name));
  LINNET_ASSERT(outputs.size() == 1);
  return outputs.front();
}

const ValueInfo& Graph::info(Value value) const {
  LINNET_ASSERT(value.id >= 0 && static_cast<std::size_t>(value.id) < values_.size());
  return values_[static_cast<std::size_t>(value.id)];
}

ValueInfo& Graph::info(Value value) {
  return const_cast<ValueInfo&>(std::as_const(*this).info(value));
}

std::vector<ValueType> Graph::types(std::span<const Value> values) const {
  std::vector<ValueType> out;
  out.reserve(values.size());
  for (Value value : values) out.push_back(type(value));
  return out;
}

const Node* Graph::producer(Value value) const {
  const int index = info(value).producer;
  return index < 0 ? nullptr : &nodes_[static_cast<std::size_t>(index)];
}

int Graph::uses(Value value) const {
  LINNET_ASSERT(value.id >= 0 && static_cast<std::size_t>(value.id) < uses_.size());
  return uses_[static_cast<std::size_t>(value.id)];
}

void Graph::count_uses(const Node& node, int by) {
  for (const Value input : node.inputs) uses_[static_cast<std::size_t>(input.id)] += by;
}

void Graph::replace_uses(Value from, Value to) {
  for (Node& node : nodes_) {
    for (Value& input : node.inputs) {
      if (input == from) input = to;
    }
  }
  if (from == to) return;
  int& moved = uses_[static_cast<std::size_t>(from.id)];
  uses_[static_cast<std::size_t>(to.id)] += std::exchange(moved, 0);
}

void Graph::rewrite(std::size_t node, OpPtr op, std::vector<Value> inputs,
                    std::vector<Value> outputs) {
  LINNET_ASSERT(node < nodes_.size());
  Node& target = nodes_[node];
  for (Value output : target.outputs) info(output).producer = -1;
  for (Value output : outputs) info(output).producer = static_cast<int>(node);
  count_uses(target, -1);
  target.op = std::move(op);
  target.inputs = std::move(inputs);
  count_uses(target, 1);
  target.outputs = std::move(outputs);
}

Value Graph::add_output(std::string name, ValueType type) {
  return add_value(std::move(name), std::move(type), Storage::arena);
}

void Graph::erase_nodes(const std::function<bool(std::size_t)>& dead) {
  std::vector<Node> kept;
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    const int index = static_cast<int>(kept.size());
    const bool drop = dead(i);
    for (Value output : nodes_[i].outputs) {
      if (info(output).producer == static_cast<int>(i)) info(output).producer = drop ? -1 : index;
    }
    if (drop) {
      count_uses(nodes_[i], -1);
    } else {
      kept.push_back(std::move(nodes_[i]));
    }
  }
  nodes_ = std::move(kept);
}

namespace {

/// Operators infer f32 for what is stored in 16 bits.
std::vector<ValueType> as_inferred(std::vector<ValueType> types) {
  for (ValueType& type : types) {
    if (type.dtype == DType::bf16 || type.dtype == DType::f16) type.dtype = DType::f32;
  }
  return types;
}

}  // namespace

void Graph::verify() const {
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    const Node& node = nodes_[i];
    for (Value input : node.inputs) {
      const ValueInfo& value = info(input);
      LINNET_ASSERT(value.producer < static_cast<int>(i));
      LINNET_ASSERT(value.producer >= 0 || value.storage != Storage::arena);
    }
    const std::vector<ValueType> inferred = node.op->infer(as_inferred(types(node.inputs)));
    LINNET_ASSERT(inferred == as_inferred(types(node.outputs)));
    for (Value output : node.outputs) LINNET_ASSERT(info(output).producer == static_cast<int>(i));
  }
}

Cost cost_of(const Graph& graph, const Node& node) {
  return node.op->cost(graph.types(node.inputs), graph.types(node.outputs));
}

}  // namespace linnet
