// SPDX-License-Identifier: Apache-2.0
#include "ops/blend/blend.h"

#include "graph/registry.h"

namespace linnet {

std::vector<ValueType> BlendOp::infer(std::span<const ValueType> inputs) const {
  const std::size_t expected = attrs().guarded ? 3 : 2;
  const bool sums = attrs().kind == Blend::add && !attrs().guarded;
  require(inputs.size() == expected &&
              (inputs[In::target].dtype == DType::f32 ||
               (sums && inputs[In::target].dtype == DType::f64)) &&
              inputs[In::source] == inputs[In::target] &&
              (!attrs().guarded || inputs[In::stopped] == ValueType{DType::f64, Shape{}}),
          "expected two f32 arrays of one shape{}; got {}", attrs().guarded ? " and f64 ()" : "",
          to_string({"target", "source", "stopped"}, {inputs.begin(), inputs.end()}));
  const std::int64_t length = inputs[In::target].shape.elements();
  if (attrs().kind == Blend::average) {
    require(attrs().decay > 0 && attrs().decay < 1, "expected a decay in (0, 1); got {}",
            attrs().decay);
  }
  require(attrs().bounds.size() == 2 * attrs().weights.size() &&
              (attrs().kind == Blend::mix || attrs().weights.empty()),
          "expected a weight for each range, and ranges only in a mix; got {} and {} bounds",
          attrs().weights.size(), attrs().bounds.size());
  require(attrs().every >= 1 && (attrs().every == 1 || !attrs().first) &&
              (attrs().kind == Blend::mix || (attrs().every == 1 && !attrs().first)),
          "expected a mix in the first update or in every one of at least 1; got {}",
          attrs().every);
  std::int64_t last = 0;
  for (std::size_t i = 0; i < attrs().bounds.size(); i += 2) {
    const std::int64_t begin = attrs().bounds[i];
    const std::int64_t end = attrs().bounds[i + 1];
    require(begin >= last && begin < end && end <= length,
            "expected ranges in order within {}; got [{}, {})", length, begin, end);
    last = end;
  }
  return {};
}

std::vector<BlendRange> ranges_of(const BlendAttrs& attrs, std::int64_t length) {
  if (attrs.kind != Blend::mix) return {{.begin = 0, .end = length}};
  std::vector<BlendRange> ranges;
  for (std::size_t r = 0; r < attrs.weights.size(); ++r) {
    ranges.push_back(
        {attrs.bounds[2 * r], attrs.bounds[2 * r + 1], static_cast<float>(attrs.weights[r])});
  }
  return ranges;
}

void BlendOp::reference(const ReferenceArgs& args) const {
  if (attrs().guarded && args.in(In::stopped)[0] != 0) return;
  const BlendRule rule(attrs());
  for (const BlendRange& range : ranges_of(attrs(), args.in(In::target).shape.elements())) {
    const BlendFactors by = blend_factors(rule, range.weight, args.step);
    if (by.stays) return;
    for (std::int64_t i = range.begin; i < range.end; ++i) {
      const double keep = rule.kind == Blend::add ? 1 : 1 - double{by.take};
      const double kept = keep == 0 ? 0 : keep * args.in(In::target)[i];
      args.in(In::target)[i] = kept + by.take * args.in(In::source)[i];
    }
  }
}

void register_blend(OpRegistry& registry) { registry.add<BlendOp>(); }

}  // namespace linnet
