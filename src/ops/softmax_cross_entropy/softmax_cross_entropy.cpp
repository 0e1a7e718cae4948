// SPDX-License-Identifier: Apache-2.0
#include "ops/softmax_cross_entropy/softmax_cross_entropy.h"

#include "graph/add.h"
#include "graph/registry.h"
#include "ops/cross_entropy/cross_entropy.h"
#include "ops/softmax/softmax.h"

namespace linnet {

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

void register_softmax_cross_entropy(OpRegistry& registry) {
  registry.add<SoftmaxCrossEntropyOp>();
  registry.add<SoftmaxCrossEntropyGradOp>();
}

}  // namespace linnet
