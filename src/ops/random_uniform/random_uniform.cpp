// SPDX-License-Identifier: Apache-2.0
#include "ops/random_uniform/random_uniform.h"

#include "graph/registry.h"

namespace linnet {

std::vector<ValueType> RandomUniformOp::infer(std::span<const ValueType> inputs) const {
  require(inputs.size() == 1 && inputs[In::x].shape.rank() > 0,
          "expected one operand (N, ...); got {}",
          to_string({"x"}, {inputs.begin(), inputs.end()}));
  const Shape sample(attrs().shape);
  for (const std::int64_t dim : sample.dims()) {
    require(dim > 0, "expected a sample of positive dims; got {}", to_string(sample));
  }
  return {{DType::f32, sample.batched(inputs[In::x].shape[0])}};
}

std::vector<Value> RandomUniformOp::gradient(const GradientArgs& /*args*/) const {
  return {Value{}};
}

void RandomUniformOp::reference(const ReferenceArgs& args) const {
  const std::uint64_t key = uniform_key(attrs().stream, args.step);
  const Shape& shape = args.out(Out::y).shape;
  const std::int64_t row = shape.elements() == 0 ? 1 : shape.sample().elements();
  for (std::int64_t i = 0; i < shape.elements(); ++i) {
    const std::uint64_t n = args.step.first_row + static_cast<std::uint64_t>(i / row);
    const auto element = static_cast<std::uint64_t>(i % row);
    args.out(Out::y)[i] = uniform_block(key, n, element / 4)[element % 4];
  }
}

void register_random_uniform(OpRegistry& registry) { registry.add<RandomUniformOp>(); }

}  // namespace linnet
