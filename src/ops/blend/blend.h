// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "base/host_device.h"
#include "graph/graph.h"
#include "graph/step.h"

namespace linnet {

/// Says what a flat array becomes with another one of its length.
enum class Blend : std::uint8_t {
  add,  ///< t + s
  mix,  ///< (1 - w) t + w s, a weight w by range: running statistics
  /// t + (1 - d) (s - t); s at the first update: the moving average of weights. In this form, since
  /// d and 1 - d as floats don't add up to 1: near d = 1 all averages would be too small or large.
  average,
};
constexpr std::array<std::string_view, 3> enum_names(Blend) { return {"add", "mix", "average"}; }

struct BlendAttrs {
  Blend kind = Blend::add;
  double decay = 0.999;  ///< average: d
  /// average: d is at most (1 + n) / (10 + n) after n updates.
  bool warmup = false;
  /// mix: the elements that change, in order, as {begin, end, begin, end, ...}, and their weights.
  std::vector<std::int64_t> bounds = {};
  std::vector<double> weights = {};
  bool guarded = false;    ///< whether a last operand stops it; see FiniteCheckOp
  bool first = false;      ///< mix: changes something before the first update alone
  std::int64_t every = 1;  ///< mix: changes something after each `every` updates
  template <class V>
  void fields(V&& visit) {
    visit("kind", kind);
    visit("decay", decay);
    visit("warmup", warmup);
    visit("bounds", bounds);
    visit("weights", weights);
    visit("guarded", guarded);
    visit("first", first);
    visit("every", every);
  }
  bool operator==(const BlendAttrs&) const = default;
};

/// Blends s into t, both f32 (or f64, which are added) and of one shape; t is mutated. Operands: t,
/// s, and if guarded `stopped` f64 (), which leaves t as it is unless it is 0.
class BlendOp final : public OpBase<BlendOp, BlendAttrs> {
 public:
  static constexpr std::string_view kName = "blend";
  enum In : std::uint8_t { target, source, stopped };
  using OpBase::OpBase;
  std::vector<ValueType> infer(std::span<const ValueType> inputs) const override;
  void reference(const ReferenceArgs& args) const override;
  bool mutates(std::size_t input) const override { return input == In::target; }
};

/// t becomes keep * t + take * s, or if it moves t + take * (s - t), or it stays.
struct BlendFactors {
  float keep;
  float take;
  bool moves = false;
  bool stays = false;
};

/// A range of elements and what it is blended with, but for `average`, whose factors follow from
/// the step.
struct BlendRange {
  std::int64_t begin = 0;
  std::int64_t end = 0;
  float weight = 1;
};

std::vector<BlendRange> ranges_of(const BlendAttrs& attrs, std::int64_t length);

/// The attributes as kernels take them.
struct BlendRule {
  explicit BlendRule(const BlendAttrs& attrs)
      : kind(attrs.kind),
        decay(attrs.decay),
        warmup(attrs.warmup),
        first(attrs.first),
        every(static_cast<std::uint64_t>(attrs.every)) {}

  Blend kind;
  double decay;
  bool warmup;
  bool first;
  std::uint64_t every;
};

LINNET_HOST_DEVICE inline BlendFactors blend_factors(const BlendRule& rule, float weight,
                                                     const StepInfo& step) {
  if (rule.kind == Blend::add) return {1, 1};
  if (rule.kind == Blend::mix) {
    const bool stays = rule.first ? step.update != 0 : (step.update + 1) % rule.every != 0;
    return {.keep = 1 - weight, .take = weight, .stays = stays};
  }
  if (step.update == 0) return {0, 1};
  const auto n = static_cast<double>(step.update);
  const double most = rule.warmup ? (1 + n) / (10 + n) : 1;
  const double decay = rule.decay < most ? rule.decay : most;
  return {static_cast<float>(decay), static_cast<float>(1 - decay), true};
}

/// Without a product that would turn an infinity of what is not kept into NaN.
LINNET_HOST_DEVICE inline float blend(const BlendFactors& by, float t, float s) {
  if (by.moves) return t + by.take * (s - t);
  return by.keep == 0 ? by.take * s : by.keep * t + by.take * s;
}

}  // namespace linnet
