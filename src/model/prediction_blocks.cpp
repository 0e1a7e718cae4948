// SPDX-License-Identifier: Apache-2.0
#include "model/prediction_blocks.h"

#include <algorithm>
#include <set>
#include <utility>

#include "ops/custom/custom.h"
#include "ops/gather/gather.h"
#include "ops/recurrent/recurrent.h"
#include "plan/plan.h"
#include "runtime/block_runs.h"

namespace linnet {
namespace {

constexpr std::size_t kCache = std::size_t{2} << 20;  ///< that a core has for itself, about
/// Bytes that a block writes for each that it reads of weights, at least: these come from a larger
/// cache, once a block.
constexpr double kWrittenPerWeight = 4;

/// Weights that a recurrent layer keeps in a core's nearest cache from step to step.
constexpr std::size_t kNearestCache = std::size_t{48} << 10;

/// Bytes that a graph moves for its samples, and for itself, in whatever batch.
struct Traffic {
  std::size_t samples = 0;  ///< written
  std::size_t fixed = 0;    ///< weights that are read, and what is computed of weights alone
};

/// Returns whether samples may be computed in other groups, and groups at the same time.
bool keeps_samples_apart(const Graph& graph, const Node& node) {
  if (dynamic_cast<const CustomOp*>(node.op.get()) != nullptr) return false;  // a user's function
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    if (node.op->mutates(i) && graph.info(node.inputs[i]).storage != Storage::arena) return false;
  }
  return true;
}

/// Returns how many times a node reads weights: a recurrent layer those of its states at each step.
std::size_t readings(const Graph& graph, const Node& node, std::size_t input) {
  const auto* recurrent = dynamic_cast<const RecurrentOp*>(node.op.get());
  if (recurrent == nullptr || input != RecurrentOp::w_hh) return 1;
  if (graph.type(node.inputs[input]).bytes() <= kNearestCache) return 1;
  return static_cast<std::size_t>(graph.shape(node.inputs[RecurrentOp::x])[1]);
}

Traffic traffic_of(const Graph& graph) {
  Traffic traffic;
  std::set<int> of_samples;
  std::set<int> weights;
  for (const Node& node : graph.nodes()) {
    bool samples = false;
    // A gather reads a few rows of an embedding.
    const bool whole = dynamic_cast<const GatherOp*>(node.op.get()) == nullptr;
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      const Value input = node.inputs[i];
      const Storage storage = graph.info(input).storage;
      samples = samples || storage == Storage::external || of_samples.contains(input.id);
      if (storage == Storage::parameter && whole && weights.insert(input.id).second) {
        traffic.fixed += readings(graph, node, i) * graph.type(input).bytes();
      }
    }
    if (samples) {
      for (const Value& output : node.outputs) of_samples.insert(output.id);
    }
    if (node.op->is_view()) continue;
    for (const Value& output : node.outputs) {
      (samples ? traffic.samples : traffic.fixed) += graph.type(output).bytes();
    }
  }
  return traffic;
}

}  // namespace

std::int64_t prediction_block(const Graph& graph, std::int64_t batch) {
  if (batch < 2) return batch;
  for (const Node& node : graph.nodes()) {
    if (!keeps_samples_apart(graph, node)) return batch;
  }
  const Traffic traffic = traffic_of(graph);
  if (traffic.samples <= kCache) return batch;
  const Plan plan = make_plan(graph, [](const Node& /*node*/) { return std::size_t{0}; });
  const auto arena = static_cast<double>(plan.bytes[static_cast<std::size_t>(Storage::arena)]);
  if (arena <= kCache) return batch;
  const auto samples = static_cast<double>(batch);
  const double most = samples * kCache / arena;
  const double fewest = samples * kWrittenPerWeight * static_cast<double>(traffic.fixed) /
                        static_cast<double>(traffic.samples);
  std::int64_t block = 1;
  while (2 * static_cast<double>(block) <= most || static_cast<double>(block) < fewest) block *= 2;
  return 2 * block <= batch ? block : batch;
}

PredictionProgram prepare_prediction(Backend& backend, std::int64_t batch, bool in_blocks,
                                     const std::function<Graph(std::int64_t)>& graph_of) {
  constexpr PlanOptions kFixedWeights{.fixed_weights = true};
  Graph graph = graph_of(batch);
  PredictionProgram made;
  made.block = batch;
  if (in_blocks && backend.capabilities().blocks) made.block = prediction_block(graph, batch);
  if (made.block == batch) {
    made.program = backend.prepare(std::move(graph), kFixedWeights);
    return made;
  }
  made.program = backend.prepare(graph_of(made.block), kFixedWeights);
  made.lanes = made.program->blocks()->lanes(static_cast<std::size_t>(batch / made.block));
  const std::int64_t rest = batch % made.block;
  if (rest > 0) made.rest = backend.prepare(graph_of(rest), kFixedWeights);
  return made;
}

std::size_t PredictionProgram::arena_bytes() const {
  const auto of = [](const Program& one) {
    return one.plan().bytes[static_cast<std::size_t>(Storage::arena)];
  };
  return rest == nullptr ? of(*program) : std::max(of(*program), of(*rest));
}

}  // namespace linnet
