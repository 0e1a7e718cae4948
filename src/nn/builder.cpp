// SPDX-License-Identifier: Apache-2.0
#include "nn/builder.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/check.h"
#include "nn/layer_records.h"
#include "nn/layer_types.h"
#include "ops/reshape/reshape.h"
#include "ops/sequence_mask/sequence_mask.h"

namespace linnet {

std::string NetworkBuilder::layer_name(const std::string& wanted, std::string_view kind) {
  const std::string given = wanted.empty() ? std::exchange(next_name_, "") : wanted;
  const std::string name =
      prefix_ + (given.empty() ? fmt::format("{}_{}", kind,
                                             ++network_.kinds[fmt::format("{}{}", prefix_, kind)])
                               : given);
  const auto& nodes = graph().nodes();
  require(std::none_of(nodes.begin(), nodes.end(), [&](const Node& n) { return n.name == name; }),
          "[{} '{}'] expected a name of its own; another layer has this name", kind, name);
  if (!open_.empty() && open_.back().name.empty()) open_.back().name = name;
  return name;
}

std::string NetworkBuilder::begin(std::type_index type, const void* layer,
                                  const std::string& wanted, std::string_view kind) {
  const LayerType* described = layer_types().find(type);
  LINNET_ASSERT(described != nullptr);
  const std::string name = layer_name(wanted, kind.empty() ? described->kind() : kind);
  described->fields.check(layer, name);
  return name;
}

void NetworkBuilder::add_record(Setting record) {
  (open_.empty() ? network_.layers : open_.back().parts).push_back(std::move(record));
}

void NetworkBuilder::build_within(const std::string& scope, std::span<const Layer> layers) {
  const std::string outer = std::exchange(prefix_, scope + ".");
  for (const Layer& layer : layers) build(layer);
  prefix_ = outer;
}

void NetworkBuilder::apply_block(const std::string& name,
                                 const std::shared_ptr<const std::vector<Layer>>& layers) {
  require(!name.empty(), "expected a name for a block; got none");
  require(!layers->empty(), "expected at least one layer in the block '{}'", name);
  Applied& block = blocks_[name];
  require(block.times == 0 || block.layers == layers,
          "expected different names of blocks; two are called '{}'", name);
  const std::string scope = block.times == 0 ? name : fmt::format("{}_{}", name, block.times + 1);
  const std::string outer = std::exchange(again_, block.times == 0 ? "" : scope + ".");
  const std::string outer_weights = std::exchange(weights_, name + ".");
  open_.push_back({.name = scope, .parts = {}});
  build_within(scope, *layers);
  std::vector<Setting> parts = std::move(open_.back().parts);
  open_.pop_back();
  add_record(block_record(scope, name, std::move(parts)));
  again_ = outer;
  weights_ = outer_weights;
  block.layers = layers;
  ++block.times;
}

void NetworkBuilder::build(const Layer& layer) {
  settle_lengths();  // of the layer that this one is a part of
  const Value before = current();
  const Value had = lengths();
  const LengthUse outer = std::exchange(length_use_, LengthUse::operators);
  const std::size_t depth = open_.size();
  open_.emplace_back();
  try {
    layer.build(*this);
    settle_lengths();
  } catch (...) {
    length_use_ = outer;
    open_.resize(depth);
    throw;
  }
  Open built = std::move(open_.back());
  open_.pop_back();
  if (!built.name.empty()) {
    add_record(layer_record(layer, built.name, std::move(built.parts)));
  } else {  // a layer of the user's that is made of others alone
    for (Setting& part : built.parts) add_record(std::move(part));
  }
  if (had && length_use_ == LengthUse::keeps && current() != before) {
    const Shape& y = graph().shape(current());
    LINNET_ASSERT(y.rank() >= 2 && y[1] == graph().shape(before)[1]);
    network_.lengths[current().id] = had.id;
  }
  length_use_ = outer;
}

Value NetworkBuilder::lengths() const {
  const auto found = network_.lengths.find(current().id);
  return found == network_.lengths.end() ? Value{} : Value{found->second};
}

Value NetworkBuilder::heed_lengths() {
  length_use_ = LengthUse::keeps;
  return lengths();
}

Value NetworkBuilder::take_lengths() {
  length_use_ = LengthUse::takes;
  return lengths();
}

void NetworkBuilder::keep_steps(Value x, const std::function<Value()>& add) {
  settle_lengths();
  const LengthUse outer = std::exchange(length_use_, LengthUse::keeps);
  Value y;
  try {
    y = add();
    settle_lengths();
  } catch (...) {
    length_use_ = outer;
    throw;
  }
  length_use_ = outer;
  const auto had = network_.lengths.find(x.id);
  if (had != network_.lengths.end()) network_.lengths[y.id] = had->second;
}

void NetworkBuilder::add_lengths(std::string layer) {
  const auto input = std::ranges::find(network_.inputs, current(), &NetworkInput::value);
  require(input != network_.inputs.end(),
          "[lengths] expected an input of the network: put it before all other layers");
  const NetworkInput sequences = *input;
  const std::size_t axes = sequences.dtype == DType::i32 ? 1 : 2;
  require(sequences.sample.rank() == axes,
          "[lengths] expected ids (N, T) or sequences (N, T, features); got {} {} for '{}'",
          to_string(sequences.dtype), to_string(graph().shape(sequences.value)), sequences.name);
  const std::string name = sequences.name + kLengths;
  const Value given = add_input(name, {1}, DType::i32);
  if (layer.empty()) layer = layer_name("", "lengths");
  const Value lengths = graph().emit(ReshapeOp({.shape = {-1}}), {given}, layer);
  // Padding, be it NaN, goes no further than this. Ids stay as they are.
  if (sequences.dtype == DType::f32) {
    set_current(graph().emit(SequenceMaskOp(), {sequences.value, lengths}, layer));
  }
  network_.lengths[current().id] = lengths.id;
}

const std::string& NetworkBuilder::name_of_lengths(int lengths) const {
  const Graph& graph = network_.graph;
  const Node* reshape = graph.producer(Value{lengths});
  return graph.info(reshape == nullptr ? Value{lengths} : reshape->inputs[0]).name;
}

void NetworkBuilder::settle_lengths() {
  const std::vector<Node>& nodes = graph().nodes();
  while (settled_ < nodes.size()) {
    const Node& node = nodes[settled_++];
    if (length_use_ == LengthUse::operators && !network_.lengths.empty()) settle_lengths(node);
  }
}

void NetworkBuilder::settle_lengths(const Node& node) {
  std::optional<int> lengths;
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    const auto found = network_.lengths.find(node.inputs[i].id);
    if (found == network_.lengths.end()) continue;
    const StepsRule rule =
        node.op->steps(i, graph().shape(node.inputs[i]), graph().shape(node.outputs[0]));
    if (rule.unread) continue;
    if (!rule.kept) fail_on_lengths(node.op->name(), node.name, rule);
    if (lengths && *lengths != found->second) {
      fail(
          "[{} '{}'] would combine sequences that end at different steps, by '{}' and '{}': give "
          "one of the inputs lengths, or combine the results of GlobalAvgPool1d, GlobalMaxPool1d "
          "or a recurrent layer",
          node.op->name(), node.name, name_of_lengths(*lengths), name_of_lengths(found->second));
    }
    lengths = found->second;
  }
  if (lengths) network_.lengths[node.outputs[0].id] = *lengths;
}

