// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "graph/graph.h"

namespace linnet {

enum class Reduction : std::uint8_t { sum, mean, max, min };
constexpr std::array<std::string_view, 4> enum_names(Reduction) {
  return {"sum", "mean", "max", "min"};
}

struct ReduceAttrs {
  Reduction kind = Reduction::sum;
  std::vector<std::int64_t> axes = {1};  ///< ascending, from the front, never the batch's 0
  bool keep_dims = false;                ///< leave reduced axes in the result, of dimension 1
  template <class V>
  void fields(V&& visit) {
    visit("kind", kind);
    visit("axes", axes);
    visit("keep_dims", keep_dims);
  }
  bool operator==(const ReduceAttrs&) const = default;
};

/// y = the sum, mean, maximum or minimum of x over `axes`. f32, any rank from 2 on, accumulated in
/// f32 in a fixed order; a NaN among the elements makes the result NaN. Throws Error unless the
/// axes are ascending, within [1, rank) and of one element or more.
class ReduceOp final : public OpBase<ReduceOp, ReduceAttrs> {
 public:
  static constexpr std::string_view kName = "reduce";
  static constexpr bool kInNetworks = true;
  enum In : std::uint8_t { x };
  enum Out : std::uint8_t { y };
  using OpBase::OpBase;
  std::vector<ValueType> infer(std::span<const ValueType> inputs) const override;
  std::vector<Value> gradient(const GradientArgs& args) const override;
  void reference(const ReferenceArgs& args) const override;
  Cost cost(std::span<const ValueType> inputs, std::span<const ValueType> outputs) const override;
  StepsRule steps(std::size_t /*operand*/, const Shape& /*x*/, const Shape& /*y*/) const override {
    return steps::kept_if(std::ranges::count(attrs().axes, 1) == 0, steps::kReduced);
  }
};

struct ReduceGradAttrs {
  Reduction kind = Reduction::sum;  ///< sum or mean
  std::vector<std::int64_t> axes = {1};
  std::vector<std::int64_t> dims = {1};  ///< of the result along `axes`
  bool keep_dims = false;                ///< whether dy has the axes, of dimension 1
  template <class V>
  void fields(V&& visit) {
    visit("kind", kind);
    visit("axes", axes);
    visit("dimensions", dims);
    visit("keep_dims", keep_dims);
  }
  bool operator==(const ReduceGradAttrs&) const = default;
};

/// dx from dy of a sum or a mean: dy repeated along `axes`, divided by the number of repetitions
/// for a mean. f32. Throws Error unless dy is what the reduction over `axes` leaves.
class ReduceGradOp final : public OpBase<ReduceGradOp, ReduceGradAttrs> {
 public:
  static constexpr std::string_view kName = "reduce_grad";
  static constexpr bool kInNetworks = true;
  enum In : std::uint8_t { dy };
  enum Out : std::uint8_t { dx };
  using OpBase::OpBase;
  std::vector<ValueType> infer(std::span<const ValueType> inputs) const override;
  std::vector<Value> gradient(const GradientArgs& args) const override;
  void reference(const ReferenceArgs& args) const override;
};

struct ReduceSelectGradAttrs {
  std::vector<std::int64_t> axes = {1};
  bool keep_dims = false;
  template <class V>
  void fields(V&& visit) {
    visit("axes", axes);
    visit("keep_dims", keep_dims);
  }
  bool operator==(const ReduceSelectGradAttrs&) const = default;
};

/// dx of a maximum or a minimum from (dy, x, y): dy goes to the first element of x, in row-major
/// order, that is y (NaN is NaN), all others get 0. f32.
class ReduceSelectGradOp final : public OpBase<ReduceSelectGradOp, ReduceSelectGradAttrs> {
 public:
  static constexpr std::string_view kName = "reduce_select_grad";
  static constexpr bool kInNetworks = true;
  enum In : std::uint8_t { dy, x, y };
  enum Out : std::uint8_t { dx };
  using OpBase::OpBase;
  std::vector<ValueType> infer(std::span<const ValueType> inputs) const override;
  std::vector<Value> gradient(const GradientArgs& args) const override;
  void reference(const ReferenceArgs& args) const override;
};

}  // namespace linnet
