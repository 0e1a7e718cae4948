// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "graph/graph.h"

namespace linnet {

struct StridedSliceAttrs {
  int axis = 1;  ///< from the front, never the batch's 0
  std::int64_t begin = 0;
  std::int64_t step = 1;  ///< not 0; negative: backwards
  std::int64_t count = 1;
  template <class V>
  void fields(V&& visit) {
    visit("axis", axis);
    visit("begin", begin);
    visit("step", step);
    visit("count", count);
  }
  bool operator==(const StridedSliceAttrs&) const = default;
};

/// y[..., k, ...] = x[..., begin + k step, ...] along one axis, for k in [0, count). f32, any rank
/// from 2 on. Throws Error unless 1 <= axis < rank and x has every one of these elements.
class StridedSliceOp final : public OpBase<StridedSliceOp, StridedSliceAttrs> {
 public:
  static constexpr std::string_view kName = "strided_slice";
  static constexpr bool kInNetworks = true;
  enum In : std::uint8_t { x };
  enum Out : std::uint8_t { y };
  using OpBase::OpBase;
  std::vector<ValueType> infer(std::span<const ValueType> inputs) const override;
  std::vector<Value> gradient(const GradientArgs& args) const override;
  void reference(const ReferenceArgs& args) const override;
  Cost cost(std::span<const ValueType> inputs, std::span<const ValueType> outputs) const override;
  StepsRule steps(std::size_t /*operand*/, const Shape& /*x*/, const Shape& /*y*/) const override {
    return steps::kept_if(attrs().axis != 1, steps::kCut);
  }
};

struct StridedSliceGradAttrs {
  StridedSliceAttrs slice;
  std::int64_t dim = 1;  ///< of the result along the axis
  template <class V>
  void fields(V&& visit) {
    slice.fields(visit);
    visit("dimension", dim);
  }
  bool operator==(const StridedSliceGradAttrs&) const = default;
};

/// dx from dy: zeros where nothing was read. f32.
class StridedSliceGradOp final : public OpBase<StridedSliceGradOp, StridedSliceGradAttrs> {
 public:
  static constexpr std::string_view kName = "strided_slice_grad";
  static constexpr bool kInNetworks = true;
  enum In : std::uint8_t { dy };
  enum Out : std::uint8_t { dx };
  using OpBase::OpBase;
  std::vector<ValueType> infer(std::span<const ValueType> inputs) const override;
  std::vector<Value> gradient(const GradientArgs& args) const override;
  void reference(const ReferenceArgs& args) const override;
};

}  // namespace linnet
