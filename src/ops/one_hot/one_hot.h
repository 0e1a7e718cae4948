// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "graph/graph.h"

namespace linnet {

struct OneHotAttrs {
  std::int64_t classes = 1;
  template <class V>
  void fields(V&& visit) {
    visit("classes", classes);
  }
  bool operator==(const OneHotAttrs&) const = default;
};

/// y[..., c] = 1 where ids[...] == c, else 0: ids i32 (N, ...), y f32 (N, ..., classes). An id
/// outside [0, classes) gives zeros alone. No gradient.
class OneHotOp final : public OpBase<OneHotOp, OneHotAttrs> {
 public:
  static constexpr std::string_view kName = "one_hot";
  static constexpr bool kInNetworks = true;
  enum In : std::uint8_t { ids };
  enum Out : std::uint8_t { y };
  using OpBase::OpBase;
  std::vector<ValueType> infer(std::span<const ValueType> inputs) const override;
  std::vector<Value> gradient(const GradientArgs& args) const override;
  void reference(const ReferenceArgs& args) const override;
  StepsRule steps(std::size_t /*operand*/, const Shape& /*x*/, const Shape& /*y*/) const override {
    return steps::kKept;
  }
};

}  // namespace linnet
