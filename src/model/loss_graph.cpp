// SPDX-License-Identifier: Apache-2.0
#include "model/loss_graph.h"

#include "base/check.h"
#include "graph/sum.h"
#include "ops/activation/activation.h"
#include "ops/arithmetic/arithmetic.h"
#include "ops/binary_cross_entropy/binary_cross_entropy.h"
#include "ops/cross_entropy/cross_entropy.h"
#include "ops/element_loss/element_loss.h"
#include "ops/label_targets/label_targets.h"
#include "ops/regression_loss/regression_loss.h"
#include "ops/row_loss/row_loss.h"
#include "ops/softmax/softmax.h"
#include "ops/table/table.h"
#include "plan/passes/match.h"

namespace linnet {
namespace {

/// The composition of one loss.
class LossGraph {
 public:
  LossGraph(Graph& graph, const LossOptions& options, Value y, Value target)
      : graph_(graph), options_(options), y_(y), target_(target) {}

  Value cross_entropy() {
    if (labels() && !weighted() && options_.label_smoothing == 0) return fused_cross_entropy();
    if (labels()) return element(ElementLoss::cross_entropy, log_p(), label_targets());
    return element(ElementLoss::cross_entropy, log_p(), soft_targets(), LossMean::rows);
  }
  Value kl_divergence() {
    return element(ElementLoss::kl_divergence, log_p(), target_, LossMean::rows);
  }
  Value hinge() {
    if (!labels()) return element(ElementLoss::hinge, y_, target_, LossMean::elements);
    return emit(RowLossOp({.kind = RowLoss::hinge}), {y_, label_targets()});
  }
  Value cosine() { return emit(RowLossOp({.kind = RowLoss::cosine, .mean = true}), {y_, target_}); }
  Value huber() {
    return element(ElementLoss::huber, y_, target_, LossMean::elements, options_.huber_delta);
  }
  Value focal() {
    if (!labels()) return weighted_binary(options_.focal_gamma, options_.focal_alpha);
    return element(ElementLoss::focal, log_p(), label_targets(), LossMean::none,
                   options_.focal_gamma);
  }
  Value binary_cross_entropy() {
    if (options_.label_smoothing == 0 && options_.class_weights.empty() &&
        options_.positive_weights.empty()) {
      return emit(BceWithLogitsOp(), {before_sigmoid(), target_});
    }
    return weighted_binary(0, -1);
  }

 private:
  template <class O>
  Value emit(O op, std::vector<Value> inputs) {
    return graph_.emit(std::move(op), std::move(inputs), "loss");
  }
  Value element(ElementLoss kind, Value y, Value t, LossMean mean = LossMean::none,
                double parameter = 0) {
    return emit(ElementLossOp({.kind = kind, .parameter = parameter, .mean = mean}), {y, t});
  }

  bool labels() const { return graph_.type(target_).dtype == DType::i32; }
  bool weighted() const { return !options_.class_weights.empty() || options_.ignore_index; }

  /// Networks may end in probabilities, log-probabilities or (best) logits; passes fuse all three.
  Value fused_cross_entropy() {
    if (op_as<SoftmaxOp>(graph_.producer(y_)) != nullptr) {
      return emit(CrossEntropyOp({CrossEntropyInput::probabilities}), {y_, target_});
    }
    return emit(CrossEntropyOp({CrossEntropyInput::log_probabilities}), {log_p(), target_});
  }
  Value log_p() {
    const Node* last = graph_.producer(y_);
    if (op_as<LogSoftmaxOp>(last) != nullptr) return y_;
    const bool probabilities = op_as<SoftmaxOp>(last) != nullptr;
    return emit(LogSoftmaxOp(), {probabilities ? last->inputs[0] : y_});
  }
  Value before_sigmoid() const {
    const Node* last = graph_.producer(y_);
    const auto* activation = op_as<ActivationOp>(last);
    const bool sigmoid = activation != nullptr && activation->attrs().kind == Activation::sigmoid;
    return sigmoid ? last->inputs[0] : y_;
  }

