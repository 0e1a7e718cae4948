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
  require_scores_and_labels(inputs[In::scores], inputs[In::labels]);
  return {{DType::f32, Shape{}}};
}

std::vector<Value> CrossEntropyOp::gradient(const GradientArgs& args) const {
  return {args.graph.emit(CrossEntropyGradOp(attrs()),
                          {args.output_gradients[Out::loss], args.node.inputs[In::scores],
                           args.node.inputs[In::labels]},
                          args.node.name),
          Value{}};
}

void CrossEntropyOp::reference(const ReferenceArgs& args) const {
  const std::int64_t n = args.in(In::scores).shape[0];
  const std::int64_t classes = args.in(In::scores).shape[1];
  double sum = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    const auto label = static_cast<std::int64_t>(args.in(In::labels)[i]);
    if (!is_class(label, classes)) {
      sum = std::numeric_limits<double>::quiet_NaN();
      continue;
    }
    const double score = args.in(In::scores)[i * classes + label];
    sum -= attrs().input == CrossEntropyInput::probabilities ? std::log(score) : score;
  }
  args.out(Out::loss)[0] = n > 0 ? sum / static_cast<double>(n) : 0;
}

std::vector<ValueType> CrossEntropyGradOp::infer(std::span<const ValueType> inputs) const {
  require(inputs.size() == 3 && inputs[In::dloss] == ValueType{DType::f32, Shape{}},
          "expected dloss (), scores and labels; got {}",
          to_string({"dloss", "scores", "labels"}, {inputs.begin(), inputs.end()}));
  require_scores_and_labels(inputs[In::scores], inputs[In::labels]);
  return {inputs[In::scores]};
}

void CrossEntropyGradOp::reference(const ReferenceArgs& args) const {
  const std::int64_t n = args.in(In::scores).shape[0];
  const std::int64_t classes = args.in(In::scores).shape[1];
  for (double& g : args.out(Out::dscores).data) g = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    const auto label = static_cast<std::int64_t>(args.in(In::labels)[i]);
    if (!is_class(label, classes)) continue;
    const std::int64_t at = i * classes + label;
    const double slope =
        attrs().input == CrossEntropyInput::probabilities ? 1 / args.in(In::scores)[at] : 1;
    args.out(Out::dscores)[at] = -args.in(In::dloss)[0] * slope / static_cast<double>(n);
  }
}

void register_cross_entropy(OpRegistry& registry) {
  registry.add<CrossEntropyOp>();
  registry.add<CrossEntropyGradOp>();
}

}  // namespace linnet
