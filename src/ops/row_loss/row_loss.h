// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>

#include "graph/graph.h"

namespace linnet {

/// Says what is added up over the rows (along the last axis, of C) of scores y and targets t:
enum class RowLoss : std::uint8_t {
  /// With k the first place where t is not 0: t[k] * sum over c != k of max(0, 1 - y[k] + y[c]) /
  /// C;
  /// 0 for a row of zeros. Times 1 / N or weights: multi-class hinge.
  hinge,
  cosine,  ///< 1 - y·t / sqrt((y·y + e) (t·t + e)), e = 1e-12 as in PyTorch
};
constexpr std::array<std::string_view, 2> enum_names(RowLoss) { return {"hinge", "cosine"}; }

struct RowLossAttrs {
  RowLoss kind = RowLoss::hinge;
  bool mean = false;  ///< over the rows; else their sum
  template <class V>
  void fields(V&& visit) {
    visit("kind", kind);
    visit("mean", mean);
  }
  bool operator==(const RowLossAttrs&) const = default;
};

/// y and t f32 (..., C), C at least 1; a scalar f32, computed and summed in f64. 0 without rows.
class RowLossOp final : public OpBase<RowLossOp, RowLossAttrs> {
 public:
  static constexpr std::string_view kName = "row_loss";
  enum In : std::uint8_t { y, target };
  enum Out : std::uint8_t { loss };
  using OpBase::OpBase;
  std::vector<ValueType> infer(std::span<const ValueType> inputs) const override;
  /// By y alone: targets are data.
  std::vector<Value> gradient(const GradientArgs& args) const override;
  void reference(const ReferenceArgs& args) const override;
};

/// dy from (dloss, y, t); 0 at a kink.
class RowLossGradOp final : public OpBase<RowLossGradOp, RowLossAttrs> {
 public:
  static constexpr std::string_view kName = "row_loss_grad";
  enum In : std::uint8_t { dloss, y, target };
  enum Out : std::uint8_t { dy };
  using OpBase::OpBase;
  std::vector<ValueType> infer(std::span<const ValueType> inputs) const override;
  void reference(const ReferenceArgs& args) const override;
};

}  // namespace linnet
