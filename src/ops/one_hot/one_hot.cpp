// SPDX-License-Identifier: Apache-2.0
#include "ops/one_hot/one_hot.h"

#include "core/dims.h"
#include "graph/registry.h"

namespace linnet {

std::vector<ValueType> OneHotOp::infer(std::span<const ValueType> inputs) const {
  require(attrs().classes >= 1, "expected at least one class; got {}", attrs().classes);
  require(inputs.size() == 1 && inputs[In::ids].dtype == DType::i32 &&
              inputs[In::ids].shape.rank() >= 1,
          "expected i32 ids (N, ...); got {}", to_string({"ids"}, {inputs.begin(), inputs.end()}));
  std::vector<std::int64_t> dims = dims_of(inputs[In::ids].shape);
  dims.push_back(attrs().classes);
  return {{DType::f32, Shape(dims)}};
}

std::vector<Value> OneHotOp::gradient(const GradientArgs& /*args*/) const { return {Value{}}; }

void OneHotOp::reference(const ReferenceArgs& args) const {
  for (std::int64_t i = 0; i < args.out(Out::y).shape.elements(); ++i) {
    const std::int64_t id = i / attrs().classes;
    args.out(Out::y)[i] = args.in(In::ids)[id] == static_cast<double>(i % attrs().classes) ? 1 : 0;
  }
}

void register_one_hot(OpRegistry& registry) { registry.add<OneHotOp>(); }

}  // namespace linnet
