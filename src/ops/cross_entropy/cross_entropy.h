// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>

#include "graph/graph.h"

namespace linnet {

/// Says what the scores of a cross-entropy are. (Logits go through log_softmax first.)
enum class CrossEntropyInput : std::uint8_t { log_probabilities, probabilities };
constexpr std::array<std::string_view, 2> enum_names(CrossEntropyInput) {
  return {"log_probabilities", "probabilities"};
}

struct CrossEntropyAttrs {
  CrossEntropyInput input = CrossEntropyInput::log_probabilities;
  template <class V>
  void fields(V&& visit) {
    visit("input", input);
  }
  bool operator==(const CrossEntropyAttrs&) const = default;
};

/// The mean over the batch of -log p[label]: scores f32 (N, C), labels i32 (N); a scalar f32,
/// summed in f64. 0 for an empty batch, NaN where a label lies outside [0, C).
class CrossEntropyOp final : public OpBase<CrossEntropyOp, CrossEntropyAttrs> {
 public:
  static constexpr std::string_view kName = "cross_entropy";
  enum In : std::uint8_t { scores, labels };
  enum Out : std::uint8_t { loss };
  using OpBase::OpBase;
  std::vector<ValueType> infer(std::span<const ValueType> inputs) const override;
  std::vector<Value> gradient(const GradientArgs& args) const override;
  void reference(const ReferenceArgs& args) const override;
};

/// d(scores) from (dloss, scores, labels).
class CrossEntropyGradOp final : public OpBase<CrossEntropyGradOp, CrossEntropyAttrs> {
 public:
  static constexpr std::string_view kName = "cross_entropy_grad";
  enum In : std::uint8_t { dloss, scores, labels };
  enum Out : std::uint8_t { dscores };
  using OpBase::OpBase;
  std::vector<ValueType> infer(std::span<const ValueType> inputs) const override;
  void reference(const ReferenceArgs& args) const override;
};

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

/// Returns whether a label is one of the classes; no other may be used as an index.
constexpr bool is_class(std::int64_t label, std::int64_t classes) {
  return label >= 0 && label < classes;
}

/// Throws Error unless scores are f32 (N, C) with C >= 1, and labels i32 (N).
void require_scores_and_labels(const ValueType& scores, const ValueType& labels);

}  // namespace linnet
