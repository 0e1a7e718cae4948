// SPDX-License-Identifier: Apache-2.0
#include "ops/cross_entropy/cross_entropy.h"

#include <cmath>
#include <limits>

#include "backend/cpu/kernel.h"
#include "backend/cpu/total.h"
#include "ops/softmax/row_softmax_cpu.h"

namespace linnet::cpu {
namespace {

std::optional<Kernel> prepare_forward(const NodeView& node) {
  using In = CrossEntropyOp::In;
  const std::int64_t n = node.in(In::scores)[0];
  const std::int64_t classes = node.in(In::scores)[1];
  const bool logarithm = node.attrs<CrossEntropyOp>().input == CrossEntropyInput::probabilities;
  return total(n, logarithm ? 10 : 2, mean_factor(n), [=](const Args& args, Range range) {
    const auto* labels = args.in<std::int32_t>(In::labels);
    double sum = 0;
    for (std::int64_t i = range.begin; i < range.end; ++i) {
      if (!is_class(labels[i], classes)) return std::numeric_limits<double>::quiet_NaN();
      const float score = args.in(In::scores)[i * classes + labels[i]];
      sum -= logarithm ? std::log(score) : score;
    }
    return sum;
  });
}

std::optional<Kernel> prepare_gradient(const NodeView& node) {
  using In = CrossEntropyGradOp::In;
  using Out = CrossEntropyGradOp::Out;
  const std::int64_t n = node.in(In::scores)[0];
  const std::int64_t classes = node.in(In::scores)[1];
  const bool logarithm = node.attrs<CrossEntropyGradOp>().input == CrossEntropyInput::probabilities;
  const auto factor = static_cast<float>(-mean_factor(n));
  return one_stage(n, 0.3 * static_cast<double>(classes), [=](const Args& args, Range range) {
    const float slope = factor * *args.in(In::dloss);
    const auto* labels = args.in<std::int32_t>(In::labels);
    for (std::int64_t i = range.begin; i < range.end; ++i) {
      float* row = args.out(Out::dscores) + i * classes;
      std::fill_n(row, classes, 0.0F);
      if (!is_class(labels[i], classes)) continue;
      const float score = args.in(In::scores)[i * classes + labels[i]];
      row[labels[i]] = logarithm ? slope / score : slope;
    }
  });
}

// With the softmax in the same pass.

std::optional<Kernel> prepare_fused(const NodeView& node) {
  using In = SoftmaxCrossEntropyOp::In;
  using Out = SoftmaxCrossEntropyOp::Out;
  const std::int64_t n = node.in(In::logits)[0];
  const std::int64_t classes = node.in(In::logits)[1];
  const double cost = 4 * (2.0 * static_cast<double>(classes) + 10);  // tasks of 5 us
  return sample_total({n, {In::logits, In::labels}, {Out::probabilities}, {}}, cost, mean_factor(n),
                      [=](const Args& args, Range range) {
                        const auto* labels = args.in<std::int32_t>(In::labels);
                        double sum = 0;
                        for (std::int64_t i = range.begin; i < range.end; ++i) {
                          const float* x = args.in(In::logits) + i * classes;
                          const std::int32_t label = labels[i];
                          const float log_sum =
                              softmax_row(x, classes, args.out(Out::probabilities) + i * classes);
                          const bool known = is_class(label, classes);
                          sum +=
                              known ? log_sum - x[label] : std::numeric_limits<double>::quiet_NaN();
                        }
                        return sum;
                      });
}

std::optional<Kernel> prepare_fused_gradient(const NodeView& node) {
  using In = SoftmaxCrossEntropyGradOp::In;
  using Out = SoftmaxCrossEntropyGradOp::Out;
  const std::int64_t n = node.in(In::probabilities)[0];
  const std::int64_t classes = node.in(In::probabilities)[1];
  const auto factor = static_cast<float>(mean_factor(n));
  return sample_stage(n, 0.4 * static_cast<double>(classes), {In::probabilities, In::labels},
                      {Out::dlogits}, [=](const Args& args, Range range) {
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

void register_cross_entropy(Registry& registry) {
  registry.add(CrossEntropyOp::kName, prepare_forward);
  registry.add(CrossEntropyGradOp::kName, prepare_gradient);
  registry.add(SoftmaxCrossEntropyOp::kName, prepare_fused);
  registry.add(SoftmaxCrossEntropyGradOp::kName, prepare_fused_gradient);
}

}  // namespace linnet::cpu
