// SPDX-License-Identifier: Apache-2.0
#include "ops/optimizer_update/optimizer_update.h"

#include <cmath>

#include "graph/registry.h"
#include "ops/optimizer_update/update_rule.h"

namespace linnet {

double learning_rate_at(const OptimizerAttrs& attrs, std::uint64_t step) {
  return learning_rate_at(attrs, step, LibraryPower{});
}

int moments(const OptimizerAttrs& attrs) { return moments(rule_of(attrs)); }

UpdateFactors update_factors(const OptimizerAttrs& attrs, const StepInfo& step, double norm) {
  return update_factors(attrs, step, norm, LibraryPower{});
}

std::vector<ValueType> OptimizerUpdateOp::infer(std::span<const ValueType> inputs) const {
  const std::size_t arrays = 2 + static_cast<std::size_t>(moments(attrs()));
  const std::size_t expected = arrays + (attrs().clip_norm > 0 ? 1 : 0);
  bool fits = inputs.size() == expected;
  for (std::size_t i = 0; fits && i < arrays; ++i) {
    fits = inputs[i].dtype == DType::f32 && inputs[i].shape == inputs[0].shape;
  }
  require(fits, "expected {} operands of equal shape; got {}", expected,
          to_string({"parameters", "gradients", "moment", "moment", "norm"},
                    {inputs.begin(), inputs.end()}));
  return {};
}

void OptimizerUpdateOp::reference(const ReferenceArgs& args) const {
  const UpdateRule rule = rule_of(attrs());
  const auto count = static_cast<std::size_t>(moments(rule));
  const double norm = attrs().clip_norm > 0 ? args.in(2 + count)[0] : 0;
  const UpdateFactors factors = update_factors(attrs(), args.step, norm);
  for (std::size_t i = 0; i < args.in(0).data.size(); ++i) {
    double none = 0;
    update_element(rule, factors, args.in(0).data[i], args.in(1).data[i],
                   count > 0 ? args.in(2).data[i] : none, count > 1 ? args.in(3).data[i] : none);
  }
}

std::vector<ValueType> GlobalNormOp::infer(std::span<const ValueType> inputs) const {
  require(inputs.size() == 1 && inputs[0].dtype == DType::f32, "expected one f32 operand");
  return {{DType::f32, Shape{}}};
}

void GlobalNormOp::reference(const ReferenceArgs& args) const {
  double sum = 0;
  for (double x : args.in(0).data) sum += x * x;
  args.out(0)[0] = std::sqrt(sum);
}

void register_optimizer_update(OpRegistry& registry) {
  registry.add<OptimizerUpdateOp>();
  registry.add<GlobalNormOp>();
}

}  // namespace linnet
