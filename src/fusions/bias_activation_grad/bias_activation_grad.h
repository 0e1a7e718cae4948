// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "graph/graph.h"
#include "ops/activation/activation.h"

namespace linnet {

struct BiasActivationGradAttrs {
  Activation kind = Activation::relu;
  bool outer = false;  ///< whether dy is the product of a column and a row
  template <class V>
  void fields(V&& visit) {
    visit("kind", kind);
    visit("outer", outer);
  }
  bool operator==(const BiasActivationGradAttrs&) const = default;
};

/// activation_grad and bias_grad in one pass: dx = dy * f'(·) from (dy, saved), and db[c] = the sum
/// of dx[..., c] over all but the last axis, in a fixed order. f32 of any rank from 1 on. Where dy
/// is an outer product, as of a dense layer of one unit, the operands are a column (N, 1), saved
/// (N, C) and a row (1, C), and dy[n, c] = column[n] * row[c].
class BiasActivationGradOp final : public OpBase<BiasActivationGradOp, BiasActivationGradAttrs> {
 public:
  static constexpr std::string_view kName = "bias_activation_grad";
  enum In : std::uint8_t { dy, saved, row };
  enum Out : std::uint8_t { dx, db };
  using OpBase::OpBase;
  std::vector<ValueType> infer(std::span<const ValueType> inputs) const override;
  void reference(const ReferenceArgs& args) const override;
  std::vector<int> in_place() const override;
};

}  // namespace linnet
