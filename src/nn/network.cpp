// SPDX-License-Identifier: Apache-2.0
#include <linnet/network.h>

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "nn/builder.h"
#include "nn/layer_records.h"
#include "nn/views.h"

namespace linnet {
namespace {

/// Returns whether a layer, or a weight, is a part of `layer`.
bool is_of(const std::string& name, const std::string& layer) {
  return name == layer || name.starts_with(layer + ".");
}

/// Returns the layer of the last node that reads a weight; "" if none does.
std::string last_layer_with_weights(const NetworkDefinition& network) {
  for (auto node = network.graph.nodes().rbegin(); node != network.graph.nodes().rend(); ++node) {
    for (const ParameterSpec& spec : network.parameters) {
      if (std::ranges::find(node->inputs, spec.value) == node->inputs.end()) continue;
      return spec.name.substr(0, spec.name.rfind('.'));
    }
  }
  return "";
}

}  // namespace

Network::Network(Shape sample, std::vector<Layer> layers, DType dtype)
    : definition_(std::make_unique<NetworkDefinition>()) {
  NetworkBuilder builder(*definition_);
  definition_->outputs.push_back({"output", builder.add_input("input", sample, dtype)});
  for (const Layer& layer : layers) add(layer);
}

Network::Network(std::unique_ptr<NetworkDefinition> definition)
    : definition_(std::move(definition)) {}
Network::Network(const Network& other)
    : definition_(other.definition_ == nullptr
                      ? nullptr
                      : std::make_unique<NetworkDefinition>(*other.definition_)) {}
Network& Network::operator=(const Network& other) { return *this = Network(other); }
Network::Network(Network&&) noexcept = default;
Network& Network::operator=(Network&&) noexcept = default;
Network::~Network() = default;

Network& Network::add(const Layer& layer) {
  require(definition_->outputs.size() == 1,
          "expected a network of one output to add a layer; it has {}",
          definition_->outputs.size());
  NetworkDefinition grown = *definition_;  // a layer that does not fit leaves the network as it was
  NetworkBuilder builder(grown);
  with_batch_named([&] { builder.build(layer); });
  grown.outputs.front().members.clear();  // the new layer learns by the whole
  *definition_ = std::move(grown);
  return *this;
}

Network Network::with_views(const TestViews& views) const {
  return Network(std::make_unique<NetworkDefinition>(linnet::with_views(*definition_, views)));
}

Network Network::with_head(const std::string& layer, const Layer& head) const {
  const NetworkDefinition& from = *definition_;
  const std::string last = last_layer_with_weights(from);
  require(is_of(last, layer), "'{}' is not the last layer with weights; that is '{}'", layer, last);
  auto made = std::make_unique<NetworkDefinition>();
  made->kinds = from.kinds;
  made->layers = from.layers;
  made->outputs.emplace_back();  // where the builder keeps the current value
  NetworkBuilder builder(*made);
  std::vector<Value> map(from.graph.value_count());
  const auto mapped = [&](Value v) -> Value& { return map[static_cast<std::size_t>(v.id)]; };
  for (const NetworkInput& input : from.inputs) {
    mapped(input.value) = builder.add_input(input.name, input.sample, input.dtype);
  }
  for_constants(from.graph, [&](Value v, const std::vector<double>& elements) {
    mapped(v) = builder.graph().add_constant(elements);
  });
  for (const ParameterSpec& spec : from.parameters) {
    const std::size_t dot = spec.name.rfind('.');
    const std::string owner = spec.name.substr(0, dot);
    if (is_of(owner, layer)) continue;
    const std::string role = spec.name.substr(dot + 1);
    mapped(spec.value) =
        spec.trainable
            ? builder.weight(owner, role, spec.shape, spec.initializer, spec.fan_in, spec.fan_out)
            : builder.statistic(owner, role, spec.shape, spec.initializer);
  }
  const auto carry_lengths = [&] {
    for (const auto& [sequences, lengths] : from.lengths) {
      const Value to = mapped(Value{sequences});
      if (to && mapped(Value{lengths})) made->lengths.emplace(to.id, mapped(Value{lengths}).id);
    }
  };
  const auto add_head = [&](const Node& first) {
    carry_lengths();
    builder.set_current(mapped(first.inputs.front()));
    builder.name_next(layer);
    const std::size_t others = made->layers.size();
    builder.build(head);
    if (made->layers.size() <= others) return;
    const Setting record = std::move(made->layers.back());
    made->layers.resize(others);
    replace_record(made->layers, layer, record);
  };
  bool replaced = false;
  with_batch_named([&] {
    for (const Node& node : from.graph.nodes()) {
      if (is_of(node.name, layer)) {
        if (!std::exchange(replaced, true)) add_head(node);
        for (const Value output : node.outputs) mapped(output) = builder.current();
        continue;
      }
      std::vector<Value> inputs;
      for (const Value input : node.inputs) {
        inputs.push_back(mapped(input));
        require(static_cast<bool>(inputs.back()),
                "'{}' cannot be replaced: '{}' has the same weights", layer, node.name);
      }
      const std::vector<Value> outputs = builder.copy(node, std::move(inputs));
      for (std::size_t i = 0; i < outputs.size(); ++i) mapped(node.outputs[i]) = outputs[i];
    }
  });
  carry_lengths();
  made->outputs = from.outputs;
  for (NetworkOutput& output : made->outputs) {
    output.value = mapped(output.value);
    output.members.clear();  // the new layer learns by the whole
  }
  return Network(std::move(made));
}

Shape Network::input_shape() const { return definition_->inputs[0].sample; }

Shape Network::output_shape() const { return definition_->output_sample(); }

std::vector<std::string> Network::input_names() const {
  std::vector<std::string> names;
  for (const NetworkInput& input : definition_->inputs) names.push_back(input.name);
  return names;
}

std::vector<std::string> Network::output_names() const {
  std::vector<std::string> names;
  for (const NetworkOutput& output : definition_->outputs) names.push_back(output.name);
  return names;
}

std::int64_t Network::parameters() const {
  std::int64_t count = 0;
  for (const ParameterSpec& spec : definition_->parameters) {
    count += spec.trainable ? spec.shape.elements() : 0;
  }
  return count;
}

}  // namespace linnet
