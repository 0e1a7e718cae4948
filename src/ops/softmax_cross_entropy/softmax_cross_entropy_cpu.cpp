// SPDX-License-Identifier: Apache-2.0
#include "ops/softmax_cross_entropy/softmax_cross_entropy.h"

#include <limits>

#include "backend/cpu/element_wise.h"
#include "backend/cpu/total.h"
#include "ops/cross_entropy/cross_entropy.h"
#include "ops/softmax/row_softmax_cpu.h"

namespace linnet::cpu {
namespace {

std::optional<Kernel> prepare_forward(const NodeView& node) {
  using In = SoftmaxCrossEntropyOp::In;
  using Out = SoftmaxCrossEntropyOp::Out;
  const std::int64_t n = node.in(In::logits)[0];
  const std::int64_t classes = node.in(In::logits)[1];
  const double cost = 2.0 * static_cast<double>(classes) + 10;
  return total(n, cost, mean_factor(n), [=](const Args& args, Range range) {
    const auto* labels = args.in<std::int32_t>(In::labels);
    double sum = 0;
    for (std::int64_t i = range.begin; i < range.end; ++i) {
      const float* x = args.in(In::logits) + i * classes;
      const std::int32_t label = labels[i];
      const float log_sum = softmax_row(x, classes, args.out(Out::probabilities) + i * classes);
      const bool known = is_class(label, classes);
      sum += known ? log_sum - x[label] : std::numeric_limits<double>::quiet_NaN();
    }
    return sum;
  });
}

std::optional<Kernel> prepare_gradient(const NodeView& node) {
  using In = SoftmaxCrossEntropyGradOp::In;
  using Out = SoftmaxCrossEntropyGradOp::Out;
  const std::int64_t n = node.in(In::probabilities)[0];
  const std::int64_t classes = node.in(In::probabilities)[1];
  const auto factor = static_cast<float>(mean_factor(n));
  return one_stage(n, 0.4 * static_cast<double>(classes), [=](const Args& args, Range range) {
    const float slope = factor * *args.in(In::dloss);
    const auto* labels = args.in<std::int32_t>(In::labels);
    for (std::int64_t i = range.begin; i < range.end; ++i) {
      const float* p = args.in(In::probabilities) + i * classes;
      float* dx = args.out(Out::dlogits) + i * classes;
      for (std::int64_t c = 0; c < classes; ++c) dx[c] = slope * p[c];
      if (is_class(labels[i], classes)) dx[labels[i]] -= slope;
    }
  });
}

}  // namespace

void register_softmax_cross_entropy(Registry& registry) {
  registry.add(SoftmaxCrossEntropyOp::kName, prepare_forward);
  registry.add(SoftmaxCrossEntropyGradOp::kName, prepare_gradient);
}

}  // namespace linnet::cpu
