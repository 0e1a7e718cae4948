// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "onnx/schema.h"

namespace linnet::onnx {

/// Returns an attribute of one whole number.
Attribute integer_attribute(std::string_view name, std::int64_t value);

/// Adds nodes and constants to a model, under names that its file does not have.
class Additions {
 public:
  explicit Additions(ModelProto& model);

  /// Returns `wanted`, or a longer name.
  std::string_view name(std::string_view wanted);
  /// Returns a name for a part of what a node computes, after its first output.
  std::string_view name_in(const NodeProto& node, std::string_view role);
  /// Returns the name of a constant of one whole number, of these dims. Equal constants
  /// share a name.
  std::string_view integer(std::int64_t value, const Dims& dims = {});
  /// Returns the name of the constant true, without axes.
  std::string_view truth();
  /// Returns the name of a constant, a float without axes. Equal constants share a name.
  std::string_view number(float value);
  /// Adds a node of one output, of ONNX's own; returns the output.
  std::string_view node(std::string_view op, std::vector<std::string_view> inputs,
                        std::string_view output, std::vector<Attribute> attributes = {},
                        std::string_view name = {});
  /// Has the importer check that there is a weight for each class.
  void weigh(ClassWeights classes) { model_.class_weights.push_back(std::move(classes)); }

 private:
  std::string_view constant(std::string_view wanted, Type type, Dims dims, std::string bytes);

  ModelProto& model_;
  std::set<std::string_view> names_;
  std::map<std::string, std::int64_t, std::less<>> counts_;
  std::map<std::pair<std::int64_t, Dims>, std::string_view> integers_;
  std::string_view truth_;
  std::map<float, std::string_view> numbers_;
};

}  // namespace linnet::onnx
