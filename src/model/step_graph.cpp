// SPDX-License-Identifier: Apache-2.0
#include "model/step_graph.h"

#include <linnet/functions.h>

#include <algorithm>
#include <array>
#include <memory>
#include <utility>

#include "base/check.h"
#include "fusions/fusions.h"
#include "graph/add.h"
#include "graph/differentiate.h"
#include "model/augment_graph.h"
#include "model/custom_loss.h"
#include "model/custom_metrics.h"
#include "model/evaluation_sums.h"
#include "model/loss_graph.h"
#include "model/loss_shares.h"
#include "model/loss_weights.h"
#include "model/shard_layout.h"
#include "nn/ensembles.h"
#include "nn/expression_scope.h"
#include "ops/activation/activation.h"
#include "ops/arithmetic/arithmetic.h"
#include "ops/batch_norm/batch_norm.h"
#include "ops/gather_batch/gather_batch.h"
#include "ops/metrics/metrics.h"
#include "ops/reshape/reshape.h"
#include "ops/sequence_mask/sequence_mask.h"
#include "ops/share/share.h"
#include "ops/softmax/softmax.h"
#include "plan/least_arena.h"
#include "plan/passes/collect_gradients.h"
#include "plan/passes/match.h"
#include "plan/passes/recompute.h"
#include "plan/plan.h"

