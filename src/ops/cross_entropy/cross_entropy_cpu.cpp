// SPDX-License-Identifier: Apache-2.0
#include "ops/cross_entropy/cross_entropy.h"

#include <cmath>
#include <limits>

#include "backend/cpu/element_wise.h"
#include "backend/cpu/total.h"

namespace linnet::cpu {
namespace {

std::optional<Kernel> prepare_forward(const NodeView& node) {
  const std::int64_t n = node.in(0)[0];
  const std::int64_t classes = node.in(0)[1];
  const bool logarithm = node.attrs<CrossEntropyOp>().input == CrossEntropyInput::probabilities;
  return total(n, logarithm ? 10 : 2, mean_factor(n), [=](const Args& args, Range range) {
    const auto* labels = args.in<std::int32_t>(1);
    double sum = 0;
    for (std::int64_t i = range.begin; i < range.end; ++i) {
      if (!is_class(labels[i], classes)) return std::numeric_limits<double>::quiet_NaN();
      const float score = args.in(0)[i * classes + labels[i]];
      sum -= logarithm ? std::log(score) : score;
    }
    return sum;
  });
}

std::optional<Kernel> prepare_gradient(const NodeView& node) {
  const std::int64_t n = node.in(1)[0];
  const std::int64_t classes = node.in(1)[1];
  const bool logarithm = node.attrs<CrossEntropyGradOp>().input == CrossEntropyInput::probabilities;
  const auto factor = static_cast<float>(-mean_factor(n));
  return element_wise(n, 0.3 * static_cast<double>(classes), [=](const Args& args, Range range) {
    const float slope = factor * *args.in(0);
    const auto* labels = args.in<std::int32_t>(2);
    for (std::int64_t i = range.begin; i < range.end; ++i) {
      float* row = args.out(0) + i * classes;
      std::fill_n(row, classes, 0.0F);
      if (!is_class(labels[i], classes)) continue;
      const float score = args.in(1)[i * classes + labels[i]];
      row[labels[i]] = logarithm ? slope / score : slope;
    }
  });
}

}  // namespace

void register_cross_entropy(Registry& registry) {
  registry.add(CrossEntropyOp::kName, prepare_forward);
  registry.add(CrossEntropyGradOp::kName, prepare_gradient);
}

}  // namespace linnet::cpu
