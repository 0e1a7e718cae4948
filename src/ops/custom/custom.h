// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/custom_operator.h>

#include <cstdint>
#include <memory>
#include <string>

#include "graph/graph.h"

namespace linnet {

/// A user's operator in a graph. Its gradient is a function of the layer above, which knows
/// expressions.
class CustomOp final : public Op {
 public:
  /// Backends register one kernel for all of them.
  static constexpr std::string_view kName = "custom";
  using Gradient = std::vector<Value> (*)(const CustomOp& op, const GradientArgs& args);

  /// batched: by input, whether its first axis is the batch. Throws Error for a name that is none.
  CustomOp(std::shared_ptr<const CustomOperator> own, std::vector<std::int64_t> batched,
           Gradient gradient);

  const CustomOperator& own() const { return *own_; }
  const std::vector<std::int64_t>& batched() const { return batched_; }

  std::string_view name() const override { return name_; }
  std::string_view kernels() const override { return kName; }
  Attributes attributes() const override;
  bool same(const Op& other) const override;
  std::vector<ValueType> infer(std::span<const ValueType> inputs) const override;
  std::vector<Value> gradient(const GradientArgs& args) const override;
  void reference(const ReferenceArgs& args) const override;

 private:
  std::shared_ptr<const CustomOperator> own_;
  std::string name_;
  std::string settings_;
  std::vector<std::int64_t> batched_;
  Gradient gradient_;
};

/// Returns the shapes of a node's operands, for the user's functions.
std::vector<Shape> shapes_of(std::span<const ValueType> types);

}  // namespace linnet
