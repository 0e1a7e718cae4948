// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "graph/graph.h"

namespace linnet {

/// y = a + b of one shape, f32: adds the gradients of a value that is used twice, and losses. The
/// one operator that the graph needs itself; its kernels stand in ops/arithmetic.
class AddOp final : public OpBase<AddOp, NoAttributes> {
 public:
  static constexpr std::string_view kName = "add";
  static constexpr bool kInNetworks = true;  // where derivatives of two uses of a value meet
  enum In : std::uint8_t { a, b };
  enum Out : std::uint8_t { y };
  using OpBase::OpBase;
  std::vector<ValueType> infer(std::span<const ValueType> inputs) const override;
  std::vector<Value> gradient(const GradientArgs& args) const override;
  void reference(const ReferenceArgs& args) const override;
  std::vector<int> in_place() const override { return {In::a, In::b}; }
};

}  // namespace linnet