namespace linnet {
namespace {

/// Returns the batch of a part, which lies in external slot `slot`.
Value gather(Graph& graph, const std::string& name, const ValueType& record, std::size_t slot,
             const GatherBatchAttrs& attrs) {
  const Value all = graph.add_value(name, record, Storage::external, slot);
  return graph.emit(GatherBatchOp(attrs), {all}, name);
}

/// In training everything that is asked for; else only what fits images to the network.
bool needs_crop(const StepData& data, const NetworkDefinition& network, Mode mode) {
  return data.augment.crop.has_value() &&
         (mode == Mode::training ||
          data.parts[0].record.shape.sample() != network.inputs[0].sample);
}

Value augment(Graph& graph, const StepData& data, const GatherBatchAttrs& attrs, Mode mode) {
  const StepData::Part& part = data.parts[0];
  const Value all = graph.add_value(part.name, part.record, Storage::external, 0);
  return add_images(graph, data.augment, all, mode, attrs.batch, attrs.shuffle, part.name);
}

/// Returns for each fold what its samples count for the members that hold them out, (N): nothing,
/// and the others their weights or 1. `fold`: (N).
std::vector<Value> weights_outside(Graph& graph, Value fold, std::int64_t folds, Value weights) {
  const auto scope =
      std::make_shared<const ExpressionScope>(ExpressionScope{.graph = graph, .name = "folds"});
  std::vector<Value> outside;
  for (std::int64_t f = 0; f < folds; ++f) {
    const Expression other = not_equal({scope, fold.id, true}, static_cast<double>(f));
    Value counts{other.value()};
    if (weights) {
      const ArithmeticAttrs product{.kind = Arithmetic::multiply};
      counts = graph.emit(ArithmeticOp(product), {counts, weights}, "folds");
    }
    outside.push_back(counts);
  }
  return outside;
}

/// Returns what the members of an ensemble are asked, by the loss that they learn by.
Answers answers_of(const StepData& data) {
  if (data.classification()) return Answers::classes;
  return data.targets.front().how.loss == Loss::binary_cross_entropy ? Answers::labels
                                                                     : Answers::values;
}

/// A network after its gathers, with its losses.
struct Forward {
  std::vector<Value> outputs;
  std::vector<Value> parameters;
  std::vector<Value> targets;  ///< as StepData::targets
  std::vector<Value> weights;  ///< of each target; empty: all samples count alike
  std::vector<Value> losses;   ///< by target
  Value loss;                  ///< their sum
};

Forward add_forward(Graph& graph, const NetworkDefinition& whole, const StepData& data,
                    const GatherBatchAttrs& attrs, Mode mode,
                    const std::vector<bool>& trains = {}) {
  const bool holds_out = data.fold && mode == Mode::inference;
  const NetworkDefinition held_out =
      holds_out ? answers_of_folds(data.run_of(whole), answers_of(data)) : NetworkDefinition();
  const NetworkDefinition& network = holds_out ? held_out : data.run_of(whole);
  std::vector<Value> batch;
  for (std::size_t i = 0; i < data.parts.size(); ++i) {
    const StepData::Part& part = data.parts[i];
    batch.push_back(i == 0 && needs_crop(data, network, mode)
                        ? augment(graph, data, attrs, mode)
                        : gather(graph, part.name, part.record, i, attrs));
  }
  const bool mixes = mode == Mode::training && data.augment.mix.has_value();
  if (mixes) batch[0] = mix_samples(graph, data.augment, batch[0], data.parts[0].name);
  LossInputs inputs;
  for (std::size_t i = 0; i < data.inputs; ++i)
    inputs.emplace_back(network.inputs[i].name, batch[i]);
  Forward forward;
  std::vector<std::vector<Value>> members;
  std::vector<Value> given(batch.begin(), batch.begin() + static_cast<std::ptrdiff_t>(data.inputs));
  if (holds_out) {
    const ReshapeAttrs column{.shape = {attrs.batch, 1}};
    given.push_back(graph.emit(ReshapeOp(column), {batch[*data.fold]}, "folds"));
  }
  forward.outputs =
      instantiate(network, graph, given, attrs.batch, mode, forward.parameters, trains, &members);
  for (std::size_t i = 0; i < data.targets.size(); ++i) {
    const TargetLoss& target = data.targets[i];
    const Value y = forward.outputs[target.output];
    const bool constant = target.how.target.has_value();
    Value t = constant ? graph.add_constant(graph.type(y), *target.how.target) : batch[target.part];
    if (target.lengths) {  // the padding may hold NaN, or labels that are no class
      t = graph.emit(SequenceMaskOp(), {t, batch[*target.lengths]}, "targets");
    }
    forward.targets.push_back(t);
    if (mixes && !constant) {
      t = mix_targets(graph, data.augment, t, graph.shape(y).sample(),
                      data.parts[target.part].name);
    }
    Value weights = data.weights ? batch[*data.weights] : Value{};
    if (target.lengths) {
      weights = step_weights(graph, batch[*target.lengths], graph.shape(t)[1], weights);
    }
    forward.weights.push_back(weights);
    const std::vector<Value>& learners = members[target.output];
    const bool apart = mode == Mode::training && !learners.empty();
    std::vector<Value> counts{weights};
    if (apart && data.fold) {
      const std::int64_t folds = network.outputs[target.output].folds;
      counts = weights_outside(graph, batch[*data.fold], folds, weights);
    }
    Value loss;
    for (std::size_t m = 0; m < (apart ? learners.size() : 1); ++m) {
      const Value learner = apart ? learners[m] : y;
      const Value own = counts[m % counts.size()];
      const Value one = target.how.custom != nullptr
                            ? add_custom_loss(graph, target.how.custom, learner, t, own, inputs)
                            : add_loss(graph, target.how.loss, target.how.options, learner, t, own);
      loss = loss ? graph.emit(AddOp(), {loss, one}, "loss") : one;
    }
    const double weight = target.how.weight / (apart ? static_cast<double>(learners.size()) : 1.0);
    if (weight != 1) loss = graph.emit(ScaleOp({.alpha = weight}), {loss}, "loss");
    forward.loss = i == 0 ? loss : graph.emit(AddOp(), {forward.loss, loss}, "loss");
    forward.losses.push_back(loss);
  }
  return forward;
}

/// Returns what goes into a last Softmax or LogSoftmax.
Value before_softmax(const Graph& graph, Value output) {
  const LastLayer last = last_layer(graph, output);
  const bool softmax = last == LastLayer::softmax || last == LastLayer::log_softmax;
  return softmax ? graph.producer(output)->inputs.front() : output;
}

void add_metrics(Graph& graph, const StepData& data, const Forward& forward, Value counters,
                 MetricsAttrs attrs, Value loss) {
  attrs.classification = data.classification();
  std::vector<Value> operands{counters, loss};
  Value weights = forward.weights[0];
  if (attrs.classification) {
    // Probabilities underflow into ties where logits still differ.
    Value scores = before_softmax(graph, forward.outputs[data.targets[0].output]);
    Value labels = forward.targets[0];
    const Shape shape = graph.shape(labels);
    if (shape.rank() > 1) {  // of steps or pixels: each counts by itself
      const auto as_samples = [&](Value x, std::vector<std::int64_t> dims) {
        return graph.emit(ReshapeOp({.shape = std::move(dims)}), {x}, "metrics");
      };
      weights = as_samples(element_weights(graph, shape, weights), {shape.elements()});
      scores = as_samples(scores, {shape.elements(), graph.shape(scores)[-1]});
      labels = as_samples(labels, {shape.elements()});
    }
    operands.insert(operands.end(), {scores, labels});
  }
  if (weights) operands.push_back(weights);
  graph.add(std::make_shared<MetricsOp>(attrs), std::move(operands), "metrics");
}

/// Puts a gradient into its place of the flat gradient arena.
void store_gradient(Graph& graph, const PlacedGradient& placed) {
  Value gradient = placed.gradient;
  if (graph.producer(gradient) == nullptr || graph.info(gradient).storage != Storage::arena) {
    gradient = graph.emit(CopyOp(), {gradient}, placed.name);  // shared with another parameter
  }
  graph.info(gradient).storage = Storage::gradient;
  graph.info(gradient).offset = placed.offset;
}

}  // namespace

Supports supports_of(const Backend& backend) {
  Supports supports = [&backend](const Op& op, std::span<const ValueType> inputs,
                                 std::span<const ValueType> outputs) {
    return backend.wants(op, inputs, outputs);
  };
  supports.scales_loss = backend.capabilities().scales_loss;
  return supports;
}

namespace {

/// Returns the same but for operators whose gradients would be those of a loss that is not scaled.
Supports scaled(const Supports& supports) {
  return [&supports](const Op& op, std::span<const ValueType> inputs,
                     std::span<const ValueType> outputs) {
    return !op.finds_gradients() && supports(op, inputs, outputs);
  };
}

/// Says how much of a batch a training graph sees.
enum class Rows : std::uint8_t { whole, shard };

/// Returns the loss of a shard: each one times the shard's share of what it divides by in the whole
/// batch.
Value share_losses(Graph& graph, const StepData& data, const Forward& forward, Value penalty) {
  Value sum;
  const auto add = [&](Value loss, std::size_t share) {
    const ShareAttrs attrs{.index = static_cast<std::int64_t>(share)};
    loss = graph.emit(ShareOp(attrs), {loss}, "loss");
    sum = sum ? graph.emit(AddOp(), {sum, loss}, "loss") : loss;
  };
  for (std::size_t i = 0; i < forward.losses.size(); ++i) {
    add(forward.losses[i], share_of(data, i));
  }
  if (penalty) add(penalty, 0);
  return sum;
}

/// A graph up to the gradients of the weights that train, each where it belongs.
struct FirstHalf {
  Graph graph;
  Value loss;
  bool scaled = false;  ///< whether gradients are add_loss_scale() times too large
  std::vector<MeasuredStatistics> measured;
};

FirstHalf add_first_half(const NetworkDefinition& network, const StepData& data,
                         const TrainingStep& step, Rows rows, const Supports& supports) {
  FirstHalf half;
  Graph& graph = half.graph;
  const std::vector<bool> trains = trained_parameters(network, step.optimizer);
  Forward forward =
      add_forward(graph, network, data, {.batch = step.batch, .shuffle = step.shuffle},
                  Mode::training, trains);
  std::vector<Value> trainable;
  std::vector<const ParameterSpec*> specs;
  for (std::size_t i = 0; i < forward.parameters.size(); ++i) {
    if (!trains[i]) continue;
    trainable.push_back(forward.parameters[i]);
    specs.push_back(&network.parameters[i]);
  }
  const Value penalty = add_penalties(graph, data.l1, data.l2, trainable);
  if (penalty) forward.loss = graph.emit(AddOp(), {forward.loss, penalty}, "penalty");
  const ShardLayout layout(network);
  const bool whole = rows == Rows::whole;
  const Value counters = whole ? add_training_counters(graph)
                               : graph.add_value("shard counters", {DType::f64, Shape{kCounters}},
                                                 Storage::gradient, layout.counters);
  half.loss = whole ? forward.loss : share_losses(graph, data, forward, penalty);
  add_metrics(graph, data, forward, counters,
              {.batch = step.batch, .history = whole ? kLossHistory : 0, .shard = !whole},
              half.loss);
  half.scaled = supports.scales_loss;
  all_passes().run(Phase::forward, graph, half.scaled && !whole ? scaled(supports) : supports,
                   step.disabled_passes, trainable);

  if (step.sync_norms) sync_norms(graph);
  const std::size_t backward = graph.nodes().size();
  half.scaled = half.scaled && std::ranges::none_of(graph.nodes(), [](const Node& node) {
                  return node.op->finds_gradients();
                });
  std::vector<Value> gradients;
  if (half.scaled) {
    const Value scale = add_loss_scale(graph, step);
    gradients = differentiate(graph, std::span(&half.loss, 1), std::span(&scale, 1), trainable);
  } else {
    gradients = differentiate(graph, half.loss, trainable);
  }
  std::vector<PlacedGradient> placed;
  for (std::size_t i = 0; i < gradients.size(); ++i) {
    if (gradients[i]) placed.push_back({gradients[i], specs[i]->offset, specs[i]->name});
  }
  std::ranges::sort(placed, {}, &PlacedGradient::offset);
  const bool collects = whole && !is_disabled(kCollectGradients, step.disabled_passes) &&
                        can_collect_gradients(graph, placed, network.bytes(true), supports);
  if (collects) {
    collect_gradients(graph, placed, network.bytes(true));
  } else {
    for (const PlacedGradient& gradient : placed) store_gradient(graph, gradient);
  }
  half.measured =
      measure_statistics(graph, network,
                         whole ? ShardLayout(network, collects).statistics : layout.measured);
  TrainingGraph training{std::move(graph), backward, half.loss};
  if (step.recompute) recompute(training, supports);
  all_passes().run(training, supports, step.disabled_passes);
  half.graph = std::move(training.graph);
  half.loss = training.loss;
  return half;
}

}  // namespace

namespace {

Graph whole_step(const NetworkDefinition& network, const StepData& data, const TrainingStep& step,
                 const Supports& supports) {
  FirstHalf half = add_first_half(network, data, step, Rows::whole, supports);
  add_finish(half.graph, network, step, half.measured, half.scaled, half.loss);
  all_passes().run(Phase::final, half.graph, supports, step.disabled_passes);
  return std::move(half.graph);
}

/// Plans a step without workspaces.
Plan planned(const Graph& graph) {
  return make_plan(graph, [](const Node&) { return std::size_t{0}; });
}

/// Returns whether collected gradients leave no gaps in the arena, and save something.
bool is_worth_it(const Plan& collected, const Plan& apart) {
  const std::size_t arena = collected.bytes[static_cast<std::size_t>(Storage::arena)];
  const std::size_t least = least_arena_bytes(collected);
  const std::size_t bytes = collected.total_bytes();
  return arena <= least + least / 20 && bytes + bytes / 32 < apart.total_bytes();
}

}  // namespace

Graph training_step(const NetworkDefinition& network, const StepData& data,
                    const TrainingStep& step, const Supports& supports) {
  Graph graph = whole_step(network, data, step, supports);
  if (!collects_gradients(graph)) return graph;
  Plan collected = planned(graph);
  if (!is_disabled(kDeferGradients, step.disabled_passes)) {
    defer_gradients(graph);
    graph.verify();
    Plan deferred = planned(graph);
    if (deferred.total_bytes() < collected.total_bytes()) collected = std::move(deferred);
  }
  TrainingStep without = step;
  without.disabled_passes.emplace_back(kCollectGradients);
  Plan apart = planned(whole_step(network, data, without, supports));
  return std::move(is_worth_it(collected, apart) ? collected.graph : apart.graph);
}

Graph shard_step(const NetworkDefinition& network, const StepData& data, const TrainingStep& step,
                 const Supports& supports) {
  FirstHalf half = add_first_half(network, data, step, Rows::shard, supports);
  if (!half.measured.empty()) share_statistics(half.graph, ShardLayout(network));
  half.graph.add_value("gradients", flat_type(network), Storage::gradient);  // unread ones, too
  all_passes().run(Phase::final, half.graph, supports, step.disabled_passes);
  if (step.overlap_sums) {
    overlap_sums(half.graph, gradient_buckets(network, step.bucket_bytes));
    half.graph.verify();
  }
  return std::move(half.graph);
}

Graph finish_step(const NetworkDefinition& network, const StepData& data, const TrainingStep& step,
                  const Supports& supports) {
  const FirstHalf half = add_first_half(network, data, step, Rows::shard, supports);
  return finish_step(network, step, half.measured, half.scaled);
}

Graph evaluation_step(const NetworkDefinition& network, const StepData& data, std::int64_t batch,
                      const Supports& supports) {
  Graph graph;
  const Forward forward = add_forward(graph, network, data, {.batch = batch}, Mode::inference);
  const Value counters = graph.add_value("counters", {DType::f64, Shape{kCounters}}, Storage::state,
                                         network.bytes(false));
  add_metrics(graph, data, forward, counters, {.batch = batch}, forward.loss);
  add_loss_sums(graph, network, data, forward.outputs, forward.targets, forward.weights,
                forward.losses, batch);
  add_metric_sums(graph, network, data, forward.outputs, forward.targets, forward.weights, batch);
  all_passes().run(Phase::forward, graph, supports);
  all_passes().run(Phase::inference, graph, supports);
  all_passes().run(Phase::final, graph, supports);
  return graph;
}

LastLayer last_layer(const Graph& graph, Value output) {
  const Node* last = graph.producer(output);
  if (op_as<SoftmaxOp>(last) != nullptr) return LastLayer::softmax;
  if (op_as<LogSoftmaxOp>(last) != nullptr) return LastLayer::log_softmax;
  const auto* activation = op_as<ActivationOp>(last);
  const bool sigmoid = activation != nullptr && activation->attrs().kind == Activation::sigmoid;
  return sigmoid ? LastLayer::sigmoid : LastLayer::other;
}

namespace {

Value in_form(Graph& graph, Value output, OutputForm form) {
  const LastLayer last = last_layer(graph, output);
  const bool probabilities = last == LastLayer::softmax || last == LastLayer::sigmoid;
  if (form == OutputForm::logits && last != LastLayer::other) {
    return graph.producer(output)->inputs.front();
  }
  if (form == OutputForm::softmax && !probabilities) {
    return graph.emit(SoftmaxOp(), {output}, "probabilities");
  }
  if (form == OutputForm::sigmoid && !probabilities) {
    return graph.emit(ActivationOp({.kind = Activation::sigmoid}), {output}, "probabilities");
  }
  return output;
}

}  // namespace

Graph input_gradient_step(const NetworkDefinition& network, std::size_t by, std::int64_t batch,
                          const Supports& supports) {
  Graph graph;
  const std::vector<Value> inputs = add_inputs(network, graph, batch);
  std::vector<Value> parameters;
  const Value y = instantiate(network, graph, inputs, batch, Mode::inference, parameters).front();
  const Value weights = graph.add_value("weights", graph.type(y), Storage::external, inputs.size());
  const Storage storage = std::exchange(graph.info(y).storage, Storage::external);  // is read
  all_passes().run(Phase::forward, graph, supports, {}, std::span(&inputs[by], 1));
  graph.info(y).storage = storage;
  Value gradient =
      differentiate(graph, std::span(&y, 1), std::span(&weights, 1), std::span(&inputs[by], 1))
          .front();
  // Comparisons, rounding and the like lead on to the input, but no gradient does.
  if (!gradient) gradient = graph.add_constant(graph.type(inputs[by]), 0);
  if (graph.info(gradient).storage != Storage::arena) {
    gradient = graph.emit(CopyOp(), {gradient}, "gradient");
  }
  graph.info(gradient).storage = Storage::external;
  graph.info(gradient).offset = inputs.size() + 1;
  all_passes().run(Phase::final, graph, supports);
  return graph;
}

Graph prediction_step(const NetworkDefinition& network, DType first, std::int64_t batch,
                      OutputForm form, const Supports& supports) {
  Graph graph;
  std::vector<Value> inputs;
  for (std::size_t i = 0; i < network.inputs.size(); ++i) {
    const NetworkInput& input = network.inputs[i];
    inputs.push_back(gather(graph, input.name,
                            {i == 0 ? first : network.held(input.dtype), input.sample.batched(1)},
                            i, {.batch = batch}));
  }
  std::vector<Value> parameters;
  std::vector<Value> outputs =
      instantiate(network, graph, inputs, batch, Mode::inference, parameters);
  outputs[0] = in_form(graph, outputs[0], form);
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    Value y = outputs[i];
    if (graph.info(y).storage != Storage::arena) y = graph.emit(CopyOp(), {y}, "output");
    graph.info(y).storage = Storage::external;
    graph.info(y).offset = inputs.size() + i;
  }
  all_passes().run(Phase::forward, graph, supports);
  all_passes().run(Phase::inference, graph, supports);
  all_passes().run(Phase::final, graph, supports);
  return graph;
}

}  // namespace linnet
