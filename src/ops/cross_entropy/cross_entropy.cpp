// SPDX-License-Identifier: Apache-2.0
#include "ops/cross_entropy/cross_entropy.h"

#include <cmath>
#include <limits>

#include "graph/registry.h"

namespace linnet {

void require_scores_and_labels(const ValueType& scores, const ValueType& labels) {
  require(scores.dtype == DType::f32 && scores.shape.rank() == 2 && scores.shape[1] >= 1 &&
              labels == ValueType{DType::i32, Shape{scores.shape[0]}},
          "expected scores (N, C) and i32 labels (N); got scores={}, labels={}", to_string(scores),
          to_string(labels));
}

std::vector<ValueType> CrossEntropyOp::infer(std::span<const ValueType> inputs) const {
  require(inputs.size() == 2, "expected scores and labels; got {} operands", inputs.size());
  require_scores_and_labels(inputs[0], inputs[1]);
  return {{DType::f32, Shape{}}};
}

std::vector<Value> CrossEntropyOp::gradient(const GradientArgs& args) const {
  return {args.graph.emit(CrossEntropyGradOp(attrs()),
                          {args.output_gradients[0], args.node.inputs[0], args.node.inputs[1]},
                          args.node.name),
          Value{}};
}

void CrossEntropyOp::reference(const ReferenceArgs& args) const {
  const std::int64_t n = args.in(0).shape[0];
  const std::int64_t classes = args.in(0).shape[1];
  double sum = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    const auto label = static_cast<std::int64_t>(args.in(1)[i]);
    if (!is_class(label, classes)) {
      sum = std::numeric_limits<double>::quiet_NaN();
      continue;
    }
    const double score = args.in(0)[i * classes + label];
    sum -= attrs().input == CrossEntropyInput::probabilities ? std::log(score) : score;
  }
  args.out(0)[0] = n > 0 ? sum / static_cast<double>(n) : 0;
}

std::vector<ValueType> CrossEntropyGradOp::infer(std::span<const ValueType> inputs) const {
  require(inputs.size() == 3 && inputs[0] == ValueType{DType::f32, Shape{}},
          "expected dloss (), scores and labels; got {}",
          to_string({"dloss", "scores", "labels"}, {inputs.begin(), inputs.end()}));
  require_scores_and_labels(inputs[1], inputs[2]);
  return {inputs[1]};
}

void CrossEntropyGradOp::reference(const ReferenceArgs& args) const {
  const std::int64_t n = args.in(1).shape[0];
  const std::int64_t classes = args.in(1).shape[1];
  for (double& g : args.out(0).data) g = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    const auto label = static_cast<std::int64_t>(args.in(2)[i]);
    if (!is_class(label, classes)) continue;
    const std::int64_t at = i * classes + label;
    const double slope = attrs().input == CrossEntropyInput::probabilities ? 1 / args.in(1)[at] : 1;
    args.out(0)[at] = -args.in(0)[0] * slope / static_cast<double>(n);
  }
}

void register_cross_entropy(OpRegistry& registry) {
  registry.add<CrossEntropyOp>();
  registry.add<CrossEntropyGradOp>();
}

}  // namespace linnet
