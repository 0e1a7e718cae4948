// SPDX-License-Identifier: Apache-2.0
#include "c_export/inference_graph.h"

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>

#include "base/check.h"
#include "c_export/operator_file.h"
#include "fusions/fusions.h"
#include "plan/offsets.h"
#include "plan/passes/passes.h"

namespace linnet {
namespace {

std::size_t index_of(Value value) { return static_cast<std::size_t>(value.id); }

/// From which node to which each root is alive; the outputs are until the end.
std::vector<Interval> lives_of(const InferenceGraph& g) {
  std::vector<Interval> lives(g.graph.value_count());
  const auto& nodes = g.graph.nodes();
  for (std::size_t n = 0; n < nodes.size(); ++n) {
    for (const Value output : nodes[n].outputs) {
      if (g.roots[index_of(output)].id == output.id) lives[index_of(output)] = {0, n, n, 0};
    }
    for (const Value input : nodes[n].inputs) lives[index_of(g.roots[index_of(input)])].last = n;
  }
  for (const Value output : g.outputs) {
    lives[index_of(g.roots[index_of(output)])].last = nodes.size();
  }
  return lives;
}

bool is_computed(const Graph& graph, Value value) { return graph.producer(value) != nullptr; }

/// Views are their operand's memory; so is a result that may take it over from a dying operand.
void join(InferenceGraph& g) {
  for (std::size_t i = 0; i < g.graph.value_count(); ++i) g.roots.push_back({static_cast<int>(i)});
  const auto& nodes = g.graph.nodes();
  for (const Node& node : nodes) {
    if (node.op->is_view()) g.roots[index_of(node.outputs[0])] = g.roots[index_of(node.inputs[0])];
  }
  for (std::size_t n = 0; n < nodes.size(); ++n) {
    const Node& node = nodes[n];
    for (const int place : node.op->in_place()) {
      const Value root = g.roots[index_of(node.inputs[static_cast<std::size_t>(place)])];
      const Value output = node.outputs[0];
      if (!is_computed(g.graph, root) || lives_of(g)[index_of(root)].last != n ||
          g.graph.shape(root).elements() != g.graph.shape(output).elements()) {
        continue;
      }
      for (Value& other : g.roots) {
        if (other.id == output.id) other = root;
      }
      break;
    }
  }
}

/// The most terms of a sum of levels by weights that is sure not to overflow.
constexpr std::int64_t kMostTerms = 65536;

/// Returns whether the file has an operator that a pass would like to write.
bool has_writer(const Op& op, std::span<const ValueType> inputs,
                std::span<const ValueType> /*outputs*/) {
  if (!can_write(op) || inputs.empty()) return false;
  if (inputs[kFirst].dtype == DType::u8 && inputs.size() > kSecond) {
    const Shape& w = inputs[kSecond].shape;
    if (w.elements() > kMostTerms * w[0]) return false;
  }
  try {
    op.infer(inputs);
  } catch (const Error&) {
    return false;
  }
  return true;
}

/// Elements of one type that share one array.
class Places {
 public:
  explicit Places(std::size_t bytes) : bytes_(bytes) {}

  /// Returns the bytes of an element.
  std::size_t bytes() const { return bytes_; }
  /// `offset` gets the place, in elements.
  void add(const Interval& wanted, std::size_t& offset) {
    wanted_.push_back(wanted);
    offsets_.push_back(&offset);
  }
  /// Returns the elements of the array.
  std::size_t assign() {
    const std::size_t bytes = assign_offsets(wanted_);
    for (std::size_t i = 0; i < wanted_.size(); ++i) {
      *offsets_[i] = wanted_[i].offset / bytes_;
    }
    return bytes / bytes_;
  }

 private:
  std::size_t bytes_;
  std::vector<Interval> wanted_;
  std::vector<std::size_t*> offsets_;
};

}  // namespace

InferenceGraph inference_graph(const NetworkDefinition& network, std::string_view language,
                               bool on_levels) {
  InferenceGraph g;
  for (std::size_t i = 0; i < network.inputs.size(); ++i) {
    const NetworkInput& input = network.inputs[i];
    g.inputs.push_back(g.graph.add_value(input.name, {input.dtype, input.sample.batched(1)},
                                         Storage::external, i));
  }
  g.outputs = instantiate(network, g.graph, g.inputs, 1, Mode::inference, g.parameters);
  for (std::size_t i = 0; i < g.outputs.size(); ++i) {
    ValueInfo& info = g.graph.info(g.outputs[i]);
    if (info.storage != Storage::arena) continue;  // an input, or one output twice
    info.storage = Storage::external;              // so that nothing that leads to it is dead
    info.offset = g.inputs.size() + i;
  }
  remove_dead(g.graph, {});
  if (on_levels) {
    all_passes().run(Phase::forward, g.graph, has_writer);
    all_passes().run(Phase::inference, g.graph, has_writer);
    remove_dead(g.graph, {});
  }
  join(g);

  std::vector<Interval> lives = lives_of(g);
  const auto& nodes = g.graph.nodes();
  g.offsets.resize(lives.size());
  g.scratch.resize(nodes.size());
  Places floats(sizeof(float));
  Places ids(sizeof(std::int32_t));
  Places levels(sizeof(std::int16_t));
  for (std::size_t v = 0; v < lives.size(); ++v) {
    const Value value{static_cast<int>(v)};
    const bool read = lives[v].last > lives[v].first || g.graph.uses(value) > 0 ||
                      g.graph.info(value).storage == Storage::external;
    if (!is_computed(g.graph, value) || g.roots[v].id != value.id || !read) continue;
    const Node& node = *g.graph.producer(value);
    if (is_rounded_weight(node)) continue;
    const DType dtype = g.graph.type(value).dtype;
    require(dtype == DType::f32 || dtype == DType::i32 || (on_levels && dtype == DType::u8),
            "[{} '{}'] cannot be written as {}: expected f32 results; got {}", node.op->name(),
            node.name, language, to_string(dtype));
    Places& places = dtype == DType::f32 ? floats : dtype == DType::i32 ? ids : levels;
    lives[v].bytes = static_cast<std::size_t>(g.graph.shape(value).elements()) * places.bytes();
    places.add(lives[v], g.offsets[v]);
  }
  for (std::size_t n = 0; n < nodes.size(); ++n) {
    const std::size_t wanted = scratch_of(g.graph, nodes[n]);
    if (wanted > 0) floats.add({wanted * sizeof(float), n, n, 0}, g.scratch[n]);
  }
  g.floats = floats.assign();
  g.ids = ids.assign();
  g.levels = levels.assign();
  return g;
}

}  // namespace linnet
