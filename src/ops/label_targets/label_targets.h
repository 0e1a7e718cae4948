// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "graph/graph.h"

namespace linnet {

struct LabelTargetsAttrs {
  double smoothing = 0;  ///< s in [0, 1)
  bool ignores = false;  ///< whether `ignore_index` counts
  std::int64_t ignore_index = 0;
  template <class V>
  void fields(V&& visit) {
    visit("smoothing", smoothing);
    visit("ignores", ignores);
    visit("ignore_index", ignore_index);
  }
  bool operator==(const LabelTargetsAttrs&) const = default;
};

/// Labels as the targets of a weighted mean: t[n, c] = w[c] ((1 - s) [c = label n] + s / C) / W, W
/// the sum of w[label] over the samples that are not ignored. Rows of ignored samples are 0, all
/// are where W is 0; the row of a label outside [0, C) is NaN.
/// labels i32 (N, ...), weights w f32 (C); t f32 (N, ..., C). No gradient: labels are data.
class LabelTargetsOp final : public OpBase<LabelTargetsOp, LabelTargetsAttrs> {
 public:
  static constexpr std::string_view kName = "label_targets";
  enum In : std::uint8_t { labels, weights };
  enum Out : std::uint8_t { t };
  using OpBase::OpBase;
  std::vector<ValueType> infer(std::span<const ValueType> inputs) const override;
  std::vector<Value> gradient(const GradientArgs& args) const override;
  void reference(const ReferenceArgs& args) const override;
};

}  // namespace linnet
