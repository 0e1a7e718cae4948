// SPDX-License-Identifier: Apache-2.0
#include "train/memory_plan.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "base/check.h"
#include "model/check_values.h"
#include "model/evaluation_sums.h"
#include "model/memory_report.h"
#include "model/prediction_blocks.h"
#include "model/shard_layout.h"
#include "model/shards.h"
#include "model/update_options.h"
#include "plan/passes/passes.h"
#include "train/fit_checks.h"

namespace linnet {
namespace {

std::size_t bytes_of(const Plan& plan, Storage storage) {
  return plan.bytes[static_cast<std::size_t>(storage)];
}

/// Returns the arena of a graph whose kernels want no workspace.
std::size_t value_bytes(const Graph& graph) {
  return bytes_of(make_plan(graph, [](const Node&) { return std::size_t{0}; }), Storage::arena);
}

/// Adds a program that shares its memory with the ones before.
void add(MemoryPlan& memory, const Program& program) {
  const Plan& plan = program.plan();
  const auto most = [&](std::size_t& bytes, Storage storage) {
    bytes = std::max(bytes, bytes_of(plan, storage));
  };
  most(memory.parameters, Storage::parameter);
  most(memory.gradients, Storage::gradient);
  most(memory.optimizer, Storage::optimizer);
  most(memory.statistics, Storage::state);
  const std::size_t arena =
      std::max(memory.activations + memory.workspace, bytes_of(plan, Storage::arena));
  memory.activations = std::max(memory.activations, value_bytes(plan.graph));
  memory.workspace = arena > memory.activations ? arena - memory.activations : 0;
}

std::size_t record_bytes(const StepData& data) {
  std::size_t bytes = 0;
  for (const StepData::Part& part : data.parts) bytes += part.record.bytes();
  return bytes;
}

}  // namespace

TrainingStep planned_step(const NetworkDefinition& network, std::int64_t batch,
                          const TrainingOptions& options) {
  return {.batch = batch,
          .shuffle = options.shuffle,
          .optimizer = resolve(options, network, 1),
          .average = {options.average.decay, options.average.warmup},
          .lookahead = {options.lookahead.every, options.lookahead.alpha},
          .disabled_passes = options.disabled_passes,
          .recompute = options.recompute};
}

Graph training_graph(const NetworkDefinition& network, std::int64_t batch,
                     const TrainingOptions& options, const Backend& backend) {
  return training_step(network, assumed_data(network, options.loss),
                       planned_step(network, batch, options), supports_of(backend));
}

Graph prediction_graph(const NetworkDefinition& network, std::int64_t batch,
                       const Backend& backend) {
  const DType first = assumed_data(network, Loss::automatic).parts[0].record.dtype;
  return prediction_step(network, first, batch, OutputForm::plain, supports_of(backend));
}

MemoryPlan training_memory(const NetworkDefinition& network, std::int64_t batch,
                           std::int64_t shards, const TrainingOptions& options, Backend& backend) {
  const StepData data = assumed_data(network, options.loss);
  const Supports supports = supports_of(backend);
  TrainingStep step = planned_step(network, batch, options);
  MemoryPlan memory{.shards = shards, .recompute = options.recompute};
  std::size_t own = 0;
  PlanOptions planned{.chains = !is_disabled(kChainSamples, step.disabled_passes),
                      .shared_stages = !is_disabled(kShareStages, step.disabled_passes)};
  const auto plan = [&](Graph graph, bool fixed_weights = false) {
    planned.fixed_weights = fixed_weights;
    const auto program = backend.prepare(std::move(graph), planned);
    add(memory, *program);
    own += program->private_bytes();
  };
  if (shards == 1) {
    plan(training_step(network, data, step, supports));
  } else {
    step.batch = (batch - 1) / shards + 1;
    plan(shard_step(network, data, step, supports), true);
    if (options.side_by_side) {
      memory.activations *= static_cast<std::size_t>(shards);
      memory.workspace *= static_cast<std::size_t>(shards);
      own *= static_cast<std::size_t>(shards);
    }
    plan(finish_step(network, data, step, supports));
    memory.gradients = sums_bytes(network, shards, options.side_by_side);
  }
  memory.workspace += own;
  if (options.average.decay > 0) memory.optimizer += network.bytes(true);  // which is evaluated
  memory.statistics += evaluation_bytes(network);
  memory.data = record_bytes(data) * static_cast<std::size_t>(batch);
  return memory;
}

std::size_t sums_bytes(const NetworkDefinition& network, std::int64_t shards, bool side_by_side) {
  if (side_by_side) return static_cast<std::size_t>(shards) * ShardLayout(network).level(0);
  const auto levels = std::bit_width(static_cast<std::uint64_t>(shards) - 1);
  return ShardLayout(network).level(static_cast<std::size_t>(levels));
}

MemoryPlan planned_training(const NetworkDefinition& network, std::int64_t batch,
                            const TrainingOptions& options, Backend& backend) {
  if (options.shards != 0) check_shards(options.shards);
  const std::size_t limit = options.memory_limit;
  const std::int64_t first = std::max<std::int64_t>(options.shards, 1);
  const bool fixed = options.shards > 0 || limit == 0 || options.side_by_side;
  const std::int64_t last = fixed ? first : kMostShards;
  std::size_t least = 0;
  for (std::int64_t shards = first; shards <= last && (shards == first || shards < 2 * batch);
       shards *= 2) {
    TrainingOptions tried = options;
    for (bool last_form = false; !last_form; tried.recompute = true) {
      last_form = tried.recompute;
      const MemoryPlan memory = training_memory(network, batch, shards, tried, backend);
      if (limit == 0 || memory.total() <= limit) return memory;
      least = least == 0 ? memory.total() : std::min(least, memory.total());
    }
  }
  fail_above_limit(least, batch, limit);
}

void fail_above_limit(std::size_t least, std::int64_t batch, std::size_t limit) {
  fail("this training needs at least {} bytes ({}) at batch {}; the memory limit is {} bytes",
       least, mebibytes(least), batch, limit);
}

MemoryPlan prediction_memory(const NetworkDefinition& network, std::int64_t batch, Loss loss,
                             Backend& backend) {
  const StepData data = assumed_data(network, loss);
  const PredictionProgram prepared = prepare_prediction(backend, batch, true, [&](std::int64_t n) {
    return prediction_graph(network, n, backend);
  });
  MemoryPlan memory;
  add(memory, *prepared.program);
  memory.activations *= prepared.lanes;
  memory.workspace = prepared.lanes * memory.workspace + prepared.program->private_bytes();
  if (prepared.rest != nullptr) memory.workspace += prepared.rest->private_bytes();
  for (std::size_t i = 0; i < data.inputs; ++i) {
    memory.data += data.parts[i].record.bytes() * static_cast<std::size_t>(batch);
  }
  for (const NetworkOutput& output : network.outputs) {
    const ValueType type = network.graph.info(output.value).type;
    memory.data += ValueType{type.dtype, type.shape.sample().batched(batch)}.bytes();
  }
  return memory;
}

}  // namespace linnet
