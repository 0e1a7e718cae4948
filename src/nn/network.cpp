// SPDX-License-Identifier: Apache-2.0
#include <linnet/network.h>

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "nn/builder.h"
#include "nn/heads.h"
#include "nn/layer_records.h"
#include "nn/views.h"

namespace linnet {
namespace {

/// Returns whether a layer, or a weight, is a part of `layer`.
bool is_of(const std::string& name, const std::string& layer) {
  return name == layer || name.starts_with(layer + ".");
}

bool reads(const Node& node, const ParameterSpec& spec) {
  return std::ranges::find(node.inputs, spec.value) != node.inputs.end();
}

std::string owner_of(const ParameterSpec& spec) {
  return spec.name.substr(0, spec.name.rfind('.'));
}

/// Throws Error unless the last node that reads a weight is a part of `layer`.
void check_is_last(const NetworkDefinition& network, const std::string& layer) {
  const std::string last = last_weighted_layer(network);
  if (is_of(last, layer)) return;
  for (const Node& node : network.graph.nodes()) {
    if (is_of(node.name, layer)) continue;
    for (const ParameterSpec& spec : network.parameters) {
      require(!is_of(owner_of(spec), layer) || !reads(node, spec),
              "'{}' cannot be replaced: '{}' has the same weights", layer, node.name);
    }
  }
  fail("'{}' is not the last layer with weights; that is '{}'", layer, last);
}

/// Returns, by value, whether it depends on the inputs.
std::vector<bool> of_samples(const NetworkDefinition& network) {
  std::vector<bool> of(network.graph.value_count());
  const auto is = [&](Value v) { return of[static_cast<std::size_t>(v.id)]; };
  for (const NetworkInput& input : network.inputs) {
    of[static_cast<std::size_t>(input.value.id)] = true;
  }
  for (const Node& node : network.graph.nodes()) {
    if (std::ranges::none_of(node.inputs, is)) continue;
    for (const Value output : node.outputs) of[static_cast<std::size_t>(output.id)] = true;
  }
  return of;
}

}  // namespace

std::string last_weighted_layer(const NetworkDefinition& network) {
  const std::vector<Node>& nodes = network.graph.nodes();
  for (auto node = nodes.rbegin(); node != nodes.rend(); ++node) {
    for (const ParameterSpec& spec : network.parameters) {
      if (!reads(*node, spec)) continue;
      const std::string owner = owner_of(spec);
      return is_of(node->name, owner) ? owner : node->name;
    }
  }
  return "";
}

std::vector<bool> replaced_parameters(const NetworkDefinition& network, const std::string& layer) {
  std::vector<bool> replaced;
  for (const ParameterSpec& spec : network.parameters) {
    bool is = is_of(owner_of(spec), layer);
    bool others = false;
    for (const Node& node : network.graph.nodes()) {
      if (!reads(node, spec)) continue;
      (is_of(node.name, layer) ? is : others) = true;
    }
    replaced.push_back(is && !others);
  }
  return replaced;
}

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
  grown.outputs.front().forget_members();  // the new layer learns by the whole
  *definition_ = std::move(grown);
  return *this;
}

Network Network::with_views(const TestViews& views) const {
  return Network(std::make_unique<NetworkDefinition>(linnet::with_views(*definition_, views)));
}

Network Network::without_views() const {
  return Network(std::make_unique<NetworkDefinition>(linnet::without_views(*definition_)));
}

std::optional<TestViews> Network::views() const { return views_of(*definition_); }

Network Network::with_head(const std::string& layer, const Layer& head) const {
  const NetworkDefinition& from = *definition_;
  check_is_last(from, layer);
  const std::vector<bool> replaces = replaced_parameters(from, layer);
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
  for (std::size_t i = 0; i < from.parameters.size(); ++i) {
    if (replaces[i]) continue;
    const ParameterSpec& spec = from.parameters[i];
    const std::string owner = owner_of(spec);
    const std::string role = spec.name.substr(owner.size() + 1);
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
  const auto add_head = [&](Value x) {
    carry_lengths();
    builder.set_current(mapped(x));
    builder.name_next(layer);
    const std::size_t others = made->layers.size();
    builder.build(head);
    if (made->layers.size() <= others) return;
    const Setting record = std::move(made->layers.back());
    made->layers.resize(others);
    replace_record(made->layers, layer, record);
  };
  const std::vector<bool> depends = of_samples(from);
  const auto is_of_samples = [&](Value v) { return depends[static_cast<std::size_t>(v.id)]; };
  bool replaced = false;
  with_batch_named([&] {
    for (const Node& node : from.graph.nodes()) {
      if (is_of(node.name, layer)) {
        const auto x = std::ranges::find_if(node.inputs, is_of_samples);
        if (x == node.inputs.end()) continue;  // computed of weights alone
        if (!std::exchange(replaced, true)) add_head(*x);
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
    output.forget_members();  // the new layer learns by the whole
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
