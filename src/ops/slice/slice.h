// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "graph/graph.h"

namespace linnet {

struct SliceAttrs {
  int axis = 1;  ///< from the front, never the batch's 0
  std::int64_t begin = 0;
  std::int64_t end = 1;
  template <class V>
  void fields(V&& visit) {
    visit("axis", axis);
    visit("begin", begin);
    visit("end", end);
  }
  bool operator==(const SliceAttrs&) const = default;
};

/// The elements [begin, end) of x along one axis: y has the dimension end - begin there. f32, any
/// rank from 2 on. Throws Error unless 1 <= axis < rank and 0 <= begin <= end <= x's dimension.
class SliceOp final : public OpBase<SliceOp, SliceAttrs> {
 public:
  static constexpr std::string_view kName = "slice";
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

struct SliceGradAttrs {
  int axis = 1;
  std::int64_t begin = 0;  ///< where the operand starts in the result
  std::int64_t dim = 1;    ///< of the result along the axis
  template <class V>
  void fields(V&& visit) {
    visit("axis", axis);
    visit("begin", begin);
    visit("dimension", dim);
  }
  bool operator==(const SliceGradAttrs&) const = default;
};

/// dy with zeros around it along one axis: a slice's gradient by its operand. f32. Throws Error
/// unless 1 <= axis < rank and the operand fits: 0 <= begin, begin + dy's dimension <= dimension.
class SliceGradOp final : public OpBase<SliceGradOp, SliceGradAttrs> {
 public:
  static constexpr std::string_view kName = "slice_grad";
  static constexpr bool kInNetworks = true;
  enum In : std::uint8_t { dy };
  enum Out : std::uint8_t { dx };
  using OpBase::OpBase;
  std::vector<ValueType> infer(std::span<const ValueType> inputs) const override;
  std::vector<Value> gradient(const GradientArgs& args) const override;
  void reference(const ReferenceArgs& args) const override;
};

}  // namespace linnet
