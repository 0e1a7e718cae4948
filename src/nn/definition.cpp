// SPDX-License-Identifier: Apache-2.0
#include "nn/definition.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/check.h"
#include "base/random.h"
#include "core/align.h"
#include "describe/nearest.h"
#include "ops/random_normal/random_normal.h"
#include "ops/random_uniform/random_uniform.h"

namespace linnet {

std::string batch_named(const std::string& message) {
  std::string named;
  for (std::size_t at = 0; at < message.size();) {
    const std::size_t digits = std::min(message.find_first_of("0123456789", at), message.size());
    named.append(message, at, digits - at);
    at = std::min(message.find_first_not_of("0123456789", digits), message.size());
    std::int64_t number = 0;
    std::from_chars(message.data() + digits, message.data() + at, number);
    const std::int64_t rows = number % kTemplateBatch == 0 ? number / kTemplateBatch : 0;
    if (rows > 1) named += std::to_string(rows);
    if (rows > 0) named += 'N';
    if (rows == 0) named.append(message, digits, at - digits);
  }
  return named;
}

namespace {

/// Returns whether the node reads the number of rows of its operand alone, so that no input is
/// gathered for it.
bool draws(const Node& node) {
  return dynamic_cast<const RandomNormalOp*>(node.op.get()) != nullptr ||
         dynamic_cast<const RandomUniformOp*>(node.op.get()) != nullptr;
}

}  // namespace

bool NetworkDefinition::draws_noise() const { return std::ranges::any_of(graph.nodes(), draws); }

std::optional<std::size_t> NetworkDefinition::sequences_of(std::size_t index) const {
  const NetworkInput& input = inputs[index];
  if (input.dtype != DType::i32 || input.sample != Shape{1} || !input.name.ends_with(kLengths)) {
    return std::nullopt;
  }
  const std::string_view of =
      std::string_view(input.name).substr(0, input.name.size() - std::string_view(kLengths).size());
  const auto found = std::ranges::find(inputs, of, &NetworkInput::name);
  if (found == inputs.end()) return std::nullopt;
  return static_cast<std::size_t>(found - inputs.begin());
}

bool NetworkDefinition::has_lengths() const {
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (sequences_of(i)) return true;
  }
  return false;
}

std::size_t NetworkDefinition::bytes(bool trainable) const {
  // The last one ends where all do; a builder asks for each weight.
  const auto last = std::find_if(parameters.rbegin(), parameters.rend(),
                                 [&](const auto& spec) { return spec.trainable == trainable; });
  if (last == parameters.rend()) return 0;
  // Counted without a ValueType: progress asks while a training runs, which allocates nothing.
  return last->offset + align_up(static_cast<std::size_t>(last->shape.elements()) * sizeof(float)) /
                            sizeof(float) * size_of(last->dtype);
}

NetworkDefinition laid_out(const NetworkDefinition& network, DType numbers) {
  NetworkDefinition made = network;
  made.numbers = numbers;
  for (ParameterSpec& spec : made.parameters) {
    spec.offset = spec.offset / size_of(spec.dtype) * size_of(numbers);
    spec.dtype = numbers;
  }
  return made;
}

const NetworkInput& NetworkDefinition::only_input() const {
  if (inputs.size() == 1) return inputs[0];
  std::vector<std::string> names;
  for (const NetworkInput& input : inputs) names.push_back(input.name);
  fail("expected a network of one input; it has {}: {}", inputs.size(), some_of(names));
}

bool is_frozen(const NetworkDefinition& network, const Node& node,
               const std::vector<bool>& trains) {
  if (trains.empty()) return false;
  bool writes = false;
  for (std::size_t k = 0; k < node.inputs.size(); ++k) writes = writes || node.op->mutates(k);
  bool has_parameters = false;
  for (std::size_t k = 0; writes && k < node.inputs.size(); ++k) {
    for (std::size_t i = 0; i < network.parameters.size(); ++i) {
      const ParameterSpec& spec = network.parameters[i];
      if (!spec.trainable || spec.value != node.inputs[k]) continue;
      if (trains[i]) return false;
      has_parameters = true;
    }
  }
  return has_parameters;
}

