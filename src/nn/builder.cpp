// SPDX-License-Identifier: Apache-2.0
#include "nn/builder.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "ops/reshape/reshape.h"

namespace linnet {

std::string NetworkBuilder::layer_name(const std::string& wanted, std::string_view kind) {
  const std::string given = wanted.empty() ? std::exchange(next_name_, "") : wanted;
  const std::string name =
      prefix_ + (given.empty() ? fmt::format("{}_{}", kind,
                                             ++network_.kinds[fmt::format("{}{}", prefix_, kind)])
                               : given);
  const auto& nodes = graph().nodes();
  require(std::none_of(nodes.begin(), nodes.end(), [&](const Node& n) { return n.name == name; }),
          "[{} '{}'] another layer has this name", kind, name);
  return name;
}

void NetworkBuilder::build_within(const std::string& scope, std::span<const Layer> layers) {
  const std::string outer = std::exchange(prefix_, scope + ".");
  for (const Layer& layer : layers) build(layer);
  prefix_ = outer;
}

void NetworkBuilder::apply_block(const std::string& name,
                                 const std::shared_ptr<const std::vector<Layer>>& layers) {
  require(!name.empty(), "a block needs a name");
  require(!layers->empty(), "the block '{}' has no layers", name);
  Applied& block = blocks_[name];
  require(block.times == 0 || block.layers == layers,
          "another block of this network is called '{}'", name);
  const std::string scope = block.times == 0 ? name : fmt::format("{}_{}", name, block.times + 1);
  const std::string outer = std::exchange(again_, block.times == 0 ? "" : scope + ".");
  const std::string outer_weights = std::exchange(weights_, name + ".");
  build_within(scope, *layers);
  again_ = outer;
  weights_ = outer_weights;
  block.layers = layers;
  ++block.times;
}

void NetworkBuilder::build(const Layer& layer) {
  const Value before = current();
  const bool has_lengths = network_.lengths.contains(before.id);
  const bool outer = std::exchange(takes_lengths_, false);
  layer.build(*this);
  const bool takes = takes_lengths_;
  takes_lengths_ = takes_lengths_ || outer;
  if (!has_lengths || takes || current() == before) return;
  hand_on_lengths(before, current());
  if (network_.lengths.contains(current().id)) return;
  const Node& last = graph().nodes().back();
  fail(
      "[{} '{}'] mixes the steps of sequences and knows no lengths: a recurrent layer, attention, "
      "GlobalAvgPool1d or GlobalMaxPool1d takes them",
      last.op->name(), last.name);
}

Value NetworkBuilder::lengths() const {
  const auto found = network_.lengths.find(current().id);
  return found == network_.lengths.end() ? Value{} : Value{found->second};
}

void NetworkBuilder::add_lengths() {
  const auto input = std::ranges::find(network_.inputs, current(), &NetworkInput::value);
  require(input != network_.inputs.end(),
          "[lengths] belongs to an input: put it before all other layers");
  const NetworkInput sequences = *input;
  const std::size_t axes = sequences.dtype == DType::i32 ? 1 : 2;
  require(sequences.sample.rank() == axes,
          "[lengths] expected ids (N, T) or sequences (N, T, features); got {} {} for '{}'",
          to_string(sequences.dtype), to_string(graph().shape(sequences.value)), sequences.name);
  const std::string name = sequences.name + kLengths;
  const Value given = add_input(name, {1}, DType::i32);
  const Value lengths =
      graph().emit(ReshapeOp({.shape = {-1}}), {given}, layer_name("", "lengths"));
  network_.lengths[sequences.value.id] = lengths.id;
}

void NetworkBuilder::hand_on_lengths(Value from, Value to) {
  const auto found = network_.lengths.find(from.id);
  if (found == network_.lengths.end() || network_.lengths.contains(to.id)) return;
  const Shape& sequences = graph().shape(to);
  if (sequences.rank() == 3 && sequences[1] == graph().shape(from)[1]) {
    network_.lengths[to.id] = found->second;
  }
}

Value NetworkBuilder::add_input(const std::string& name, const Shape& sample, DType dtype) {
  require(!name.empty(), "a network's input needs a name");
  require(sample.rank() > 0 && sample.elements() > 0,
          "expected a network input of at least one element; got {} for '{}'", to_string(sample),
          name);
  require(dtype == DType::f32 || dtype == DType::i32,
          "expected a network input of f32 or i32; got {} for '{}'", to_string(dtype), name);
  for (const NetworkInput& input : network_.inputs) {
    require(input.name != name, "the network has an input '{}' already", name);
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
  require(spec.offset <= kMostBytes, "the weights are larger than any machine's memory");
  spec.value = graph().add_value(spec.name, {DType::f32, spec.shape},
                                 spec.trainable ? Storage::parameter : Storage::state, spec.offset);
  network_.parameters.push_back(spec);
  return spec.value;
}

Value NetworkBuilder::shared(const ParameterSpec& spec) const {
  const auto first = std::ranges::find(network_.parameters, spec.name, &ParameterSpec::name);
  require(first != network_.parameters.end() && first->trainable == spec.trainable,
          "[block '{}'] the first application made no weight '{}'",
          weights_.substr(0, weights_.size() - 1), spec.name);
  require(first->shape == spec.shape,
          "[block '{}'] all applications share the weight '{}' of {}; this input needs one of {}",
          weights_.substr(0, weights_.size() - 1), spec.name, to_string(first->shape),
          to_string(spec.shape));
  return first->value;
}

}  // namespace linnet