  Value label_targets() {
    const std::int64_t classes = graph_.shape(y_)[-1];
    const Value weights = options_.class_weights.empty()
                              ? graph_.add_constant({DType::f32, Shape{classes}}, 1)
                              : emit(TableOp({options_.class_weights}), {});
    return emit(LabelTargetsOp({.smoothing = options_.label_smoothing,
                                .ignores = options_.ignore_index.has_value(),
                                .ignore_index = options_.ignore_index.value_or(0)}),
                {target_, weights});
  }
  Value soft_targets() {
    const double s = options_.label_smoothing;
    const auto classes = static_cast<double>(graph_.shape(y_)[-1]);
    Value t = target_;
    if (s > 0) t = emit(ScaleOp({.alpha = 1 - s, .beta = s / classes}), {t});
    if (options_.class_weights.empty()) return t;
    return multiply(t, emit(TableOp({options_.class_weights}), {}));
  }

  /// The mean of -P t log(sigmoid(y)) (1 - sigmoid(y))^gamma - N (1 - t) log(1 - sigmoid(y))
  /// sigmoid(y)^gamma: the second term is the first of -y. P and N follow from weights and alpha.
  Value weighted_binary(double gamma, double alpha) {
    const double s = options_.label_smoothing;
    const Value y = before_sigmoid();
    const Value yes = emit(ScaleOp({.alpha = 1 - s, .beta = s / 2}), {target_});
    const Value no = emit(ScaleOp({.alpha = -1, .beta = 1}), {yes});
    std::vector<double> of_yes = options_.class_weights;
    const std::vector<double>& positive = options_.positive_weights;
    if (of_yes.empty()) of_yes.assign(positive.size(), 1);
    for (std::size_t i = 0; i < positive.size(); ++i) of_yes[i] *= positive[i];
    const auto term = [&](Value x, Value t, const std::vector<double>& weights, double scale) {
      if (!weights.empty()) t = multiply(t, emit(TableOp({weights}), {}));
      return emit(ElementLossOp({.kind = ElementLoss::log_sigmoid,
                                 .parameter = gamma,
                                 .mean = LossMean::elements,
                                 .scale = scale}),
                  {x, t});
    };
    const Value of_positive = term(y, yes, of_yes, alpha < 0 ? 1 : alpha);
    const Value negated = emit(ScaleOp({.alpha = -1}), {y});
    const Value of_negative = term(negated, no, options_.class_weights, alpha < 0 ? 1 : 1 - alpha);
    return emit(SumOp(), {of_positive, of_negative});
  }
  Value multiply(Value a, Value b) {
    return emit(ArithmeticOp({.kind = Arithmetic::multiply}), {a, b});
  }

  Graph& graph_;
  const LossOptions& options_;
  Value y_;
  Value target_;
};

}  // namespace

Value add_loss(Graph& graph, Loss loss, const LossOptions& options, Value y, Value target) {
  LossGraph build(graph, options, y, target);
  switch (loss) {
    case Loss::cross_entropy: return build.cross_entropy();
    case Loss::mse: return graph.emit(RegressionLossOp({RegressionLoss::mse}), {y, target}, "loss");
    case Loss::mae: return graph.emit(RegressionLossOp({RegressionLoss::mae}), {y, target}, "loss");
    case Loss::binary_cross_entropy: return build.binary_cross_entropy();
    case Loss::huber: return build.huber();
    case Loss::kl_divergence: return build.kl_divergence();
    case Loss::hinge: return build.hinge();
    case Loss::cosine: return build.cosine();
    case Loss::focal: return build.focal();
    case Loss::automatic: break;
  }
  throw InternalError("a loss that was not resolved");
}

Value add_penalties(Graph& graph, double l1, double l2, Value loss,
                    std::span<const Value> weights) {
  const auto add = [&](ElementLoss kind, double scale, Value weight) {
    if (scale == 0) return;
    const Value penalty =
        graph.emit(ElementLossOp(
                       {.kind = kind, .parameter = 0, .mean = LossMean::none, .scale = scale}),
                   {weight}, "penalty");
    loss = graph.emit(SumOp(), {loss, penalty}, "penalty");
  };
  for (Value weight : weights) {
    if (graph.shape(weight).rank() < 2) continue;
    add(ElementLoss::absolute, l1, weight);
    add(ElementLoss::square, l2, weight);
  }
  return loss;
}

}  // namespace linnet