NetworkDefinition pruned(const NetworkDefinition& network, const std::vector<bool>& wanted) {
  std::vector<bool> needed(network.graph.value_count(), false);
  const auto need = [&](Value v) { needed[static_cast<std::size_t>(v.id)] = true; };
  const auto is_needed = [&](Value v) -> bool { return needed[static_cast<std::size_t>(v.id)]; };
  NetworkDefinition rest = network;
  for (std::size_t i = 0; i < network.outputs.size(); ++i) {
    if (wanted[i]) {
      need(network.outputs[i].value);
      std::ranges::for_each(network.outputs[i].members, need);
    } else {
      rest.outputs[i] = {network.outputs[i].name, {}};
    }
  }
  const std::vector<Node>& nodes = network.graph.nodes();
  std::vector<bool> keep(nodes.size(), false);
  for (std::size_t i = nodes.size(); i-- > 0;) {
    keep[i] = std::ranges::any_of(nodes[i].outputs, is_needed);
    if (keep[i] && !draws(nodes[i])) std::ranges::for_each(nodes[i].inputs, need);
  }
  rest.graph.erase_nodes([&](std::size_t i) { return !keep[i]; });
  for (const NetworkInput& input : network.inputs) {
    if (!is_needed(input.value)) rest.unneeded_inputs.push_back(input.name);
  }
  std::erase_if(rest.inputs, [&](const NetworkInput& input) { return !is_needed(input.value); });
  return rest;
}

std::vector<Value> add_inputs(const NetworkDefinition& network, Graph& graph, std::int64_t batch) {
  std::vector<Value> inputs;
  for (const NetworkInput& input : network.inputs) {
    inputs.push_back(graph.add_value(input.name, {input.dtype, input.sample.batched(batch)},
                                     Storage::external, inputs.size()));
  }
  return inputs;
}

std::vector<Value> instantiate(const NetworkDefinition& network, Graph& graph,
                               std::span<const Value> x, std::int64_t batch, Mode mode,
                               std::vector<Value>& parameters, const std::vector<bool>& trains,
                               std::vector<std::vector<Value>>* members) {
  LINNET_ASSERT(x.size() == network.inputs.size());
  std::vector<Value> map(network.graph.value_count());
  const auto mapped = [&](Value v) -> Value& { return map[static_cast<std::size_t>(v.id)]; };
  for (std::size_t i = 0; i < x.size(); ++i) {
    const NetworkInput& input = network.inputs[i];
    const ValueType& given = graph.type(x[i]);
    require(given == ValueType{input.dtype, input.sample.batched(batch)},
            "expected samples of {} {} for '{}'; got {}", to_string(input.dtype),
            to_string(input.sample), input.name, to_string(given));
    mapped(input.value) = x[i];
  }
  parameters.clear();
  for (const ParameterSpec& spec : network.parameters) {
    const ValueInfo& info = network.graph.info(spec.value);
    mapped(spec.value) = graph.add_value(spec.name, info.type, info.storage, spec.offset);
    parameters.push_back(mapped(spec.value));
  }
  for_constants(network.graph, [&](Value v, const std::vector<double>& elements) {
    mapped(v) = graph.add_constant(elements);
  });
  for (const Node& node : network.graph.nodes()) {
    const bool at_inference = mode == Mode::inference || is_frozen(network, node, trains);
    const OpPtr op = at_inference ? node.op->at_inference(node.op) : node.op;
    if (op == nullptr) {
      mapped(node.outputs[0]) = mapped(node.inputs[0]);
      continue;
    }
    std::vector<Value> inputs;
    for (Value v : node.inputs) inputs.push_back(mapped(v));
    if (draws(node)) inputs[0] = graph.add_constant({DType::f32, Shape{batch}}, 0);
    const std::vector<Value> outputs = graph.add(op, std::move(inputs), node.name);
    LINNET_ASSERT(outputs.size() <= node.outputs.size());
    for (std::size_t i = 0; i < outputs.size(); ++i) mapped(node.outputs[i]) = outputs[i];
  }
  std::vector<Value> outputs;
  for (std::size_t i = 0; i < network.outputs.size(); ++i) {
    outputs.emplace_back();
    if (members != nullptr) members->emplace_back();
    if (!network.outputs[i].value) continue;
    outputs.back() = mapped(network.outputs[i].value);
    const ValueType wanted{DType::f32, network.output_sample(i).batched(batch)};
    require(graph.type(outputs.back()) == wanted, "expected the output '{}' as {}; got {}",
            network.outputs[i].name, to_string(wanted), to_string(graph.type(outputs.back())));
    if (members == nullptr) continue;
    for (const Value member : network.outputs[i].members) {
      members->back().push_back(mapped(member));
      require(graph.type(mapped(member)) == wanted,
              "expected each member of the output '{}' as {}; got {}", network.outputs[i].name,
              to_string(wanted), to_string(graph.type(mapped(member))));
    }
  }
  return outputs;
}

