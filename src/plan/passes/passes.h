// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "graph/graph.h"

namespace linnet {

/// Says whether the backend wants an operator that a pass would like to write.
struct Supports : std::function<bool(const Op& op, std::span<const ValueType> inputs,
                                     std::span<const ValueType> outputs)> {
  using function::function;
  /// Whether steps multiply their losses by a scale (Capabilities::scales_loss).
  bool scales_loss = false;
};

/// The name under which chains of nodes that compute sample by sample are left out.
inline constexpr std::string_view kChainSamples = "chain_samples";
/// The name under which no stage has tasks of several operators.
inline constexpr std::string_view kShareStages = "share_stages";

/// When a pass runs.
enum class Phase : std::uint8_t {
  forward,    ///< on the forward graph, before it is differentiated
  inference,  ///< after these, on a graph that predicts or evaluates
  final,      ///< on the whole graph
};

/// The place of a pass among those of its phase.
struct PassOrder {
  /// Passes that run before it, and after it, if they are there.
  std::vector<std::string_view> after = {};
  std::vector<std::string_view> before = {};
  /// Whether it runs after all that don't say so.
  bool last = false;
};

/// A named rewriting of a graph that keeps its meaning.
struct Pass {
  std::string_view name;
  void (*run)(Graph& graph, const Supports& supports);
  PassOrder order = {};
  /// False: what it writes has no gradient, so it is undone where gradients pass through that.
  bool differentiable = true;
};

/// A graph after differentiation.
struct TrainingGraph {
  Graph graph;
  std::size_t backward = 0;  ///< its first node of the backward pass
  Value loss;
};

/// A named rewriting of such a graph that changes its results by rounding at most.
struct TrainingPass {
  std::string_view name;
  void (*run)(TrainingGraph& training, const Supports& supports);
  PassOrder order = {};
};

/// The passes that a graph goes through, each known by its name. Their order follows from what they
/// say of it, and from their names where nothing is said.
class Passes {
 public:
  /// Adds one. Its name may stand for several passes, of different phases.
  void add(Phase phase, Pass pass);
  /// Adds one that runs on a training's graph once it is differentiated.
  void add(TrainingPass pass);
  /// Adds the name of something that is decided elsewhere and can be left out as passes are.
  void add(std::string_view choice) { choices_.push_back(choice); }

  /// In this order.
  const std::vector<Pass>& of(Phase phase) const;
  const std::vector<TrainingPass>& of_training() const { return training_; }
  /// Returns whether there is a pass, or a choice, of this name.
  bool has(std::string_view name) const;
  /// Returns the pass of this name, of any phase. Throws Error if there is none.
  const Pass& named(std::string_view name) const;

  /// Runs those of a phase but the ones named in `disabled`, and verifies the graph after each.
  /// Gradients of values will be asked for by `wrt`. Throws Error for a name in `disabled` that no
  /// pass has.
  void run(Phase phase, Graph& graph, const Supports& supports,
           std::span<const std::string> disabled = {}, std::span<const Value> wrt = {}) const;
  void run(TrainingGraph& training, const Supports& supports,
           std::span<const std::string> disabled = {}) const;

 private:
  std::vector<std::string_view> names() const;
  void check(std::span<const std::string> disabled) const;

  std::map<Phase, std::vector<Pass>> phases_;
  std::vector<TrainingPass> training_;
  std::vector<std::string_view> choices_;
};

/// Adds the passes of src/plan/passes.
void register_plan_passes(Passes& passes);

/// Drops nodes whose results nobody reads.
void remove_dead(Graph& graph, const Supports& supports);
/// Weights that several kernels take in 16 bits, forward and backward, are copied at the graph's
/// begin in one node, so that store_bf16 or store_f16 may round the copies.
void copy_weights(Graph& graph, const Supports& supports);
/// Gradients of convolutions' weights that kernels give in 16 bits are copied where they belong
/// some at a time, so that store_bf16 or store_f16 may store them so until then.
void copy_gradients(Graph& graph, const Supports& supports);
/// Values between operators lie in memory as bf16 where the kernels of all that touch them, which
/// the backend has at its precision, read and write them so. Operators still infer f32.
void store_bf16(Graph& graph, const Supports& supports);
/// Does the same with f16.
void store_f16(Graph& graph, const Supports& supports);

/// The backward pass computes results of batch norms again, from the statistics that were found,
/// and the sign of a ReLU after one from the norm's operand, so that these results live in the
/// forward pass alone; and single concatenations of such results.
void recompute_norms(TrainingGraph& training, const Supports& supports);
/// Concatenations of channels that begin with each other's results, and the gradients of these
/// results, share one buffer: each writes, or adds, its part of it. Where the backend has
/// update_channels and batch norms are the results' only readers.
void share_concats(TrainingGraph& training, const Supports& supports);
/// The backward pass cuts operands of other concatenations out of their results, as in a U-Net,
/// once these are no longer needed, so that operands live up to the concatenation alone.
void slice_concats(TrainingGraph& training, const Supports& supports);

/// Returns whether a pass is among those that were left out by name.
bool is_disabled(std::string_view pass, std::span<const std::string> disabled);

}  // namespace linnet
