// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>

#include "base/random.h"
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
/// falls is a function of (seed, stream, step, row in the whole batch, element of the row), so the
/// gradient is the same operator and no mask is kept. Falls away at inference.
class DropoutOp final : public OpBase<DropoutOp, DropoutAttrs> {
 public:
  static constexpr std::string_view kName = "dropout";
  static constexpr bool kInNetworks = true;
  enum In : std::uint8_t { x };
  enum Out : std::uint8_t { y };
  using OpBase::OpBase;
  std::vector<ValueType> infer(std::span<const ValueType> inputs) const override;
  std::vector<Value> gradient(const GradientArgs& args) const override;
  void reference(const ReferenceArgs& args) const override;
  std::vector<int> in_place() const override { return {In::x}; }
  std::shared_ptr<const Op> at_inference(std::shared_ptr<const Op> self) const override;
  StepsRule steps(std::size_t /*operand*/, const Shape& /*x*/, const Shape& /*y*/) const override {
    return steps::kKept;
  }
};

/// Factors of one step: 0 or 1 / (1 - rate). Made by dropout_mask(); all of it
/// constexpr, so that CUDA kernels call it as well.
struct DropoutMask {
  /// Returns the factors of elements 4 * block to 4 * block + 3.
  constexpr std::array<float, 4> operator()(std::uint64_t block) const {
    const std::array<std::uint32_t, 4> words = philox(key, block, 0);
    std::array<float, 4> factors{};
    for (std::size_t i = 0; i < 4; ++i) factors[i] = unit_float(words[i]) < rate ? 0.0F : scale;
    return factors;
  }

  /// Returns that of one element.
  constexpr float of(std::uint64_t element) const {
    return (*this)(element / 4)[static_cast<std::size_t>(element % 4)];
  }

  std::uint64_t key;
  float rate;
  float scale;
};

constexpr DropoutMask dropout_mask(const DropoutAttrs& attrs, const StepInfo& step) {
  return {random_key(step.seed, RandomStream::dropout, static_cast<std::uint64_t>(attrs.stream),
                     step.step),
          static_cast<float>(attrs.rate), static_cast<float>(1 / (1 - attrs.rate))};
}

/// Returns the mask's element at which a program's x begins: rows of the whole batch come before
/// it.
inline std::uint64_t first_element(const StepInfo& step, const Shape& x) {
  return step.first_row * static_cast<std::uint64_t>(x.rank() > 0 ? x.sample().elements() : 0);
}

/// x times its factor; a dropped infinity or NaN is 0 too.
constexpr float drop(float x, float factor) { return factor == 0 ? 0.0F : x * factor; }

}  // namespace linnet
