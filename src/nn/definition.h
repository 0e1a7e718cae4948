// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/error.h>
#include <linnet/layers/settings.h>

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "describe/setting.h"
#include "graph/graph.h"

namespace linnet {

/// A weight or a running statistic of a network.
struct ParameterSpec {
  std::string name;  ///< "<layer>.weight", "<layer>.bias", "<layer>.running_mean", ...
  Shape shape;
  Initializer initializer;
  std::int64_t fan_in = 1;
  std::int64_t fan_out = 1;
  bool trainable = true;     ///< else it lies in Storage::state
  std::size_t offset = 0;    ///< in bytes in its storage, aligned
  DType dtype = DType::f32;  ///< as which it lies there: f32, or f64 of a model of fp64
  Value value;               ///< in the template graph
};

/// The batch at which a network's shapes are checked as it is built: nothing is computed at it. A
/// prime that no layer has for a dimension of its own, so that messages can call it N.
inline constexpr std::int64_t kTemplateBatch = 65521;

/// Returns the message with N for the template's batch, 2N for twice as much.
std::string batch_named(const std::string& message);

/// Runs `build`, a part of building a template; errors name its batch N: "got x=(N, 28, 28, 1)".
template <class F>
auto with_batch_named(F&& build) {
  try {
    return build();
  } catch (const Error& error) {
    throw Error(batch_named(error.what()));
  }
}

/// After the name of an input of sequences: the input that is their lengths.
inline constexpr const char* kLengths = ".lengths";

/// Inputs and outputs of a network, by name.
struct NetworkInput {
  std::string name;
  Shape sample;              ///< without the batch
  DType dtype = DType::f32;  ///< f32 (or u8 that becomes f32), or i32
  Value value;               ///< in the template graph
};
struct NetworkOutput {
  std::string name;
  Value value;
  /// Values of the output's shape whose losses a training's steps take instead of the output's:
  /// the members of an ensemble, of which the output is the mean. Empty: the output itself.
  std::vector<Value> members = {};
  std::int64_t folds = 1;           ///< member m does not learn from the samples of fold m % folds
  std::vector<double> shares = {};  ///< of each member in the mean; empty: equal ones

  void forget_members() { *this = {name, value}; }
  /// Returns whether members hold out samples.
  bool holds_out() const { return folds > 1 && !members.empty(); }
};

/// A network as a template: its forward graph in training mode at kTemplateBatch. A sequence of
/// layers has one input, "input", and one output, "output".
struct NetworkDefinition {
  Graph graph;
  std::vector<NetworkInput> inputs;
  std::vector<NetworkOutput> outputs;
  std::vector<std::string> unneeded_inputs;  ///< that pruned() left out
  std::vector<ParameterSpec> parameters;
  /// Number of layers of each kind named by number; parts of a layer after its name.
  std::map<std::string, int> kinds;
  /// The type in which weights and the values between operators lie in memory: f32, or f64 of a
  /// model of fp64. Graphs have f32 in both cases; the backend widens them.
  DType numbers = DType::f32;

  /// What the network was made of: a record of each layer (layer_records.h), for people. What is
  /// computed is the graph's alone.
  std::vector<Setting> layers;

  /// The lengths, i32 (kTemplateBatch), of values that are sequences and have them, both by id: for
  /// the layers that follow.
  std::map<int, int> lengths;

  /// Returns whether it draws noise in each step, also at inference.
  bool draws_noise() const;
  /// Returns the input whose sequences' lengths input `index` is: "x" of "x.lengths"; none if it is
  /// not one.
  std::optional<std::size_t> sequences_of(std::size_t index) const;
  /// Returns whether an input's sequences have lengths.
  bool has_lengths() const;
  /// Returns bytes of the storage that holds the trainable weights, or the other ones.
  std::size_t bytes(bool trainable) const;
  /// Returns the type in which values of `dtype` lie: `numbers` instead of f32.
  DType held(DType dtype = DType::f32) const { return dtype == DType::f32 ? numbers : dtype; }
  Shape output_sample(std::size_t output = 0) const {
    return graph.shape(outputs[output].value).sample();
  }
  /// Returns the one input. Throws Error for a network of several, naming them.
  const NetworkInput& only_input() const;
};

/// Returns the network with its weights laid out as `numbers`, f32 or f64: each begins at the same
/// element of its storage.
NetworkDefinition laid_out(const NetworkDefinition& network, DType numbers);
/// Does so for a backend, of which `f64` is Capabilities::f64.
inline NetworkDefinition laid_out_for(const NetworkDefinition& network, bool f64) {
  return laid_out(network, f64 ? DType::f64 : DType::f32);
}

enum class Mode : std::uint8_t { training, inference };

/// Returns what the outputs for which `wanted` holds are computed from: other operators and inputs
/// are left out, and other outputs have no value. Parameters keep their places.
NetworkDefinition pruned(const NetworkDefinition& network, const std::vector<bool>& wanted);

/// Adds the network's inputs for a batch as external values, in slots from 0 on.
std::vector<Value> add_inputs(const NetworkDefinition& network, Graph& graph, std::int64_t batch);

/// Adds the network to `graph` after its inputs `x`, (batch, ...), with its parameters as values
/// of Storage::parameter and Storage::state; returns its outputs, empty ones where pruned() left
/// them out. `parameters` gets the
/// values of the specs, in order (empty ones for statistics that inference does not read). What
/// is_frozen() is instantiated as at inference. `members` gets those of each output. Throws Error
/// unless each output is f32 and has as many rows as the inputs: memory is sized by that.
std::vector<Value> instantiate(const NetworkDefinition& network, Graph& graph,
                               std::span<const Value> x, std::int64_t batch, Mode mode,
                               std::vector<Value>& parameters, const std::vector<bool>& trains = {},
                               std::vector<std::vector<Value>>* members = nullptr);

/// Calls f(value, elements) with each constant of a template, in order.
template <class F>
void for_constants(const Graph& graph, F f) {
  for (std::size_t id = 0; id < graph.value_count(); ++id) {
    const Value value{static_cast<int>(id)};
    const ValueInfo& info = graph.info(value);
    if (info.storage == Storage::constant) f(value, info.elements);
  }
}

/// Returns whether a node of the template writes statistics and has parameters, none of which
/// trains: a batch norm that is frozen. `trains`: by parameter; empty: all train.
bool is_frozen(const NetworkDefinition& network, const Node& node, const std::vector<bool>& trains);

/// What instantiate() checks, at several batches in both modes, and that no value is empty: of a
/// network that came from a file. Throws Error naming the output or the operator.
void check_instances(const NetworkDefinition& network);

/// Writes the initial values of parameter `index`: a function of the seed, the index and the
/// element alone.
void initialize(const ParameterSpec& spec, std::size_t index, std::uint64_t seed,
                std::vector<float>& values);

}  // namespace linnet
