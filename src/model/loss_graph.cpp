// SPDX-License-Identifier: Apache-2.0
#include "model/loss_graph.h"

#include <cmath>
#include <memory>

#include "base/check.h"
#include "graph/add.h"
#include "model/loss_weights.h"
#include "nn/expression_scope.h"
#include "ops/activation/activation.h"
#include "ops/arithmetic/arithmetic.h"
#include "ops/cross_entropy/cross_entropy.h"
#include "ops/element_loss/element_loss.h"
#include "ops/label_targets/label_targets.h"
#include "ops/one_hot/one_hot.h"
#include "ops/reduce/reduce.h"
#include "ops/reshape/reshape.h"
#include "ops/row_loss/row_loss.h"
#include "ops/slice/slice.h"
#include "ops/softmax/softmax.h"
#include "plan/passes/match.h"

namespace linnet {
namespace {

constexpr double kLeastShare = 1e-37;  // t log t is 0 where t is

/// The composition of one loss.
class LossGraph {
 public:
  LossGraph(Graph& graph, const LossOptions& options, Value y, Value target, Value weights)
      : graph_(graph), options_(options), y_(y), target_(target), weights_(weights) {
    if (weights_ && !labels()) shares_ = shares_of(graph_, weights_);
  }

  Value cross_entropy() {
    if (labels() && !weighted() && options_.label_smoothing == 0) return fused_cross_entropy();
    if (labels()) return element(ElementLoss::cross_entropy, log_p(), label_targets());
    return element(ElementLoss::cross_entropy, log_p(), soft_targets(), LossMean::rows);
  }
  Value mse() {
    weigh_outputs(0.5);
    if (weights_) return mean_of(square(outputs() - targets()));
    return element(ElementLoss::squared_error, y_, target_, LossMean::elements);
  }
  Value mae() {
    weigh_outputs(1);
    if (weights_) return mean_of(abs(outputs() - targets()));
    return element(ElementLoss::absolute_error, y_, target_, LossMean::elements);
  }
  Value kl_divergence() {
    if (!weights_) return element(ElementLoss::kl_divergence, log_p(), target_, LossMean::rows);
    const Expression t = targets();
    const Expression entropy = sum(t * log(clip(t, kLeastShare, 1)), {last_axis()});
    const Value cross = element(ElementLoss::cross_entropy, log_p(), target_, LossMean::rows);
    return emit(AddOp(), {cross, mean_of(entropy)});
  }
  Value hinge() {
    if (labels()) return emit(RowLossOp({.kind = RowLoss::hinge}), {y_, label_targets()});
    if (weights_) return mean_of(relu(1 - outputs() * targets()));
    return element(ElementLoss::hinge, y_, target_, LossMean::elements);
  }
  Value cosine() {
    if (!weights_) return emit(RowLossOp({.kind = RowLoss::cosine, .mean = true}), {y_, target_});
    const Expression y = outputs();
    const Expression t = targets();
    const std::vector<std::int64_t> last{last_axis()};
    const auto length = [&](const Expression& x) { return sqrt(sum(square(x), last) + 1e-12); };
    return mean_of(1 - sum(y * t, last) / (length(y) * length(t)));
  }
  Value huber() {
    const double delta = options_.huber_delta;
    if (!weights_) {
      return element(ElementLoss::huber, y_, target_, LossMean::elements, delta);
    }
    const Expression distance = abs(outputs() - targets());
    const Expression near = clip(distance, 0, delta);
    return mean_of(near * (distance - 0.5 * near));
  }
  Value minkowski() {
    const Expression distance = pow(abs(outputs() - targets()), options_.minkowski_exponent);
    if (weights_) return mean_of(distance);
    return emit(ElementLossOp({.kind = ElementLoss::absolute}), {Value{distance.value()}});
  }
  Value quantile() {
    const Expression above = targets() - outputs();
    const Expression loss = 0.5 * (abs(above) + (2 * options_.quantile - 1) * above);
    if (weights_) return mean_of(loss);
    return emit(ElementLossOp({.kind = ElementLoss::absolute}), {Value{loss.value()}});
  }
  Value focal() {
    if (!labels()) return weighted_binary(options_.focal_gamma, options_.focal_alpha);
    return element(ElementLoss::focal, log_p(), label_targets(), LossMean::none,
                   options_.focal_gamma);
  }
  Value binary_cross_entropy() {
    if (!weights_ && options_.label_smoothing == 0 && options_.class_weights.empty() &&
        options_.positive_weights.empty()) {
      return element(ElementLoss::binary_cross_entropy, before_sigmoid(), target_,
                     LossMean::elements);
    }
    return weighted_binary(0, -1);
  }

