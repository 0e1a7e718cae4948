// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "graph/graph.h"

namespace linnet {

/// Rows of a table by their indices: table (V, ...) f32, indices (N, ...) i32 give y, f32, of the
/// indices' shape followed by a row's. The table is not a batch: its dimensions don't change with
/// N. An index outside [0, V) gives a row of NaN; nothing outside the table is read.
class GatherOp final : public OpBase<GatherOp, NoAttributes> {
 public:
  static constexpr std::string_view kName = "gather";
  static constexpr bool kInNetworks = true;
  enum In : std::uint8_t { table, indices };
  enum Out : std::uint8_t { y };
  using OpBase::OpBase;
  std::vector<ValueType> infer(std::span<const ValueType> inputs) const override;
  std::vector<Value> gradient(const GradientArgs& args) const override;
  void reference(const ReferenceArgs& args) const override;
  Cost cost(std::span<const ValueType> inputs, std::span<const ValueType> outputs) const override;
  StepsRule steps(std::size_t operand, const Shape& /*x*/, const Shape& /*y*/) const override {
    return steps::kept_if(operand == In::indices, steps::kMixed);
  }
};

struct GatherGradAttrs {
  std::int64_t rows = 1;  ///< V
  template <class V>
  void fields(V&& visit) {
    visit("rows", rows);
  }
  bool operator==(const GatherGradAttrs&) const = default;
};

/// The gradient by a table of `rows` rows from dy (of the indices' shape followed by a row's, f32)
/// and the indices (i32): each row is the sum of the dy that read it, added in a fixed order, 0
/// where none did. Indices outside [0, rows) count for nothing. Throws Error unless dy's first
/// dimensions are the indices'.
class GatherGradOp final : public OpBase<GatherGradOp, GatherGradAttrs> {
 public:
  static constexpr std::string_view kName = "gather_grad";
  enum In : std::uint8_t { dy, indices };
  enum Out : std::uint8_t { dtable };
  using OpBase::OpBase;
  std::vector<ValueType> infer(std::span<const ValueType> inputs) const override;
  std::vector<Value> gradient(const GradientArgs& args) const override;
  void reference(const ReferenceArgs& args) const override;
};

}  // namespace linnet
