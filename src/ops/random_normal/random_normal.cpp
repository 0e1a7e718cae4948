// SPDX-License-Identifier: Apache-2.0
#include "ops/random_normal/random_normal.h"

#include "graph/registry.h"

namespace linnet {

std::vector<ValueType> RandomNormalOp::infer(std::span<const ValueType> inputs) const {
  require(inputs.size() == 1 && inputs[In::x].shape.rank() > 0,
          "expected one operand (N, ...); got {}",
          to_string({"x"}, {inputs.begin(), inputs.end()}));
  const Shape sample(attrs().shape);
  for (const std::int64_t dim : sample.dims()) {
    require(dim > 0, "expected a sample of positive dimensions; got {}", to_string(sample));
  }
  return {{DType::f32, sample.batched(inputs[In::x].shape[0])}};
}

std::vector<Value> RandomNormalOp::gradient(const GradientArgs& /*args*/) const {
  return {Value{}};
}

void RandomNormalOp::reference(const ReferenceArgs& args) const {
  const NormalNoise noise = normal_noise(attrs(), args.step);
  const Shape& shape = args.out(Out::y).shape;
  const std::int64_t row = shape.elements() == 0 ? 1 : shape.sample().elements();
  for (std::int64_t i = 0; i < shape.elements(); ++i) {
    const std::uint64_t n = args.step.first_row + static_cast<std::uint64_t>(i / row);
    const auto element = static_cast<std::uint64_t>(i % row);
    args.out(Out::y)[i] = noise.operator()<double>(n, element / 2)[element % 2];
  }
}

void register_random_normal(OpRegistry& registry) { registry.add<RandomNormalOp>(); }

}  // namespace linnet
