// SPDX-License-Identifier: Apache-2.0
#include <linnet/network.h>

#include "base/check.h"
#include "nn/builder.h"

namespace linnet {

Network::Network(Shape sample, std::vector<Layer> layers, DType dtype)
    : definition_(std::make_unique<NetworkDefinition>()) {
  NetworkBuilder builder(*definition_);
  definition_->outputs.push_back({"output", builder.add_input("input", sample, dtype)});
  for (const Layer& layer : layers) add(layer);
}

Network::Network(std::unique_ptr<NetworkDefinition> definition)
    : definition_(std::move(definition)) {}
Network::Network(const Network& other)
    : definition_(std::make_unique<NetworkDefinition>(*other.definition_)) {}
Network& Network::operator=(const Network& other) {
  *definition_ = *other.definition_;
  return *this;
}
Network::Network(Network&&) noexcept = default;
Network& Network::operator=(Network&&) noexcept = default;
Network::~Network() = default;

Network& Network::add(const Layer& layer) {
  require(definition_->outputs.size() == 1,
          "layers can be added to a network of one output; this one has {}",
          definition_->outputs.size());
  NetworkDefinition grown = *definition_;  // a layer that does not fit leaves the network as it was
  NetworkBuilder builder(grown);
  with_batch_named([&] { layer.build(builder); });
  *definition_ = std::move(grown);
  return *this;
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
