// SPDX-License-Identifier: Apache-2.0
#include "ops/optimizer_update/optimizer_update.h"

#include <cmath>

#include "graph/registry.h"
#include "ops/optimizer_update/update_rule.h"

namespace linnet {
namespace {

/// Throws Error unless the bounds are ranges of such an array, in order and in kernels' units.
void require_ranges(const std::vector<std::int64_t>& bounds, std::int64_t length) {
  require(bounds.size() % 2 == 0, "expected bounds in pairs; got {} of them", bounds.size());
  std::int64_t last = 0;
  for (std::size_t i = 0; i < bounds.size(); i += 2) {
    const std::int64_t begin = bounds[i];
    const std::int64_t end = bounds[i + 1];
    require(begin >= last && begin < end && end <= length && begin % kRangeUnit == 0 &&
                (end % kRangeUnit == 0 || end == length),
            "expected ranges in order, of whole units of {} elements, within {}; got [{}, {})",
            kRangeUnit, length, begin, end);
    last = end;
  }
}

}  // namespace

std::vector<double> Knots::flat() const {
  std::vector<double> flat;
  for (std::int64_t i = 0; i < count; ++i) flat.insert(flat.end(), {steps[i], factors[i]});
  return flat;
}

Knots Knots::of(const std::vector<double>& flat) {
  require(flat.size() % 2 == 0 && flat.size() <= 2 * kMostKnots,
          "expected steps and factors of at most {} knots; got {} numbers", kMostKnots,
          flat.size());
  Knots knots;
  for (std::size_t i = 0; i < flat.size(); i += 2) knots.add(flat[i], flat[i + 1]);
  return knots;
}

void OptimizerAttrs::add(const UpdateRange& range) {
  if (!bounds.empty() && bounds.back() == range.begin && rate_factors.back() == range.rate_factor &&
      weight_decays.back() == range.weight_decay &&
      (left_out.empty() ? 0 : left_out.back()) == range.left_out) {
    bounds.back() = range.end;
    return;
  }
  bounds.insert(bounds.end(), {range.begin, range.end});
  rate_factors.push_back(range.rate_factor);
  weight_decays.push_back(range.weight_decay);
  if (left_out.empty() && range.left_out == 0) return;
  left_out.resize(rate_factors.size());
  left_out.back() = range.left_out;
}

std::vector<UpdateRange> ranges_of(const OptimizerAttrs& attrs, std::int64_t length) {
  if (length == 0) return {};
  if (attrs.bounds.empty()) return {{.end = length, .weight_decay = attrs.settings.weight_decay}};
  std::vector<UpdateRange> ranges;
  for (std::size_t r = 0; r < attrs.rate_factors.size(); ++r) {
    ranges.push_back({attrs.bounds[2 * r], attrs.bounds[2 * r + 1], attrs.rate_factors[r],
                      attrs.weight_decays[r], attrs.left_out.empty() ? 0 : attrs.left_out[r]});
  }
  return ranges;
}

std::vector<UpdateRange> ranges_of(const GlobalNormAttrs& attrs, std::int64_t length) {
  if (length == 0) return {};
  if (attrs.bounds.empty()) return {{.end = length}};
  std::vector<UpdateRange> ranges;
  for (std::size_t i = 0; i < attrs.bounds.size(); i += 2) {
    ranges.push_back({.begin = attrs.bounds[i], .end = attrs.bounds[i + 1]});
  }
  return ranges;
}

double learning_rate_at(const UpdateSettings& settings, std::uint64_t update) {
  return learning_rate_at(settings, update, LibraryPower{});
}

UpdateFactors update_factors(const UpdateSettings& settings, const UpdateRange& range,
                             const StepInfo& step, double norm, const GradientScale& scale) {
  return update_factors(settings, range, step, norm, scale, LibraryPower{});
}

std::vector<ValueType> OptimizerUpdateOp::infer(std::span<const ValueType> inputs) const {
  const std::size_t arrays = norm_input(attrs().settings.rule);
  const std::size_t expected =
      arrays + (attrs().settings.clip_norm > 0 ? 1 : 0) + (attrs().guarded ? 1 : 0);
  const std::size_t scale = scale_input(inputs.size());
  bool fits = inputs.size() == expected + (scale > 0 ? 1 : 0) &&
              (scale == 0 || inputs[scale] == ValueType{DType::f32, Shape{kLossScaleSize}}) &&
              (!attrs().guarded || inputs.back() == ValueType{DType::f64, Shape{}});
  for (std::size_t i = 0; fits && i < arrays; ++i) {
    fits = inputs[i].dtype == DType::f32 && inputs[i].shape == inputs[In::parameters].shape;
  }
  require(fits, "expected {} operands of equal shape; got {}", expected,
          to_string({"parameters", "gradients", "moment", "moment", "norm", "scale", "stopped"},
                    {inputs.begin(), inputs.end()}));
  require_ranges(attrs().bounds, inputs[In::parameters].shape.elements());
  require(attrs().rate_factors.size() == attrs().bounds.size() / 2 &&
              attrs().weight_decays.size() == attrs().rate_factors.size(),
          "expected a factor and a weight decay for each of {} ranges; got {} and {}",
          attrs().bounds.size() / 2, attrs().rate_factors.size(), attrs().weight_decays.size());
  require(attrs().left_out.empty() || attrs().left_out.size() == attrs().rate_factors.size(),
          "expected updates that were left out for each of {} ranges; got {}",
          attrs().rate_factors.size(), attrs().left_out.size());
  return {};
}

void OptimizerUpdateOp::reference(const ReferenceArgs& args) const {
  const UpdateSettings& settings = attrs().settings;
  const auto count = static_cast<std::size_t>(moments(settings.rule));
  if (attrs().guarded && args.in(args.inputs.size() - 1)[0] != 0) return;
  const double norm = settings.clip_norm > 0 ? args.in(norm_input(settings.rule))[0] : 0;
  const std::size_t scaled = scale_input(args.inputs.size());
  const GradientScale scale =
      scaled > 0 ? gradient_scale(args.in(scaled).data.data()) : GradientScale{};
  for (const UpdateRange& range : ranges_of(attrs(), args.in(In::parameters).shape.elements())) {
    const UpdateFactorsOf<double> factors =
        update_factors<double>(settings, range, args.step, norm, scale, LibraryPower{});
    for (std::int64_t i = range.begin; i < range.end; ++i) {
      double none = 0;
      update_element(settings.rule, factors, args.in(In::parameters)[i], args.in(In::gradients)[i],
                     count > 0 ? args.in(In::first_moment)[i] : none,
                     count > 1 ? args.in(In::second_moment)[i] : none);
    }
  }
}

Cost OptimizerUpdateOp::cost(std::span<const ValueType> inputs,
                             std::span<const ValueType> outputs) const {
  Cost cost = Op::cost(inputs, outputs);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (mutates(i)) cost.bytes += static_cast<double>(inputs[i].bytes());
  }
  return cost;
}

std::vector<ValueType> GlobalNormOp::infer(std::span<const ValueType> inputs) const {
  require(inputs.size() == 1 && inputs[In::x].dtype == DType::f32, "expected one f32 operand");
  require_ranges(attrs().bounds, inputs[In::x].shape.elements());
  return {{DType::f32, Shape{}}};
}

void GlobalNormOp::reference(const ReferenceArgs& args) const {
  double sum = 0;
  for (const UpdateRange& range : ranges_of(attrs(), args.in(In::x).shape.elements())) {
    for (std::int64_t i = range.begin; i < range.end; ++i)
      sum += args.in(In::x)[i] * args.in(In::x)[i];
  }
  args.out(Out::norm)[0] = std::sqrt(sum);
}

void register_optimizer_update(OpRegistry& registry) {
  registry.add<OptimizerUpdateOp>();
  registry.add<GlobalNormOp>();
}

}  // namespace linnet
