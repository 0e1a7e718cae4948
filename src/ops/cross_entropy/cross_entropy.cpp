// SPDX-License-Identifier: Apache-2.0
#include "ops/cross_entropy/cross_entropy.h"

#include <array>
#include <cmath>
#include <limits>

#include "graph/add.h"
#include "graph/registry.h"
#include "ops/softmax/softmax.h"

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

std::vector<ValueType> SoftmaxCrossEntropyOp::infer(std::span<const ValueType> inputs) const {
  require(inputs.size() == 2, "expected logits and labels; got {} operands", inputs.size());
  require_scores_and_labels(inputs[In::logits], inputs[In::labels]);
  return {{DType::f32, Shape{}}, inputs[In::logits]};
}

std::vector<Value> SoftmaxCrossEntropyOp::gradient(const GradientArgs& args) const {
  const Value p = args.node.outputs[Out::probabilities];
  Value dx;
  if (args.output_gradients[Out::loss]) {
    dx = args.graph.emit(SoftmaxCrossEntropyGradOp(),
                         {p, args.node.inputs[In::labels], args.output_gradients[Out::loss]},
                         args.node.name);
  }
  if (args.output_gradients[Out::probabilities]) {
    const Value other =
        args.graph.emit(SoftmaxGradOp(), {args.output_gradients[Out::probabilities], p},
                        args.node.name);
    dx = dx ? args.graph.emit(AddOp(), {dx, other}, args.node.name) : other;
  }
  return {dx, Value{}};
}

/// The composition that it replaces.
void SoftmaxCrossEntropyOp::reference(const ReferenceArgs& args) const {
  ReferenceTensor log_p{args.in(In::logits).shape,
                        std::vector<double>(args.in(In::logits).data.size())};
  ReferenceTensor* logits = &args.in(In::logits);
  ReferenceTensor* scores = &log_p;
  ReferenceTensor* labels = &args.in(In::labels);
  ReferenceTensor* loss = &args.out(Out::loss);
  ReferenceTensor* p = &args.out(Out::probabilities);
  SoftmaxOp().reference({std::span(&logits, 1), std::span(&p, 1), args.step});
  LogSoftmaxOp().reference({std::span(&logits, 1), std::span(&scores, 1), args.step});
  const std::array<ReferenceTensor*, 2> operands{scores, labels};
  CrossEntropyOp().reference({operands, std::span(&loss, 1), args.step});
}

std::vector<ValueType> SoftmaxCrossEntropyGradOp::infer(std::span<const ValueType> inputs) const {
  require(inputs.size() == 3 && inputs[In::dloss] == ValueType{DType::f32, Shape{}},
          "expected probabilities, labels and dloss (); got {}",
          to_string({"p", "labels", "dloss"}, {inputs.begin(), inputs.end()}));
  require_scores_and_labels(inputs[In::probabilities], inputs[In::labels]);
  return {inputs[In::probabilities]};
}

void SoftmaxCrossEntropyGradOp::reference(const ReferenceArgs& args) const {
  const std::int64_t n = args.in(In::probabilities).shape[0];
  const std::int64_t classes = args.in(In::probabilities).shape[1];
  const double factor = args.in(In::dloss)[0] / static_cast<double>(n);
  for (std::int64_t i = 0; i < n * classes; ++i) {
    const bool hit = static_cast<double>(i % classes) == args.in(In::labels)[i / classes];
    args.out(Out::dlogits)[i] = factor * (args.in(In::probabilities)[i] - (hit ? 1 : 0));
  }
}

void register_cross_entropy(OpRegistry& registry) {
  registry.add<CrossEntropyOp>();
  registry.add<CrossEntropyGradOp>();
  registry.add<SoftmaxCrossEntropyOp>();
  registry.add<SoftmaxCrossEntropyGradOp>();
}

}  // namespace linnet
