// SPDX-License-Identifier: Apache-2.0
#include "ops/label_targets/label_targets.h"

#include "core/dims.h"
#include "graph/registry.h"
#include "ops/label_targets/formulas.h"

namespace linnet {

std::vector<ValueType> LabelTargetsOp::infer(std::span<const ValueType> inputs) const {
  require(inputs.size() == 2 && inputs[0].dtype == DType::i32 && inputs[0].shape.rank() >= 1 &&
              inputs[1].dtype == DType::f32 && inputs[1].shape.rank() == 1 &&
              inputs[1].shape[0] >= 1,
          "expected i32 labels (N, ...) and weights (C); got {}",
          to_string({"labels", "weights"}, {inputs.begin(), inputs.end()}));
  require(attrs().smoothing >= 0 && attrs().smoothing < 1, "expected a smoothing in [0, 1); got {}",
          attrs().smoothing);
  std::vector<std::int64_t> dims = dims_of(inputs[0].shape);
  dims.push_back(inputs[1].shape[0]);
  return {{DType::f32, Shape(dims)}};
}

std::vector<Value> LabelTargetsOp::gradient(const GradientArgs& args) const {
  require(!args.needed[1], "[{} '{}'] is not differentiable by its weights", kName, args.node.name);
  return {Value{}, Value{}};
}

void LabelTargetsOp::reference(const ReferenceArgs& args) const {
  const std::int64_t classes = args.in(1).shape[0];
  const std::int64_t rows = args.in(0).shape.elements();
  const LabelTargets f{classes, attrs().smoothing, attrs().ignores, attrs().ignore_index};
  const auto label = [&](std::int64_t n) { return static_cast<std::int64_t>(args.in(0)[n]); };
  double total = 0;
  for (std::int64_t n = 0; n < rows; ++n) total += f.counts(label(n)) ? args.in(1)[label(n)] : 0;
  for (std::int64_t i = 0; i < rows * classes; ++i) {
    const std::int64_t c = i % classes;
    args.out(0)[i] = f.target(label(i / classes), c, args.in(1)[c], total);
  }
}

void register_label_targets(OpRegistry& registry) { registry.add<LabelTargetsOp>(); }

}  // namespace linnet
