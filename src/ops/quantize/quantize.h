// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "graph/graph.h"

namespace linnet {

/// 256 values on a line: x = scale (level - zero), level 0 to 255.
struct LevelsAttrs {
  double scale = 1;       ///< above 0; rounded to f32
  std::int64_t zero = 0;  ///< the level of 0, 0 to 255
  template <class V>
  void fields(V&& visit) {
    visit("scale", scale);
    visit("zero", zero);
  }
  bool operator==(const LevelsAttrs&) const = default;

  /// Returns the nearest level of x (of two the even one), 0 for NaN.
  double level_of(double x) const;
  double value_of(double level) const { return (level - static_cast<double>(zero)) * scale; }
};

/// Throws Error unless scale and zero are in range.
void check_levels(const LevelsAttrs& levels);

/// Returns levels that reach from `low` to `high`, and 0 exactly; both finite.
LevelsAttrs levels_between(double low, double high);

/// y = x rounded to 8 bits: the value of its nearest level. Any shape, f32. The second output, u8,
/// is the levels, for operators that compute on them. The gradient passes unchanged (Bengio et al.,
/// 2013: straight through).
class QuantizeOp final : public OpBase<QuantizeOp, LevelsAttrs> {
 public:
  static constexpr std::string_view kName = "quantize";
  static constexpr bool kInNetworks = true;
  enum In : std::uint8_t { x };
  enum Out : std::uint8_t { y, levels };
  using OpBase::OpBase;
  std::vector<ValueType> infer(std::span<const ValueType> inputs) const override;
  std::vector<Value> gradient(const GradientArgs& args) const override;
  void reference(const ReferenceArgs& args) const override;
};

/// Returns the step of weights whose largest magnitude is `most`: they become whole numbers of it
/// from -127 to 127. 1 where all are zeros, or nearly.
inline float step_for(float most) {
  const float step = most / 127;
  return step >= std::numeric_limits<float>::min() ? step : 1;
}
/// Returns the step of a row of weights.
float weight_step(std::span<const float> row);
/// Returns the nearest whole number of steps.
inline std::int8_t steps_of(float w, float step) {
  return static_cast<std::int8_t>(std::nearbyint(w / step));
}
/// Rounds a row of weights to whole numbers of its step. `to` may be the row itself.
inline void round_row(std::span<const float> row, float* to) {
  const float step = weight_step(row);
  for (const float w : row) *to++ = static_cast<float>(steps_of(w, step)) * step;
}

/// y = w with each row (an output channel's weights) rounded to whole numbers of its own step,
/// weight_step(). w (rows, ...), f32. The gradient passes unchanged.
class QuantizeWeightsOp final : public OpBase<QuantizeWeightsOp, NoAttributes> {
 public:
  static constexpr std::string_view kName = "quantize_weights";
  static constexpr bool kInNetworks = true;
  enum In : std::uint8_t { w };
  enum Out : std::uint8_t { y };
  using OpBase::OpBase;
  std::vector<ValueType> infer(std::span<const ValueType> inputs) const override;
  std::vector<Value> gradient(const GradientArgs& args) const override;
  void reference(const ReferenceArgs& args) const override;
};

}  // namespace linnet
