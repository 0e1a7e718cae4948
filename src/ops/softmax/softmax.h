// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "graph/graph.h"

namespace linnet {

/// y = exp(x) / sum(exp(x)) over the last axis, f32; the largest element is subtracted first, so
/// nothing overflows.
class SoftmaxOp final : public OpBase<SoftmaxOp, NoAttributes> {
 public:
  static constexpr std::string_view kName = "softmax";
  static constexpr bool kInNetworks = true;
  enum In : std::uint8_t { x };
  enum Out : std::uint8_t { y };
  using OpBase::OpBase;
  std::vector<ValueType> infer(std::span<const ValueType> inputs) const override;
  std::vector<Value> gradient(const GradientArgs& args) const override;
  void reference(const ReferenceArgs& args) const override;
  std::vector<int> in_place() const override { return {In::x}; }
  StepsRule steps(std::size_t /*operand*/, const Shape& x, const Shape& /*y*/) const override {
    return steps::kept_if(x.rank() > 2, steps::kWeighed);
  }
};

/// dx = y * (dy - sum(dy * y)) from (dy, y), y = softmax(x).
class SoftmaxGradOp final : public OpBase<SoftmaxGradOp, NoAttributes> {
 public:
  static constexpr std::string_view kName = "softmax_grad";
  static constexpr bool kInNetworks = true;
  enum In : std::uint8_t { dy, y };
  enum Out : std::uint8_t { dx };
  using OpBase::OpBase;
  std::vector<ValueType> infer(std::span<const ValueType> inputs) const override;
  std::vector<Value> gradient(const GradientArgs& args) const override;
  void reference(const ReferenceArgs& args) const override;
  std::vector<int> in_place() const override { return {In::dy}; }
};

/// y = x - log(sum(exp(x))) over the last axis, f32.
class LogSoftmaxOp final : public OpBase<LogSoftmaxOp, NoAttributes> {
 public:
  static constexpr std::string_view kName = "log_softmax";
  static constexpr bool kInNetworks = true;
  enum In : std::uint8_t { x };
  enum Out : std::uint8_t { y };
  using OpBase::OpBase;
  std::vector<ValueType> infer(std::span<const ValueType> inputs) const override;
  std::vector<Value> gradient(const GradientArgs& args) const override;
  void reference(const ReferenceArgs& args) const override;
  std::vector<int> in_place() const override { return {In::x}; }
  StepsRule steps(std::size_t /*operand*/, const Shape& x, const Shape& /*y*/) const override {
    return steps::kept_if(x.rank() > 2, steps::kWeighed);
  }
};

/// dx = dy - exp(y) * sum(dy) from (dy, y), y = log_softmax(x).
class LogSoftmaxGradOp final : public OpBase<LogSoftmaxGradOp, NoAttributes> {
 public:
  static constexpr std::string_view kName = "log_softmax_grad";
  static constexpr bool kInNetworks = true;
  enum In : std::uint8_t { dy, y };
  enum Out : std::uint8_t { dx };
  using OpBase::OpBase;
  std::vector<ValueType> infer(std::span<const ValueType> inputs) const override;
  std::vector<Value> gradient(const GradientArgs& args) const override;
  void reference(const ReferenceArgs& args) const override;
  std::vector<int> in_place() const override { return {In::dy}; }
};

}  // namespace linnet