void check_instances(const NetworkDefinition& network) {
  for (const Node& node : network.graph.nodes()) {
    for (const Value value : node.outputs) {
      require(network.graph.shape(value).elements() > 0,
              "[{} '{}'] expected a result with elements; got {}", node.op->name(), node.name,
              to_string(network.graph.type(value)));
    }
  }
  for (const NetworkOutput& output : network.outputs) {
    const Shape& shape = network.graph.shape(output.value);
    require(shape.rank() >= 1 && shape[0] == kTemplateBatch,
            "expected the output '{}' with the batch as its first axis; got {} at a batch of {}",
            output.name, to_string(shape), kTemplateBatch);
  }
  const auto instance = [&](std::int64_t batch, Mode mode) {
    Graph graph;
    const std::vector<Value> x = add_inputs(network, graph, batch);
    std::vector<Value> parameters;
    instantiate(network, graph, x, batch, mode, parameters);
  };
  for (const std::int64_t batch : {1, 2, 3}) instance(batch, Mode::inference);
  instance(kTemplateBatch + 1, Mode::training);
}

void initialize(const ParameterSpec& spec, std::size_t index, std::uint64_t seed,
                std::vector<float>& values) {
  using Kind = Initializer::Kind;
  const Kind kind = spec.initializer.kind;
  const auto fan_in = static_cast<double>(spec.fan_in);
  const double fan_sum = fan_in + static_cast<double>(spec.fan_out);
  double bound = spec.initializer.value;  // or the std
  if (kind == Kind::glorot_uniform) bound = std::sqrt(6 / fan_sum);
  if (kind == Kind::glorot_normal) bound = std::sqrt(2 / fan_sum);
  if (kind == Kind::he_uniform) bound = std::sqrt(6 / fan_in);
  if (kind == Kind::he_normal) bound = std::sqrt(2 / fan_in);
  const bool normal =
      kind == Kind::normal || kind == Kind::glorot_normal || kind == Kind::he_normal;
  const auto scale = static_cast<float>(bound);

  values.assign(static_cast<std::size_t>(spec.shape.elements()), scale);
  if (kind == Kind::constant) return;
  const std::uint64_t key = random_key(seed, RandomStream::initializer, index);
  for (std::size_t i = 0; i < values.size(); i += 4) {
    const std::array<std::uint32_t, 4> words = philox(key, i / 4, 0);
    std::array<float, 4> drawn;
    if (normal) {
      const std::array<float, 2> first = normal_pair(words[0], words[1]);
      const std::array<float, 2> second = normal_pair(words[2], words[3]);
      drawn = {first[0], first[1], second[0], second[1]};
    } else {
      for (std::size_t k = 0; k < 4; ++k) drawn[k] = 2 * unit_float(words[k]) - 1;
    }
    for (std::size_t k = 0; k < 4 && i + k < values.size(); ++k) values[i + k] = scale * drawn[k];
  }
}

}  // namespace linnet
