// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "formats/protobuf.h"

namespace linnet::testing {

/// ONNX messages, field by field: what the exporter would never write.
struct OnnxBytes {
  std::vector<std::string> nodes;
  std::vector<std::string> initializers;
  std::vector<std::int64_t> dims = {0, 4};  ///< of the input "x"; 0: open
  std::int64_t opset = 17;
  std::int64_t type = 1;                      ///< of "x": float; 7: int64
  std::vector<std::string> more_inputs = {};  ///< after "x"
  std::vector<std::string> outputs = {value("y", {})};

  static std::string node(const std::string& op, const std::vector<std::string>& inputs,
                          const std::vector<std::string>& outputs, const std::string& name,
                          const std::vector<std::string>& attributes = {}) {
    std::string message;
    for (const std::string& input : inputs) protobuf::put_bytes(message, 1, input);
    for (const std::string& output : outputs) protobuf::put_bytes(message, 2, output);
    protobuf::put_bytes(message, 3, name);
    protobuf::put_bytes(message, 4, op);
    for (const std::string& attribute : attributes) protobuf::put_bytes(message, 5, attribute);
    return message;
  }
  static std::string integer(const std::string& name, std::int64_t value) {
    std::string message;
    protobuf::put_bytes(message, 1, name);
    protobuf::put_integer(message, 3, value);
    protobuf::put_integer(message, 20, 2);
    return message;
  }
  static std::string integers(const std::string& name, const std::vector<std::int64_t>& values) {
    std::string message;
    protobuf::put_bytes(message, 1, name);
    for (const std::int64_t value : values) protobuf::put_integer(message, 8, value);
    protobuf::put_integer(message, 20, 7);
    return message;
  }
  static std::string text(const std::string& name, const std::string& value) {
    std::string message;
    protobuf::put_bytes(message, 1, name);
    protobuf::put_bytes(message, 4, value);
    protobuf::put_integer(message, 20, 3);
    return message;
  }
  static std::string numbers(const std::string& name, const std::vector<float>& values) {
    std::string message;
    protobuf::put_bytes(message, 1, name);
    for (const float value : values) protobuf::put_float(message, 7, value);
    protobuf::put_integer(message, 20, 6);
    return message;
  }
  static std::string tensor_attribute(const std::string& name, const std::string& value) {
    std::string message;
    protobuf::put_bytes(message, 1, name);
    protobuf::put_bytes(message, 5, value);
    protobuf::put_integer(message, 20, 4);
    return message;
  }
  static std::string texts(const std::string& name, const std::vector<std::string>& values) {
    std::string message;
    protobuf::put_bytes(message, 1, name);
    for (const std::string& value : values) protobuf::put_bytes(message, 9, value);
    protobuf::put_integer(message, 20, 8);
    return message;
  }
  /// A node of scikit-learn's domain.
  static std::string learned(const std::string& op, const std::vector<std::string>& inputs,
                             const std::vector<std::string>& outputs,
                             const std::vector<std::string>& attributes) {
    std::string message = node(op, inputs, outputs, "n", attributes);
    protobuf::put_bytes(message, 7, "ai.onnx.ml");
    return message;
  }
  /// `raw`: the elements' bytes.
  static std::string tensor(const std::string& name, const std::vector<std::int64_t>& dims,
                            std::int64_t type, const std::string& raw) {
    std::string message;
    for (const std::int64_t dim : dims) protobuf::put_integer(message, 1, dim);
    protobuf::put_integer(message, 2, type);
    protobuf::put_bytes(message, 8, name);
    protobuf::put_bytes(message, 9, raw);
    return message;
  }
  static std::string floats(const std::string& name, const std::vector<std::int64_t>& dims,
                            const std::vector<float>& values) {
    return tensor(name, dims, 1,
                  {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float)});
  }
  /// A tensor of floats that lies in another file.
  static std::string external(const std::string& name, const std::vector<std::int64_t>& dims,
                              const std::vector<std::pair<std::string, std::string>>& where) {
    std::string message;
    for (const std::int64_t dim : dims) protobuf::put_integer(message, 1, dim);
    protobuf::put_integer(message, 2, 1);
    protobuf::put_bytes(message, 8, name);
    for (const auto& [key, value] : where) {
      std::string entry;
      protobuf::put_bytes(entry, 1, key);
      protobuf::put_bytes(entry, 2, value);
      protobuf::put_bytes(message, 13, entry);
    }
    protobuf::put_integer(message, 14, 1);
    return message;
  }
  static std::string value(const std::string& name, const std::vector<std::int64_t>& dims,
                           std::int64_t element = 1) {
    std::vector<std::string> messages;
    for (const std::int64_t dim : dims) {
      messages.emplace_back();
      if (dim > 0) protobuf::put_integer(messages.back(), 1, dim);
    }
    return value_of_dims(name, messages, element);
  }
  /// `dims`: messages of dimensions.
  static std::string value_of_dims(const std::string& name, const std::vector<std::string>& dims,
                                   std::int64_t element = 1) {
    std::string shape;
    for (const std::string& dim : dims) protobuf::put_bytes(shape, 1, dim);
    std::string tensor;
    protobuf::put_integer(tensor, 1, element);
    protobuf::put_bytes(tensor, 2, shape);
    std::string type;
    protobuf::put_bytes(type, 1, tensor);
    std::string message;
    protobuf::put_bytes(message, 1, name);
    protobuf::put_bytes(message, 2, type);
    return message;
  }
  std::string bytes() const {
    std::string graph;
    for (const std::string& each : nodes) protobuf::put_bytes(graph, 1, each);
    for (const std::string& each : initializers) protobuf::put_bytes(graph, 5, each);
    protobuf::put_bytes(graph, 11, value("x", dims, type));
    for (const std::string& each : more_inputs) protobuf::put_bytes(graph, 11, each);
    for (const std::string& each : outputs) protobuf::put_bytes(graph, 12, each);
    std::string model;
    protobuf::put_integer(model, 1, 8);
    protobuf::put_bytes(model, 7, graph);
    std::string version;
    protobuf::put_integer(version, 2, opset);
    protobuf::put_bytes(model, 8, version);
    return model;
  }
};

}  // namespace linnet::testing
