// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "graph/graph.h"

namespace linnet {

struct DropoutAttrs {
  double rate = 0.5;
  std::int64_t stream = 0;  ///< tells the dropouts of one network apart
  template <class V>
  void fields(V&& visit) {
    visit("rate", rate);
    visit("stream", stream);
  }
  bool operator==(const DropoutAttrs&) const = default;
};

/// y = x / (1 - rate), or 0 with probability `rate`; any shape, f32 (Srivastava et al., 2014). What
/// falls is a function of (seed, stream, step, element), so the gradient is the same operator and
/// no mask is kept. Falls away at inference.
class DropoutOp final : public OpBase<DropoutOp, DropoutAttrs> {
 public:
  static constexpr std::string_view kName = "dropout";
  using OpBase::OpBase;
  std::vector<ValueType> infer(std::span<const ValueType> inputs) const override;
  std::vector<Value> gradient(const GradientArgs& args) const override;
  void reference(const ReferenceArgs& args) const override;
  std::vector<int> in_place() const override { return {0}; }
  std::shared_ptr<const Op> at_inference(std::shared_ptr<const Op> self) const override;
};

/// What one step multiplies with: 0 or 1 / (1 - rate).
class DropoutMask {
 public:
  DropoutMask(const DropoutAttrs& attrs, const StepInfo& step);
  /// The factors of elements 4 * block to 4 * block + 3.
  std::array<float, 4> operator()(std::uint64_t block) const;

 private:
  std::uint64_t key_;
  float rate_;
  float scale_;
};

}  // namespace linnet
