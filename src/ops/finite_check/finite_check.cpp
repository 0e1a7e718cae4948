// SPDX-License-Identifier: Apache-2.0
#include "ops/finite_check/finite_check.h"

#include <algorithm>
#include <cmath>

#include "graph/registry.h"

namespace linnet {

std::vector<ValueType> FiniteCheckOp::infer(std::span<const ValueType> inputs) const {
  require((inputs.size() == 2 || inputs.size() == 3) &&
              inputs[In::stopped] == ValueType{DType::f64, Shape{}} &&
              inputs[In::x].dtype == DType::f32 &&
              (inputs.size() == 2 || inputs[In::loss] == ValueType{DType::f32, Shape{}}),
          "expected f64 (), an f32 array and optionally a loss f32 (); got {}",
          to_string({"stopped", "x", "loss"}, {inputs.begin(), inputs.end()}));
  return {};
}

void FiniteCheckOp::reference(const ReferenceArgs& args) const {
  bool finite = true;
  for (const ReferenceTensor* x : args.inputs.subspan(1)) {
    finite =
        finite && std::ranges::all_of(x->data, [](double value) { return std::isfinite(value); });
  }
  if (!finite) args.in(In::stopped)[0] = stop_at(args.in(In::stopped)[0], args.step);
}

void register_finite_check(OpRegistry& registry) { registry.add<FiniteCheckOp>(); }

}  // namespace linnet
