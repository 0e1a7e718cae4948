// SPDX-License-Identifier: Apache-2.0
#include <linnet/network.h>

#include "base/check.h"
#include "nn/builder.h"

namespace linnet {

Network::Network(Shape sample, std::vector<Layer> layers)
    : definition_(std::make_unique<NetworkDefinition>()) {
  require(sample.rank() > 0 && sample.elements() > 0,
          "expected a network input of at least one element; got {}", to_string(sample));
  definition_->input_sample = sample;
  definition_->input =
      definition_->graph.add_value("input", {DType::f32, sample.batched(kTemplateBatch)},
                                   Storage::external);
  definition_->output = definition_->input;
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
  NetworkDefinition grown = *definition_;  // a layer that does not fit leaves the network as it was
  NetworkBuilder builder(grown);
  layer.build(builder);
  *definition_ = std::move(grown);
  return *this;
}

Shape Network::input_shape() const { return definition_->input_sample; }

Shape Network::output_shape() const { return definition_->output_sample(); }

std::int64_t Network::parameters() const {
  std::int64_t count = 0;
  for (const ParameterSpec& spec : definition_->parameters) {
    count += spec.trainable ? spec.shape.elements() : 0;
  }
  return count;
}

}  // namespace linnet