 private:
  template <class O>
  Value emit(O op, std::vector<Value> inputs) {
    return graph_.emit(std::move(op), std::move(inputs), "loss");
  }
  /// Of samples that have weights for kinds alone that t is a factor of; label_targets() have them.
  Value element(ElementLoss kind, Value y, Value t, LossMean mean = LossMean::none,
                double parameter = 0, double scale = 1) {
    if (shares_) {
      const Shape& shape = graph_.shape(y);
      const std::int64_t means =
          mean == LossMean::rows ? shape.elements() / shape[-1] : shape.elements();
      const std::int64_t weights = graph_.shape(shares_).elements();
      scale *= static_cast<double>(weights) / static_cast<double>(means);
      t = times_shares(graph_, t, shares_);
      mean = LossMean::none;
    }
    return emit(ElementLossOp({.kind = kind, .parameter = parameter, .mean = mean, .scale = scale}),
                {y, t});
  }

  Expression outputs() const { return {scope_, y_.id, true}; }
  Expression targets() const { return {scope_, target_.id, true}; }
  std::int64_t last_axis() const {
    return static_cast<std::int64_t>(graph_.shape(y_).rank()) - 2;  // of a sample
  }
  Value mean_of(const Expression& x) { return weighted_mean(graph_, {x.value()}, shares_); }

  bool labels() const { return graph_.type(target_).dtype == DType::i32; }
  bool weighted() const {
    return weights_ || !options_.class_weights.empty() || options_.ignore_index;
  }

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
    return emit(LogSoftmaxOp(), {probabilities ? last->inputs[SoftmaxOp::In::x] : y_});
  }
  Value before_sigmoid() const {
    const Node* last = graph_.producer(y_);
    const auto* activation = op_as<ActivationOp>(last);
    const bool sigmoid = activation != nullptr && activation->attrs().kind == Activation::sigmoid;
    return sigmoid ? last->inputs[ActivationOp::In::x] : y_;
  }

  Value label_targets() {
    const std::int64_t classes = graph_.shape(y_)[-1];
    const Value weights = options_.class_weights.empty()
                              ? graph_.add_constant({DType::f32, Shape{classes}}, 1)
                              : graph_.add_constant(options_.class_weights);
    const auto targets_of = [&](double smoothing) {
      return emit(LabelTargetsOp({.smoothing = smoothing,
                                  .ignores = options_.ignore_index.has_value(),
                                  .ignore_index = options_.ignore_index.value_or(0)}),
                  {target_, weights});
    };
    const Value t = targets_of(options_.label_smoothing);
    if (!weights_) return t;
    // What a label counts by its class alone: the sum over a row that is not smoothed.
    const Value sharp = options_.label_smoothing == 0 ? t : targets_of(0);
    const auto axis = static_cast<std::int64_t>(graph_.shape(sharp).rank()) - 1;
    const Value counts = emit(ReduceOp({.kind = Reduction::sum, .axes = {axis}}), {sharp});
    return times_shares(graph_, t, shares_of(graph_, weights_, counts));
  }
  Value soft_targets() {
    const double s = options_.label_smoothing;
    const auto classes = static_cast<double>(graph_.shape(y_)[-1]);
    Value t = target_;
    if (s > 0) t = emit(ScaleOp({.alpha = 1 - s, .beta = s / classes}), {t});
    if (options_.class_weights.empty()) return t;
    return multiply(t, graph_.add_constant(options_.class_weights));
  }

  /// Returns the mean of -P t log(sigmoid(y)) (1 - sigmoid(y))^gamma - N (1 - t) log(1 -
  /// sigmoid(y)) sigmoid(y)^gamma: the second term is the first of -y. P and N follow from weights
  /// and alpha.
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
      if (!weights.empty()) t = multiply(t, graph_.add_constant(weights));
      return element(ElementLoss::log_sigmoid, x, t, LossMean::elements, gamma, scale);
    };
    const Value of_positive = term(y, yes, of_yes, alpha < 0 ? 1 : alpha);
    const Value negated = emit(ScaleOp({.alpha = -1}), {y});
    const Value of_negative = term(negated, no, options_.class_weights, alpha < 0 ? 1 : 1 - alpha);
    return emit(AddOp(), {of_positive, of_negative});
  }
  /// Multiplies outputs and targets, so that their distances count by a power of the weights.
  void weigh_outputs(double power) {
    if (options_.class_weights.empty()) return;
    std::vector<double> factors(options_.class_weights);
    for (double& factor : factors) factor = std::pow(factor, power);
    const Value table = graph_.add_constant(factors);
    y_ = multiply(y_, table);
    target_ = multiply(target_, table);
  }
  Value multiply(Value a, Value b) {
    return emit(ArithmeticOp({.kind = Arithmetic::multiply}), {a, b});
  }

  Graph& graph_;
  const LossOptions& options_;
  Value y_;
  Value target_;
  Value weights_;
  Value shares_ = {};  ///< of values' weights
  std::shared_ptr<const ExpressionScope> scope_ = std::make_shared<const ExpressionScope>(
      ExpressionScope{.graph = graph_, .builder = nullptr, .name = "loss"});
};

}  // namespace

