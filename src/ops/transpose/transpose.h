// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "graph/graph.h"

namespace linnet {

struct TransposeAttrs {
  std::vector<std::int64_t> permutation = {0};  ///< of axis i of the result: the operand's axis
  template <class V>
  void fields(V&& visit) {
    visit("permutation", permutation);
  }
  bool operator==(const TransposeAttrs&) const = default;
};

/// y's axis i is x's axis permutation[i]. f32, any rank from 1 on. Throws Error unless the
/// permutation names every axis of x once and leaves the batch in front: permutation[0] == 0. The
/// gradient is the inverse permutation of dy.
class TransposeOp final : public OpBase<TransposeOp, TransposeAttrs> {
 public:
  static constexpr std::string_view kName = "transpose";
  static constexpr bool kInNetworks = true;
  enum In : std::uint8_t { x };
  enum Out : std::uint8_t { y };
  using OpBase::OpBase;
  std::vector<ValueType> infer(std::span<const ValueType> inputs) const override;
  std::vector<Value> gradient(const GradientArgs& args) const override;
  void reference(const ReferenceArgs& args) const override;
  Cost cost(std::span<const ValueType> inputs, std::span<const ValueType> outputs) const override;
  StepsRule steps(std::size_t /*operand*/, const Shape& /*x*/, const Shape& /*y*/) const override {
    return steps::kept_if(attrs().permutation[1] == 1, steps::kMoved);
  }
};

}  // namespace linnet
