// SPDX-License-Identifier: Apache-2.0
#include "model/finish.h"

#include <algorithm>
#include <array>

#include "graph/add.h"
#include "model/muon.h"
#include "ops/blend/blend.h"
#include "ops/finite_check/finite_check.h"
#include "ops/reshape/reshape.h"
#include "ops/shard_metrics/shard_metrics.h"
#include "plan/passes/collect_gradients.h"

namespace linnet {
namespace {

/// Returns what of a shard, or of a sum of shards, is summed in f32.
Value add_shard_array(Graph& graph, const ShardLayout& layout, std::size_t place) {
  const auto elements = static_cast<std::int64_t>(layout.bytes / layout.number_bytes);
  return graph.add_value("shard", {DType::f32, Shape{elements}}, Storage::gradient, place);
}

/// Returns its counters, which are summed in f64.
Value add_shard_counters(Graph& graph, const ShardLayout& layout, std::size_t place) {
  return graph.add_value("shard counters", {DType::f64, Shape{kCounters}}, Storage::gradient,
                         place + layout.counters);
}

/// Copies a value of Storage::gradient to another place there.
void keep(Graph& graph, Value value, std::size_t place) {
  const Value kept = graph.emit(CopyOp(), {value}, "keep");
  graph.info(kept).storage = Storage::gradient;
  graph.info(kept).offset = place;
}

void add_range(BlendAttrs& attrs, const MeasuredStatistics& range, std::int64_t gap) {
  const bool joins = !attrs.bounds.empty() && attrs.weights.back() == range.momentum &&
                     range.begin - attrs.bounds.back() >= 0 &&
                     range.begin - attrs.bounds.back() < gap;
  if (joins) {
    attrs.bounds.back() = range.end;
    return;
  }
  attrs.bounds.insert(attrs.bounds.end(), {range.begin, range.end});
  attrs.weights.push_back(range.momentum);
}

/// Ranges with nothing but padding between them are one.
void add_running_statistics(Graph& graph, const NetworkDefinition& network,
                            const ShardLayout& layout, std::vector<MeasuredStatistics> measured,
                            Value stopped) {
  if (measured.empty()) return;
  std::ranges::sort(measured, [](const MeasuredStatistics& a, const MeasuredStatistics& b) {
    return a.application != b.application ? a.application < b.application : a.begin < b.begin;
  });
  const ValueType type{DType::f32, Shape{static_cast<std::int64_t>(network.bytes(false) /
                                                                   size_of(network.numbers))}};
  const auto padding = static_cast<std::int64_t>(align_up(1) / sizeof(float));
  const Value running = graph.add_value("running statistics", type, Storage::state);
  for (std::size_t application = 0; application <= measured.back().application; ++application) {
    BlendAttrs attrs{.kind = Blend::mix, .guarded = true};
    for (const MeasuredStatistics& range : measured) {
      if (range.application == application) add_range(attrs, range, padding);
    }
    const Value batch =
        graph.add_value("statistics", type, Storage::gradient,
                        layout.statistics + application * align_up(network.bytes(false)));
    graph.add(std::make_shared<BlendOp>(attrs), {running, batch, stopped}, "statistics");
  }
}

/// Returns a blend of all elements that train, guarded.
BlendAttrs blend_of_trained(const OptimizerAttrs& optimizer, std::int64_t length, double weight) {
  BlendAttrs attrs{.kind = Blend::mix, .guarded = true};
  for (const UpdateRange& range : ranges_of(optimizer, length)) {
    attrs.bounds.insert(attrs.bounds.end(), {range.begin, range.end});
    attrs.weights.push_back(weight);
  }
  return attrs;
}

}  // namespace

ValueType flat_type(const NetworkDefinition& network) {
  return {DType::f32,
          Shape{static_cast<std::int64_t>(network.bytes(true) / size_of(network.numbers))}};
}

Value add_training_counters(Graph& graph) {
  return graph.add_value("counters", {DType::f64, Shape{kCounters + kLossHistory}},
                         Storage::optimizer);
}

Value add_stopped(Graph& graph) {
  return graph.add_value("stopped", {DType::f64, Shape{}}, Storage::optimizer, kStoppedOffset);
}

Value add_loss_scale(Graph& graph, const TrainingStep& step) {
  return graph.add_value("loss scale", {DType::f32, Shape{}}, Storage::optimizer,
                         step.moments - kLossScaleBytes);
}

void add_finish(Graph& graph, const NetworkDefinition& network, const TrainingStep& step,
                const std::vector<MeasuredStatistics>& measured, bool scaled, Value loss) {
  const Value collected = take_collected_gradients(graph);
  const ShardLayout layout(network, static_cast<bool>(collected));
  const OptimizerAttrs& optimizer = step.optimizer;
  const Value stopped = add_stopped(graph);
  const auto flat = [&](const char* name, Storage storage, std::size_t offset = 0) {
    return graph.add_value(name, flat_type(network), storage, offset);
  };
  const Value parameters = flat("parameters", Storage::parameter);
  const Value gradients = collected ? collected : flat("gradients", Storage::gradient);
  std::vector<Value> operands{parameters, gradients};
  const auto moments = static_cast<std::size_t>(linnet::moments(optimizer.settings.rule));
  const auto moment_offset = [&](std::size_t m) {
    return step.moments + m * align_up(network.bytes(true));
  };
  for (std::size_t m = 0; m < moments; ++m) {
    operands.push_back(
        flat(fmt::format("moment{}", m + 1).c_str(), Storage::optimizer, moment_offset(m)));
  }
  const auto check = [&](std::vector<Value> checked) {
    graph.add(std::make_shared<FiniteCheckOp>(), std::move(checked), "finite");
  };
  std::vector<Value> checked{stopped, collected ? collected : add_shard_array(graph, layout, 0)};
  if (loss) checked.push_back(loss);
  check(std::move(checked));
  if (collected && layout.bytes > 0) check({stopped, add_shard_array(graph, layout, 0)});
  add_running_statistics(graph, network, layout, measured, stopped);
  if (optimizer.settings.clip_norm > 0) {
    operands.push_back(graph.emit(GlobalNormOp({optimizer.bounds}), {gradients}, "optimizer"));
  }
  Value scale;
  if (scaled) {
    scale = graph.add_value("loss scale", {DType::f32, Shape{kLossScaleSize}}, Storage::optimizer,
                            step.moments - kLossScaleBytes);
    operands.push_back(scale);
  }
  operands.push_back(stopped);
  const std::int64_t length = flat_type(network).shape.elements();
  Value slow;
  std::size_t arrays = moments;
  if (step.lookahead.every > 0) {
    slow = flat("lookahead", Storage::optimizer, moment_offset(arrays++));
    BlendAttrs attrs = blend_of_trained(optimizer, length, 1);
    attrs.first = true;
    graph.add(std::make_shared<BlendOp>(attrs), {slow, parameters, stopped}, "lookahead");
  }
  OptimizerAttrs guarded = optimizer;
  guarded.guarded = true;
  if (optimizer.settings.rule == UpdateRule::muon) {
    add_muon(graph, network, guarded, operands, step.moments);
  } else {
    graph.add(std::make_shared<OptimizerUpdateOp>(guarded), std::move(operands), "optimizer");
  }
  if (slow) {
    BlendAttrs attrs = blend_of_trained(optimizer, length, step.lookahead.alpha);
    attrs.every = step.lookahead.every;
    graph.add(std::make_shared<BlendOp>(attrs), {slow, parameters, stopped}, "lookahead");
    std::ranges::fill(attrs.weights, 1);
    graph.add(std::make_shared<BlendOp>(attrs), {parameters, slow, stopped}, "lookahead");
  }
  if (step.average.decay > 0) {
    const Value averages = flat("average", Storage::optimizer, moment_offset(arrays));
    const BlendAttrs attrs{.kind = Blend::average,
                           .decay = step.average.decay,
                           .warmup = step.average.warmup,
                           .guarded = true};
    graph.add(std::make_shared<BlendOp>(attrs), {averages, parameters, stopped}, "average");
  }
  if (!scaled) return;
  graph.add(std::make_shared<LossScaleOp>(), {scale, stopped, add_training_counters(graph)},
            "loss scale");
}

Graph finish_step(const NetworkDefinition& network, const TrainingStep& step,
                  const std::vector<MeasuredStatistics>& measured, bool scaled) {
  Graph graph;
  const Value counters = add_training_counters(graph);
  const Value shards = add_shard_counters(graph, ShardLayout(network), 0);
  graph.add(std::make_shared<ShardMetricsOp>(ShardMetricsAttrs{.history = kLossHistory}),
            {counters, shards, add_stopped(graph)}, "metrics");
  add_finish(graph, network, step, measured, scaled);
  return graph;
}

Graph keep_step(const NetworkDefinition& network, std::size_t level) {
  const ShardLayout layout(network);
  Graph graph;
  keep(graph, add_shard_array(graph, layout, 0), layout.level(level));
  keep(graph, add_shard_counters(graph, layout, 0), layout.level(level) + layout.counters);
  return graph;
}

Graph add_step(const NetworkDefinition& network, std::size_t level) {
  const ShardLayout layout(network);
  Graph graph;
  const std::size_t place = layout.level(level);
  const auto add = [&](Value shard, Value kept) {
    graph.add(std::make_shared<BlendOp>(), {shard, kept}, "add");
  };
  add(add_shard_array(graph, layout, 0), add_shard_array(graph, layout, place));
  add(add_shard_counters(graph, layout, 0), add_shard_counters(graph, layout, place));
  return graph;
}

Graph add_kept_step(const NetworkDefinition& network, std::size_t level) {
  const ShardLayout layout(network);
  Graph graph;
  const std::size_t place = layout.level(level);
  const std::size_t next = layout.level(level + 1);
  const Value sum =
      graph.emit(AddOp(),
                 {add_shard_array(graph, layout, 0), add_shard_array(graph, layout, place)}, "add");
  graph.info(sum).storage = Storage::gradient;
  graph.info(sum).offset = next;
  const Value counters = add_shard_counters(graph, layout, 0);
  graph.add(std::make_shared<BlendOp>(), {counters, add_shard_counters(graph, layout, place)},
            "add");
  keep(graph, counters, next + layout.counters);
  return graph;
}

Graph add_lanes_step(const NetworkDefinition& network, std::size_t lanes) {
  const ShardLayout layout(network);
  Graph graph;
  std::vector<std::array<Value, 2>> left;
  for (std::size_t lane = 0; lane < lanes; ++lane) {
    const std::size_t place = lane * layout.level(0);
    left.push_back(
        {add_shard_array(graph, layout, place), add_shard_counters(graph, layout, place)});
  }
  for (std::size_t width = 1; width < lanes; width *= 2) {
    for (std::size_t lane = 0; lane + width < lanes; lane += 2 * width) {
      for (std::size_t i = 0; i < left[lane].size(); ++i) {
        graph.add(std::make_shared<BlendOp>(), {left[lane][i], left[lane + width][i]}, "add");
      }
    }
  }
  return graph;
}

}  // namespace linnet
