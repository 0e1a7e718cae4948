// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "graph/graph.h"

namespace linnet {

/// The mean over all elements of -t log(sigmoid(z)) - (1 - t) log(1 - sigmoid(z)), in the form
/// max(z, 0) - z t + log(1 + exp(-|z|)) that never overflows. Logits z and targets t in [0, 1]: f32
/// of one shape; a scalar f32, summed in f64. 0 for an empty batch.
class BceWithLogitsOp final : public OpBase<BceWithLogitsOp, NoAttributes> {
 public:
  static constexpr std::string_view kName = "bce_with_logits";
  enum In : std::uint8_t { logits, target };
  enum Out : std::uint8_t { loss };
  using OpBase::OpBase;
  std::vector<ValueType> infer(std::span<const ValueType> inputs) const override;
  /// By the logits alone: targets are data.
  std::vector<Value> gradient(const GradientArgs& args) const override;
  void reference(const ReferenceArgs& args) const override;
};

/// dz = dloss * (sigmoid(z) - t) / elements from (z, t, dloss).
class BceWithLogitsGradOp final : public OpBase<BceWithLogitsGradOp, NoAttributes> {
 public:
  static constexpr std::string_view kName = "bce_with_logits_grad";
  enum In : std::uint8_t { logits, target, dloss };
  enum Out : std::uint8_t { dlogits };
  using OpBase::OpBase;
  std::vector<ValueType> infer(std::span<const ValueType> inputs) const override;
  void reference(const ReferenceArgs& args) const override;
  std::vector<int> in_place() const override { return {In::logits}; }
};

}  // namespace linnet
