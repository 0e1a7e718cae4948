// SPDX-License-Identifier: Apache-2.0
#include "ops/label_targets/label_targets.h"

#include "core/dims.h"
#include "graph/registry.h"
#include "ops/label_targets/formulas.h"

namespace linnet {

std::vector<ValueType> LabelTargetsOp::infer(std::span<const ValueType> inputs) const {
  require(inputs.size() == 2 && inputs[In::labels].dtype == DType::i32 &&
              inputs[In::labels].shape.rank() >= 1 && inputs[In::weights].dtype == DType::f32 &&
              inputs[In::weights].shape.rank() == 1 && inputs[In::weights].shape[0] >= 1,
          "expected i32 labels (N, ...) and weights (C); got {}",
          to_string({"labels", "weights"}, {inputs.begin(), inputs.end()}));
  require(attrs().smoothing >= 0 && attrs().smoothing < 1, "expected a smoothing in [0, 1); got {}",
          attrs().smoothing);
  std::vector<std::int64_t> dims = dims_of(inputs[In::labels].shape);
  dims.push_back(inputs[In::weights].shape[0]);
  return {{DType::f32, Shape(dims)}};
}

std::vector<Value> LabelTargetsOp::gradient(const GradientArgs& args) const {
  require(!args.needed[In::weights], "[{} '{}'] is not differentiable by the weights", kName,
          args.node.name);
  return {Value{}, Value{}};
}

void LabelTargetsOp::reference(const ReferenceArgs& args) const {
  const std::int64_t classes = args.in(In::weights).shape[0];
  const std::int64_t rows = args.in(In::labels).shape.elements();
  const LabelTargets f{classes, attrs().smoothing, attrs().ignores, attrs().ignore_index};
  const auto label = [&](std::int64_t n) {
    return static_cast<std::int64_t>(args.in(In::labels)[n]);
  };
  double total = 0;
  for (std::int64_t n = 0; n < rows; ++n)
    total += f.counts(label(n)) ? args.in(In::weights)[label(n)] : 0;
  for (std::int64_t i = 0; i < rows * classes; ++i) {
    const std::int64_t c = i % classes;
    args.out(Out::t)[i] = f.target(label(i / classes), c, args.in(In::weights)[c], total);
  }
}

void register_label_targets(OpRegistry& registry) { registry.add<LabelTargetsOp>(); }

}  // namespace linnet