namespace {

/// Outputs, labels and weights of steps or pixels as those of so many samples.
void take_as_samples(Graph& graph, Value& y, Value& labels, Value& weights) {
  const Shape shape = graph.shape(labels);
  const std::int64_t elements = shape.elements();
  const auto reshape = [&](Value x, std::vector<std::int64_t> dims) {
    return graph.emit(ReshapeOp({.shape = std::move(dims)}), {x}, "loss");
  };
  if (weights) weights = reshape(element_weights(graph, shape, weights), {elements});
  // The losses look for a last Softmax, so it stays after the reshape.
  const bool softmax = op_as<SoftmaxOp>(graph.producer(y)) != nullptr;
  if (softmax) y = graph.producer(y)->inputs[SoftmaxOp::In::x];
  y = reshape(y, {elements, graph.shape(y)[-1]});
  if (softmax) y = graph.emit(SoftmaxOp(), {y}, "loss");
  labels = reshape(labels, {elements});
}

/// Labels as the values of a binary loss: 0 or 1 for one output, else 1 for the label's alone.
Value as_answers(Graph& graph, Value labels, const Shape& y) {
  const std::int64_t classes = y[-1];
  const Value rows =
      graph.emit(OneHotOp({.classes = classes == 1 ? 2 : classes}), {labels}, "loss");
  if (classes > 1) return rows;
  const auto axis = static_cast<int>(y.rank()) - 1;
  return graph.emit(SliceOp({.axis = axis, .begin = 1, .end = 2}), {rows}, "loss");
}

}  // namespace

Value add_loss(Graph& graph, Loss loss, const LossOptions& options, Value y, Value target,
               Value weights) {
  if (graph.type(target).dtype == DType::i32) {
    if (loss == Loss::binary_cross_entropy) {
      target = as_answers(graph, target, graph.shape(y));
    } else if (graph.shape(target).rank() > 1) {
      take_as_samples(graph, y, target, weights);
    }
  }
  LossGraph build(graph, options, y, target, weights);
  switch (loss) {
    case Loss::cross_entropy: return build.cross_entropy();
    case Loss::mse: return build.mse();
    case Loss::mae: return build.mae();
    case Loss::binary_cross_entropy: return build.binary_cross_entropy();
    case Loss::huber: return build.huber();
    case Loss::kl_divergence: return build.kl_divergence();
    case Loss::hinge: return build.hinge();
    case Loss::cosine: return build.cosine();
    case Loss::focal: return build.focal();
    case Loss::minkowski: return build.minkowski();
    case Loss::quantile: return build.quantile();
    case Loss::normalized_squared_error:  // mse of a weight by now
    case Loss::automatic: break;
  }
  throw InternalError("a loss that was not resolved");
}

bool counts_by_label(Loss loss, const LossOptions& options, DType target) {
  return target == DType::i32 && loss != Loss::binary_cross_entropy &&
         (!options.class_weights.empty() || options.ignore_index);
}

Value loss_counts(Graph& graph, Loss loss, const LossOptions& options, Value y, Value target,
                  Value weights) {
  if (!counts_by_label(loss, options, graph.type(target).dtype)) return weights;
  const std::int64_t classes = graph.shape(y)[-1];
  std::vector<double> of_class = options.class_weights;
  of_class.resize(static_cast<std::size_t>(classes), 1);
  const std::int64_t ignored = options.ignore_index.value_or(-1);
  if (ignored >= 0 && ignored < classes) of_class[static_cast<std::size_t>(ignored)] = 0;
  const auto emit = [&](auto op, std::vector<Value> operands) {
    return graph.emit(std::move(op), std::move(operands), "loss");
  };
  const auto last = static_cast<std::int64_t>(graph.shape(target).rank());
  const Value rows = emit(OneHotOp({.classes = classes}), {target});
  const Value counted =
      emit(ArithmeticOp({.kind = Arithmetic::multiply}), {rows, graph.add_constant(of_class)});
  const Value counts = emit(ReduceOp({.kind = Reduction::sum, .axes = {last}}), {counted});
  return weights ? times_shares(graph, counts, weights) : counts;
}

Value add_penalties(Graph& graph, double l1, double l2, std::span<const Value> weights) {
  Value sum;
  const auto add = [&](ElementLoss kind, double scale, Value weight) {
    if (scale == 0) return;
    const Value penalty =
        graph.emit(ElementLossOp(
                       {.kind = kind, .parameter = 0, .mean = LossMean::none, .scale = scale}),
                   {weight}, "penalty");
    sum = sum ? graph.emit(AddOp(), {sum, penalty}, "penalty") : penalty;
  };
  for (Value weight : weights) {
    if (graph.shape(weight).rank() < 2) continue;
    add(ElementLoss::absolute, l1, weight);
    add(ElementLoss::square, l2, weight);
  }
  return sum;
}

}  // namespace linnet
