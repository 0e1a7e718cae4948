// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "graph/graph.h"

namespace linnet {

struct TableAttrs {
  std::vector<double> values = {1};  ///< at least one
  template <class V>
  void fields(V&& visit) {
    visit("values", values);
  }
  bool operator==(const TableAttrs&) const = default;
};

/// A vector f32 (values) that the graph knows: weights of classes and the like. Takes no operand;
/// written in every step, since a step's memory holds nothing between steps.
class TableOp final : public OpBase<TableOp, TableAttrs> {
 public:
  static constexpr std::string_view kName = "table";
  enum Out : std::uint8_t { y };
  using OpBase::OpBase;
  std::vector<ValueType> infer(std::span<const ValueType> inputs) const override;
  std::vector<Value> gradient(const GradientArgs& args) const override;
  void reference(const ReferenceArgs& args) const override;
};

}  // namespace linnet
