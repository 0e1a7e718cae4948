// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "graph/graph.h"

namespace linnet {

/// a + b of equal types: what a value that is used twice gets as its gradient. The one operator
/// that the graph needs itself; its kernels stand in ops/elementwise.
class SumOp final : public OpBase<SumOp, NoAttributes> {
 public:
  static constexpr std::string_view kName = "sum";
  using OpBase::OpBase;
  std::vector<ValueType> infer(std::span<const ValueType> inputs) const override;
  std::vector<Value> gradient(const GradientArgs& args) const override;
  void reference(const ReferenceArgs& args) const override;
  std::vector<int> in_place() const override { return {0, 1}; }
};

Value add_gradients(Graph& graph, Value a, Value b, const std::string& name);

}  // namespace linnet
