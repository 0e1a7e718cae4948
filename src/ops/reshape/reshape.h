// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "graph/graph.h"

namespace linnet {

struct ReshapeAttrs {
  std::vector<std::int64_t> shape;  ///< at most one dimension, the batch, is -1: what is left
  template <class V>
  void fields(V&& visit) {
    visit("shape", shape);
  }
  bool operator==(const ReshapeAttrs&) const = default;
};

/// The same elements in the same order under another shape, any type. A view: nothing runs, unless
/// the result must lie in memory of its own.
class ReshapeOp final : public OpBase<ReshapeOp, ReshapeAttrs> {
 public:
  static constexpr std::string_view kName = "reshape";
  static constexpr bool kInNetworks = true;
  enum In : std::uint8_t { x };
  enum Out : std::uint8_t { y };
  using OpBase::OpBase;
  std::vector<ValueType> infer(std::span<const ValueType> inputs) const override;
  std::vector<Value> gradient(const GradientArgs& args) const override;
  void reference(const ReferenceArgs& args) const override;
  Cost cost(std::span<const ValueType>, std::span<const ValueType>) const override { return {}; }
  bool is_view() const override { return true; }
  /// Row-major: elements of a step stay in it where (N, T) stay the first axes.
  StepsRule steps(std::size_t /*operand*/, const Shape& x, const Shape& y) const override {
    return steps::kept_if(has_steps_of(y, x), steps::kMixed);
  }
};

/// y = x in memory of its own, any type.
class CopyOp final : public OpBase<CopyOp, NoAttributes> {
 public:
  static constexpr std::string_view kName = "copy";
  enum In : std::uint8_t { x };
  enum Out : std::uint8_t { y };
  using OpBase::OpBase;
  std::vector<ValueType> infer(std::span<const ValueType> inputs) const override;
  std::vector<Value> gradient(const GradientArgs& args) const override;
  void reference(const ReferenceArgs& args) const override;
  StepsRule steps(std::size_t /*operand*/, const Shape& /*x*/, const Shape& /*y*/) const override {
    return steps::kKept;
  }
};

/// Reshapes (N, ...) to (N, everything else).
Value flatten(Graph& graph, Value x, const std::string& name);

}  // namespace linnet
