// SPDX-License-Identifier: Apache-2.0
#include "ops/batch_norm/statistics.h"

#include <array>

namespace linnet {

std::vector<ValueType> BatchNormStatisticsOp::infer(std::span<const ValueType> inputs) const {
  require(!attrs().residual, "expected no residual");
  std::vector<ValueType> outputs = BatchNormOp(attrs()).infer(inputs);
  outputs.erase(outputs.begin());
  return outputs;
}

void BatchNormStatisticsOp::reference(const ReferenceArgs& args) const {
  const BatchNormOp norm(attrs());
  std::vector<ValueType> types;
  for (const ReferenceTensor* input : args.inputs) types.push_back({DType::f32, input->shape});
  ReferenceTensor y;
  y.shape = norm.infer(types).front().shape;
  y.data.resize(static_cast<std::size_t>(y.shape.elements()));
  std::array<ReferenceTensor*, 3> outputs{&y, &args.out(Out::mean), &args.out(Out::inv_std)};
  norm.reference({args.inputs, outputs, args.step});
}

Cost BatchNormStatisticsOp::cost(std::span<const ValueType> inputs,
                                 std::span<const ValueType> outputs) const {
  const Shape& x = inputs[In::x].shape;
  const std::int64_t rows = x[-1] > 0 ? x.elements() / x[-1] : 0;
  const auto elements = static_cast<double>(rows * outputs[Out::mean].shape.elements());
  return {.flops = 4.0 * elements, .bytes = sizeof(float) * elements};
}

}  // namespace linnet
