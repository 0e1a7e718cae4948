// SPDX-License-Identifier: Apache-2.0
#include "fusions/bias_activation_grad/bias_activation_grad.h"

#include <algorithm>

#include "graph/registry.h"

namespace linnet {

std::vector<ValueType> BiasActivationGradOp::infer(std::span<const ValueType> inputs) const {
  const std::vector<ValueType> types(inputs.begin(), inputs.end());
  const std::string got = to_string({"dy", "saved", "row"}, types);
  require(inputs.size() == (attrs().outer ? 3U : 2U) && inputs[In::saved].dtype == DType::f32 &&
              inputs[In::saved].shape.rank() >= 1,
          "expected dy and saved, f32 of one shape, or a column, saved and a row; got {}", got);
  const Shape& shape = inputs[In::saved].shape;
  if (attrs().outer) {
    require(shape.rank() == 2 && inputs[In::dy] == ValueType{DType::f32, Shape{shape[0], 1}} &&
                inputs[In::row] == ValueType{DType::f32, Shape{1, shape[1]}},
            "expected a column (N, 1), saved (N, C) and a row (1, C); got {}", got);
  } else {
    require(inputs[In::dy] == inputs[In::saved], "expected dy and saved of one shape; got {}", got);
  }
  return {inputs[In::saved], {DType::f32, Shape{shape[-1]}}};
}

void BiasActivationGradOp::reference(const ReferenceArgs& args) const {
  const ReferenceTensor& saved = args.in(In::saved);
  const std::int64_t channels = saved.shape[-1];
  std::vector<double>& db = args.out(Out::db).data;
  std::fill(db.begin(), db.end(), 0.0);
  for (std::int64_t i = 0; i < saved.shape.elements(); ++i) {
    const std::int64_t c = i % channels;
    const double dy =
        attrs().outer ? args.in(In::dy)[i / channels] * args.in(In::row)[c] : args.in(In::dy)[i];
    const double dx =
        dy * (slope_from_output(attrs().kind) ? activation_slope_from_output(attrs().kind, saved[i])
                                              : activation_slope(attrs().kind, saved[i]));
    args.out(Out::dx)[i] = dx;
    db[static_cast<std::size_t>(c)] += dx;
  }
}

std::vector<int> BiasActivationGradOp::in_place() const {
  return attrs().outer ? std::vector<int>{In::saved} : std::vector<int>{In::dy, In::saved};
}

void register_bias_activation_grad(OpRegistry& registry) { registry.add<BiasActivationGradOp>(); }

}  // namespace linnet
