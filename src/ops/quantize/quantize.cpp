// SPDX-License-Identifier: Apache-2.0
#include "ops/quantize/quantize.h"

#include <algorithm>

#include "graph/registry.h"

namespace linnet {

double LevelsAttrs::level_of(double x) const {
  const double level = std::nearbyint(x / scale) + static_cast<double>(zero);
  return level >= 0 ? std::min(level, 255.0) : 0;  // NaN, too
}

void check_levels(const LevelsAttrs& levels) {
  const auto scale = static_cast<float>(levels.scale);
  require(scale > 0 && std::isfinite(scale) && std::isfinite(1 / scale),
          "expected a scale above 0 that is finite, as its reciprocal; got {}", levels.scale);
  require(levels.zero >= 0 && levels.zero <= 255, "expected a zero from 0 to 255; got {}",
          levels.zero);
}

LevelsAttrs levels_between(double low, double high) {
  low = std::min(low, 0.0);
  high = std::max(high, 0.0);
  constexpr double kLeast = 1e-30;  // of values that are all zeros
  LevelsAttrs levels{.scale = static_cast<float>(std::max((high - low) / 255, kLeast))};
  levels.zero = std::clamp<std::int64_t>(std::lround(-low / levels.scale), 0, 255);
  return levels;
}

std::vector<ValueType> QuantizeOp::infer(std::span<const ValueType> inputs) const {
  require(inputs.size() == 1 && inputs[In::x].dtype == DType::f32,
          "expected one f32 operand; got {}", to_string({"x"}, {inputs.begin(), inputs.end()}));
  check_levels(attrs());
  return {inputs[In::x], {DType::u8, inputs[In::x].shape}};
}

std::vector<Value> QuantizeOp::gradient(const GradientArgs& args) const {
  return {args.output_gradients[Out::y]};
}

void QuantizeOp::reference(const ReferenceArgs& args) const {
  for (std::int64_t i = 0; i < args.in(In::x).shape.elements(); ++i) {
    const double level = attrs().level_of(args.in(In::x)[i]);
    args.out(Out::y)[i] = attrs().value_of(level);
    args.out(Out::levels)[i] = level;
  }
}

float weight_step(std::span<const float> row) {
  float most = 0;
  for (const float w : row) most = std::max(most, std::abs(w));
  return step_for(most);
}

std::vector<ValueType> QuantizeWeightsOp::infer(std::span<const ValueType> inputs) const {
  require(inputs.size() == 1 && inputs[In::w].dtype == DType::f32 && inputs[In::w].shape.rank() > 0,
          "expected one f32 operand with an axis; got {}",
          to_string({"w"}, {inputs.begin(), inputs.end()}));
  return {inputs[In::w]};
}

std::vector<Value> QuantizeWeightsOp::gradient(const GradientArgs& args) const {
  return {args.output_gradients[Out::y]};
}

void QuantizeWeightsOp::reference(const ReferenceArgs& args) const {
  const Shape& shape = args.in(In::w).shape;
  const std::int64_t width = shape.elements() / std::max<std::int64_t>(shape[0], 1);
  std::vector<float> row(static_cast<std::size_t>(width));
  for (std::int64_t r = 0; r < shape[0]; ++r) {
    for (std::int64_t i = 0; i < width; ++i) {
      row[static_cast<std::size_t>(i)] = static_cast<float>(args.in(In::w)[r * width + i]);
    }
    const float step = weight_step(row);
    for (std::int64_t i = 0; i < width; ++i) {
      args.out(Out::y)[r * width + i] =
          steps_of(row[static_cast<std::size_t>(i)], step) * static_cast<double>(step);
    }
  }
}

void register_quantize(OpRegistry& registry) {
  registry.add<QuantizeOp>();
  registry.add<QuantizeWeightsOp>();
}

}  // namespace linnet
