// SPDX-License-Identifier: Apache-2.0
#include "ops/batch_norm/statistics.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace linnet {
namespace {

/// Operands that a BatchNormOp has, too.
constexpr std::size_t kOfNorm = 5;

}  // namespace

std::vector<ValueType> BatchNormStatisticsOp::infer(std::span<const ValueType> inputs) const {
  require(!attrs().norm.residual, "expected no residual");
  const std::int64_t known = attrs().known;
  require(inputs.size() == (known > 0 ? 7U : 5U), "expected {} operands; got {}", known > 0 ? 7 : 5,
          inputs.size());
  std::vector<ValueType> outputs = BatchNormOp(attrs().norm).infer(inputs.first(kOfNorm));
  outputs.erase(outputs.begin());
  outputs.push_back(outputs.front());
  const ValueType statistic{DType::f32, Shape{known}};
  require(known == 0 || (known <= outputs.front().shape[0] && inputs[In::known_mean] == statistic &&
                         inputs[In::known_variance] == statistic),
          "expected statistics of {} of the channels {}; got {}", known, to_string(outputs.front()),
          to_string({"x", "gamma", "beta", "running_mean", "running_var", "known_mean",
                     "known_variance"},
                    {inputs.begin(), inputs.end()}));
  return outputs;
}

void BatchNormStatisticsOp::reference(const ReferenceArgs& args) const {
  const BatchNormOp norm(attrs().norm);
  const auto inputs = args.inputs.first(kOfNorm);
  const double momentum = attrs().norm.momentum;
  const std::vector<double> running_mean = args.in(In::running_mean).data;
  const std::vector<double> running_var = args.in(In::running_var).data;
  std::vector<ValueType> types;
  for (const ReferenceTensor* input : inputs) types.push_back({DType::f32, input->shape});
  ReferenceTensor y;
  y.shape = norm.infer(types).front().shape;
  y.data.resize(static_cast<std::size_t>(y.shape.elements()));
  std::array<ReferenceTensor*, 3> outputs{&y, &args.out(Out::mean), &args.out(Out::inv_std)};
  norm.reference({inputs, outputs, args.step});
  const std::int64_t channels = y.shape[-1];
  const double rows = static_cast<double>(y.shape.elements()) / static_cast<double>(channels);
  for (std::int64_t c = 0; c < channels; ++c) {
    double& inv_std = args.out(Out::inv_std)[c];
    const double squared = 1 / (inv_std * inv_std) - attrs().norm.epsilon;
    args.out(Out::variance)[c] = rows > 1 ? squared : 0;
    if (c >= attrs().known) continue;
    const double mean = args.in(In::known_mean)[c];
    const double variance = args.in(In::known_variance)[c];
    args.out(Out::mean)[c] = mean;
    args.out(Out::variance)[c] = variance;
    inv_std = 1 / std::sqrt(variance + attrs().norm.epsilon);
    const auto i = static_cast<std::size_t>(c);
    args.in(In::running_mean)[c] = (1 - momentum) * running_mean[i] + momentum * mean;
    args.in(In::running_var)[c] =
        (1 - momentum) * running_var[i] + momentum * variance * rows / std::max(rows - 1, 1.0);
  }
}

Cost BatchNormStatisticsOp::cost(std::span<const ValueType> inputs,
                                 std::span<const ValueType> outputs) const {
  const Shape& x = inputs[In::x].shape;
  const std::int64_t rows = x[-1] > 0 ? x.elements() / x[-1] : 0;
  const std::int64_t channels = outputs[Out::mean].shape.elements() - attrs().known;
  const auto elements = static_cast<double>(rows * channels);
  return {.flops = 4.0 * elements, .bytes = sizeof(float) * elements};
}

}  // namespace linnet
