// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "graph/graph.h"

namespace linnet {

/// cross_entropy(log_softmax(logits), labels) in one pass: logits f32 (N, C), labels i32 (N).
/// Outputs: the mean loss () and the probabilities (N, C), which the gradient needs.
class SoftmaxCrossEntropyOp final : public OpBase<SoftmaxCrossEntropyOp, NoAttributes> {
 public:
  static constexpr std::string_view kName = "softmax_cross_entropy";
  enum In : std::uint8_t { logits, labels };
  enum Out : std::uint8_t { loss, probabilities };
  using OpBase::OpBase;
  std::vector<ValueType> infer(std::span<const ValueType> inputs) const override;
  std::vector<Value> gradient(const GradientArgs& args) const override;
  void reference(const ReferenceArgs& args) const override;
};

/// dlogits = dloss * (probabilities - one_hot(labels)) / N from (probabilities, labels, dloss).
class SoftmaxCrossEntropyGradOp final : public OpBase<SoftmaxCrossEntropyGradOp, NoAttributes> {
 public:
  static constexpr std::string_view kName = "softmax_cross_entropy_grad";
  enum In : std::uint8_t { probabilities, labels, dloss };
  enum Out : std::uint8_t { dlogits };
  using OpBase::OpBase;
  std::vector<ValueType> infer(std::span<const ValueType> inputs) const override;
  void reference(const ReferenceArgs& args) const override;
  std::vector<int> in_place() const override { return {In::probabilities}; }
};

}  // namespace linnet
