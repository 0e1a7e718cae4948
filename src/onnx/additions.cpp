// SPDX-License-Identifier: Apache-2.0
#include "onnx/additions.h"

#include <fmt/format.h>

#include <cstring>
#include <memory>

namespace linnet::onnx {

Attribute integer_attribute(std::string_view name, std::int64_t value) {
  Attribute attribute;
  attribute.name = name;
  attribute.kind = AttributeKind::i;
  attribute.i = value;
  return attribute;
}

Additions::Additions(ModelProto& model) : model_(model) {
  for (const NodeProto& node : model.nodes) {
    names_.insert(node.inputs.begin(), node.inputs.end());
    names_.insert(node.outputs.begin(), node.outputs.end());
  }
  for (const TensorProto& tensor : model.initializers) names_.insert(tensor.name);
  for (const ValueProto& input : model.inputs) names_.insert(input.name);
}

std::string_view Additions::name(std::string_view wanted) {
  std::string name(wanted);
  // Counted by the name that was asked for, so that a loop does not try all numbers again.
  for (std::int64_t& count = counts_[name]; names_.contains(name);) {
    name = fmt::format("{}_{}", wanted, ++count);
  }
  model_.made.push_back(std::move(name));
  names_.insert(model_.made.back());
  return model_.made.back();
}

std::string_view Additions::name_in(const NodeProto& node, std::string_view role) {
  return name(fmt::format("{}.{}", node.outputs[0], role));
}

std::string_view Additions::constant(std::string_view wanted, Type type, Dims dims,
                                     std::string bytes) {
  TensorProto tensor;
  tensor.name = name(wanted);
  tensor.type = type;
  tensor.dims = std::move(dims);
  tensor.owner = std::make_shared<const std::string>(std::move(bytes));
  tensor.raw = *tensor.owner;
  model_.initializers.push_back(tensor);
  return model_.initializers.back().name;
}

std::string_view Additions::integer(std::int64_t value, const Dims& dims) {
  std::string_view& known = integers_[{value, dims}];
  if (known.empty()) {
    std::string bytes(sizeof value, '\0');
    std::memcpy(bytes.data(), &value, sizeof value);
    known = constant("number", Type::i64, dims, std::move(bytes));
  }
  return known;
}

std::string_view Additions::truth() {
  if (truth_.empty()) truth_ = constant("true", Type::boolean, {}, std::string(1, '\1'));
  return truth_;
}

std::string_view Additions::number(float value) {
  std::string_view& known = numbers_[value];
  if (known.empty()) {
    known = constant("float", Type::f32, {}, {reinterpret_cast<const char*>(&value), sizeof value});
  }
  return known;
}

std::string_view Additions::node(std::string_view op, std::vector<std::string_view> inputs,
                                 std::string_view output, std::vector<Attribute> attributes,
                                 std::string_view name) {
  model_.nodes.push_back({std::move(inputs), {output}, name, op, {}, std::move(attributes)});
  return output;
}

}  // namespace linnet::onnx
