// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "c_export/writers.h"
#include "fusions/conv2d_norm/conv2d_norm.h"

namespace linnet {
namespace {

/// Writes the convolution with the norm folded into weights and bias.
void write(const Written& w) {
  using Norm = BatchNormInferenceOp::In;
  const auto& op = static_cast<const Conv2dNormOp&>(*w.node.op);
  const Conv2dNormAttrs& a = op.attrs();
  const auto of = [&](Norm operand) { return w.weight(op.norm_input(operand)); };
  std::vector<float> weights = w.weight(Conv2dNormOp::In::w);
  std::vector<float> bias = of(Norm::beta);
  const std::vector<float> gamma = of(Norm::gamma);
  const std::vector<float> mean = of(Norm::running_mean);
  const std::vector<float> variance = of(Norm::running_var);
  const std::vector<float> before =
      a.conv.bias ? w.weight(Conv2dNormOp::In::b) : std::vector<float>(bias.size());
  const std::size_t taps = weights.size() / std::max<std::size_t>(bias.size(), 1);
  for (std::size_t o = 0; o < bias.size(); ++o) {
    const double factor = gamma[o] / std::sqrt(variance[o] + a.norm.epsilon);
    for (std::size_t i = o * taps; i < (o + 1) * taps; ++i) {
      weights[i] = static_cast<float>(weights[i] * factor);
    }
    bias[o] = static_cast<float>(bias[o] + (before[o] - mean[o]) * factor);
  }
  call_conv2d(w, a.conv, weights, w.file.floats(bias));
  if (a.norm.residual) add_to_result(w, w.node.inputs[op.norm_input(Norm::residual)]);
  activate_result(w, a.norm.activation);
}

}  // namespace

void register_conv2d_norm_c(Writers& all) { all[Conv2dNormOp::kName] = write; }

}  // namespace linnet
