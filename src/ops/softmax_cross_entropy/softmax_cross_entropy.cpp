// SPDX-License-Identifier: Apache-2.0
#include "ops/softmax_cross_entropy/softmax_cross_entropy.h"

#include "graph/registry.h"
#include "graph/sum.h"
#include "ops/cross_entropy/cross_entropy.h"
#include "ops/softmax/softmax.h"

namespace linnet {

std::vector<ValueType> SoftmaxCrossEntropyOp::infer(std::span<const ValueType> inputs) const {
  require(inputs.size() == 2, "expected logits and labels; got {} operands", inputs.size());
  require_scores_and_labels(inputs[0], inputs[1]);
  return {{DType::f32, Shape{}}, inputs[0]};
}

std::vector<Value> SoftmaxCrossEntropyOp::gradient(const GradientArgs& args) const {
  const Value p = args.node.outputs[1];
  Value dx;
  if (args.output_gradients[0]) {
    dx = args.graph.emit(SoftmaxCrossEntropyGradOp(),
                         {p, args.node.inputs[1], args.output_gradients[0]}, args.node.name);
  }
  if (args.output_gradients[1]) {
    const Value other =
        args.graph.emit(SoftmaxGradOp(), {args.output_gradients[1], p}, args.node.name);
    dx = dx ? add_gradients(args.graph, dx, other, args.node.name) : other;
  }
  return {dx, Value{}};
}

/// The composition that it replaces.
void SoftmaxCrossEntropyOp::reference(const ReferenceArgs& args) const {
  ReferenceTensor log_p{args.in(0).shape, std::vector<double>(args.in(0).data.size())};
  ReferenceTensor* logits = &args.in(0);
  ReferenceTensor* scores = &log_p;
  ReferenceTensor* labels = &args.in(1);
  ReferenceTensor* loss = &args.out(0);
  ReferenceTensor* p = &args.out(1);
  SoftmaxOp().reference({std::span(&logits, 1), std::span(&p, 1), args.step});
  LogSoftmaxOp().reference({std::span(&logits, 1), std::span(&scores, 1), args.step});
  const std::array<ReferenceTensor*, 2> operands{scores, labels};
  CrossEntropyOp().reference({operands, std::span(&loss, 1), args.step});
}

std::vector<ValueType> SoftmaxCrossEntropyGradOp::infer(std::span<const ValueType> inputs) const {
  require(inputs.size() == 3 && inputs[2] == ValueType{DType::f32, Shape{}},
          "expected probabilities, labels and dloss (); got {}",
          to_string({"p", "labels", "dloss"}, {inputs.begin(), inputs.end()}));
  require_scores_and_labels(inputs[0], inputs[1]);
  return {inputs[0]};
}

void SoftmaxCrossEntropyGradOp::reference(const ReferenceArgs& args) const {
  const std::int64_t n = args.in(0).shape[0];
  const std::int64_t classes = args.in(0).shape[1];
  const double factor = args.in(2)[0] / static_cast<double>(n);
  for (std::int64_t i = 0; i < n * classes; ++i) {
    const bool hit = static_cast<double>(i % classes) == args.in(1)[i / classes];
    args.out(0)[i] = factor * (args.in(0)[i] - (hit ? 1 : 0));
  }
}

void register_softmax_cross_entropy(OpRegistry& registry) {
  registry.add<SoftmaxCrossEntropyOp>();
  registry.add<SoftmaxCrossEntropyGradOp>();
}

}  // namespace linnet
