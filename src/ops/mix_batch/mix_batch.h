// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "graph/graph.h"

namespace linnet {

/// Describes how a training batch is mixed with itself: sample i and its partner, i under a
/// permutation of the batch, with one share `l` for the batch. What is drawn is a function of
/// (seed, step) and, for the partners, of the rows: in a part of a batch (StepInfo::first_row) they
/// lie in that part. At least one alpha is above 0; if both are, a fair coin chooses for each
/// batch.
struct MixRule {
  /// Mix-up (Zhang et al., 2018): l x + (1 - l) x', l from Beta(alpha, alpha). 0: never.
  double mixup = 0;
  /// Cut-mix (Yun et al., 2019): a box of x' in x, at one place for the batch; l is the share of x
  /// that is left, drawn from Beta(alpha, alpha) before the box is cut off at the edges. 0: never.
  double cutmix = 0;
  std::int64_t height = 1;  ///< of the images: both operators must find the same box
  std::int64_t width = 1;
  template <class V>
  void fields(V&& visit) {
    visit("mixup", mixup);
    visit("cutmix", cutmix);
    visit("height", height);
    visit("width", width);
  }
  bool operator==(const MixRule&) const = default;
};

/// x (N, ...) f32, mixed; with cutmix > 0 x is (N, height, width, C).
class MixBatchOp final : public OpBase<MixBatchOp, MixRule> {
 public:
  static constexpr std::string_view kName = "mix_batch";
  enum In : std::uint8_t { x };
  enum Out : std::uint8_t { y };
  using OpBase::OpBase;
  std::vector<ValueType> infer(std::span<const ValueType> inputs) const override;
  void reference(const ReferenceArgs& args) const override;
};

struct MixTargetsAttrs {
  MixRule rule = {};
  std::int64_t classes = 1;  ///< of labels
  template <class V>
  void fields(V&& visit) {
    rule.fields(visit);
    visit("classes", classes);
  }
  bool operator==(const MixTargetsAttrs&) const = default;
};

/// The targets of a mixed batch: i32 labels (N) become rows (N, classes) with l at the label and
/// 1 - l at the partner's (a label outside makes its rows NaN); f32 values (N, ...) become
/// l t + (1 - l) t'.
class MixTargetsOp final : public OpBase<MixTargetsOp, MixTargetsAttrs> {
 public:
  static constexpr std::string_view kName = "mix_targets";
  enum In : std::uint8_t { targets };
  enum Out : std::uint8_t { y };
  using OpBase::OpBase;
  std::vector<ValueType> infer(std::span<const ValueType> inputs) const override;
  void reference(const ReferenceArgs& args) const override;
};

}  // namespace linnet