std::vector<Value> NetworkBuilder::copy(const Node& node, std::vector<Value> inputs) {
  std::vector<Value> outputs = graph().add(node.op, std::move(inputs), node.name);
  settled_ = graph().nodes().size();
  return outputs;
}

Value NetworkBuilder::add_input(const std::string& name, const Shape& sample, DType dtype) {
  require(!name.empty(), "expected a name for the network's input; got none");
  require(sample.rank() > 0 && sample.elements() > 0,
          "expected a network input of at least one element; got {} for '{}'", to_string(sample),
          name);
  require(dtype == DType::f32 || dtype == DType::i32,
          "expected a network input of f32 or i32; got {} for '{}'", to_string(dtype), name);
  for (const NetworkInput& input : network_.inputs) {
    require(input.name != name, "expected different names of inputs; two are called '{}'", name);
  }
  const Value value =
      graph().add_value(name, {dtype, sample.batched(kTemplateBatch)}, Storage::external);
  network_.inputs.push_back({name, sample, dtype, value});
  return value;
}

Value NetworkBuilder::weight(const std::string& layer, std::string_view role, Shape shape,
                             const Initializer& initializer, std::int64_t fan_in,
                             std::int64_t fan_out) {
  ParameterSpec spec;
  spec.shape = std::move(shape);
  spec.initializer = initializer;
  spec.fan_in = fan_in;
  spec.fan_out = fan_out;
  return add(layer, role, std::move(spec));
}

Value NetworkBuilder::statistic(const std::string& layer, std::string_view role, Shape shape,
                                const Initializer& initializer) {
  ParameterSpec spec;
  spec.shape = std::move(shape);
  spec.initializer = initializer;
  spec.trainable = false;
  return add(layer, role, std::move(spec));
}

bool NetworkBuilder::has_parameter(const std::string& layer, std::string_view role) const {
  const std::string name = fmt::format("{}.{}", layer, role);
  return std::ranges::any_of(network_.parameters,
                             [&](const ParameterSpec& spec) { return spec.name == name; });
}

Value NetworkBuilder::add(const std::string& layer, std::string_view role, ParameterSpec spec) {
  if (!again_.empty()) {
    spec.name = fmt::format("{}{}.{}", weights_, layer.substr(again_.size()), role);
    return shared(spec);
  }
  spec.name = fmt::format("{}.{}", layer, role);
  spec.offset = network_.bytes(spec.trainable);
  require(spec.offset <= kMostBytes, "the weights have too many bytes to address");
  spec.value = graph().add_value(spec.name, {DType::f32, spec.shape},
                                 spec.trainable ? Storage::parameter : Storage::state, spec.offset);
  network_.parameters.push_back(spec);
  return spec.value;
}

Value NetworkBuilder::shared(const ParameterSpec& spec) const {
  const auto first = std::ranges::find(network_.parameters, spec.name, &ParameterSpec::name);
  require(first != network_.parameters.end() && first->trainable == spec.trainable,
          "[block '{}'] expected the weights of the first application; it has no '{}'",
          weights_.substr(0, weights_.size() - 1), spec.name);
  require(first->shape == spec.shape,
          "[block '{}'] expected inputs for the shared weight '{}' of {}; this input needs {}",
          weights_.substr(0, weights_.size() - 1), spec.name, to_string(first->shape),
          to_string(spec.shape));
  return first->value;
}

void fail_on_lengths(std::string_view kind, std::string_view layer, const StepsRule& rule) {
  fail("[{} '{}'] would {}, since it does not use the lengths of sequences: {}", kind, layer,
       rule.padding, rule.instead);
}

}  // namespace linnet
