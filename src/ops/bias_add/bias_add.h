// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "graph/graph.h"

namespace linnet {

/// y[..., c] = x[..., c] + b[c]: x of any rank from 1 on, b (C). f32.
class BiasAddOp final : public OpBase<BiasAddOp, NoAttributes> {
 public:
  static constexpr std::string_view kName = "bias_add";
  static constexpr bool kInNetworks = true;
  enum In : std::uint8_t { x, b };
  enum Out : std::uint8_t { y };
  using OpBase::OpBase;
  std::vector<ValueType> infer(std::span<const ValueType> inputs) const override;
  std::vector<Value> gradient(const GradientArgs& args) const override;
  void reference(const ReferenceArgs& args) const override;
  std::vector<int> in_place() const override { return {In::x}; }
  StepsRule steps(std::size_t /*operand*/, const Shape& /*x*/, const Shape& /*y*/) const override {
    return steps::kKept;
  }
};

/// db[c] = sum of dy[..., c] over all but the last axis. f32, summed in a fixed order.
class BiasGradOp final : public OpBase<BiasGradOp, NoAttributes> {
 public:
  static constexpr std::string_view kName = "bias_grad";
  enum In : std::uint8_t { dy };
  enum Out : std::uint8_t { db };
  using OpBase::OpBase;
  std::vector<ValueType> infer(std::span<const ValueType> inputs) const override;
  std::vector<Value> gradient(const GradientArgs& args) const override;
  void reference(const ReferenceArgs& args) const override;
};

}  // namespace linnet
