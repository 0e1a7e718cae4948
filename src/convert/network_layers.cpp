// SPDX-License-Identifier: Apache-2.0
#include "convert/network_layers.h"

#include <algorithm>

#include "nn/layers/volumes.h"
#include "ops/conv2d/conv2d.h"
#include "ops/dense/dense.h"
#include "ops/gather/gather.h"
#include "ops/recurrent/recurrent.h"
#include "ops/reshape/reshape.h"

namespace linnet {
namespace {

template <class O>
const O* as(const Node& node) {
  return dynamic_cast<const O*>(node.op.get());
}

/// Returns the images, or volumes, whose pixels are the dense layer's features; of rank 0 without
/// any.
Shape flattened_before(const Graph& graph, const Node& dense) {
  const Value x = dense.inputs[DenseOp::In::x];
  const Node* before = graph.producer(x);
  if (before == nullptr || as<ReshapeOp>(*before) == nullptr) return {};
  const Shape& from = graph.shape(before->inputs[0]);
  // A layer on each pixel has a reshape before it, too.
  const bool is_grid = from.rank() == 4 || from.rank() == 5;
  const bool whole = is_grid && from.sample().elements() == graph.shape(x)[-1];
  return whole ? from.sample() : Shape{};
}

/// Finds out what reads the weights of a layer.
void classify(const Graph& graph, const Node& node, WeightLayer& layer) {
  using Kind = WeightLayer::Kind;
  if (as<Conv2dOp>(node) != nullptr) {
    layer.kind = Kind::conv;
    if (const auto planes = covered_planes(graph, node)) layer.planes = planes->count;
  } else if (as<DenseOp>(node) != nullptr) {
    layer.kind = Kind::dense;
    layer.flattened = flattened_before(graph, node);
  } else if (as<GatherOp>(node) != nullptr) {
    layer.kind = Kind::embedding;
  } else if (const auto* recurrent = as<RecurrentOp>(node)) {
    if (recurrent->attrs().cell == Cell::gru) layer.kind = Kind::gru;
    if (recurrent->attrs().cell == Cell::lstm) layer.kind = Kind::lstm;
  }
}

}  // namespace

std::vector<WeightLayer> weight_layers(const NetworkDefinition& network) {
  std::vector<WeightLayer> layers;
  std::map<int, std::size_t> layer_of;  // by the id of a weight's value
  std::map<std::string, std::size_t> known;
  for (const ParameterSpec& spec : network.parameters) {
    const std::size_t dot = spec.name.rfind('.');
    const std::string name = spec.name.substr(0, dot);
    const auto [place, added] = known.emplace(name, layers.size());
    if (added) layers.push_back({.name = name});
    WeightLayer& layer = layers[place->second];
    layer.roles.push_back(spec.name.substr(dot + 1));
    layer.weights[layer.roles.back()] = spec.shape;
    layer_of[spec.value.id] = place->second;
  }
  bool first = true;
  for (const Node& node : network.graph.nodes()) {
    for (const Value input : node.inputs) {
      const auto found = layer_of.find(input.id);
      if (found == layer_of.end()) continue;
      WeightLayer& layer = layers[found->second];
      classify(network.graph, node, layer);
      if (layer.kind == WeightLayer::Kind::conv && first) {
        layer.first_conv = true;
        first = false;
      }
    }
  }
  for (WeightLayer& layer : layers) {
    if (layer.has("running_mean")) layer.kind = WeightLayer::Kind::norm;
  }
  return layers;
}

Bottlenecks bottlenecks_of(const NetworkDefinition& network) {
  const auto conv_named = [&](std::string_view name) -> const Conv2dOp* {
    for (const Node& node : network.graph.nodes()) {
      if (node.name == name && as<Conv2dOp>(node) != nullptr) return as<Conv2dOp>(node);
    }
    return nullptr;
  };
  const Conv2dOp* first = conv_named("layer2.0.conv1");
  if (first == nullptr || conv_named("layer2.0.conv3") == nullptr) return Bottlenecks::none;
  return first->attrs().stride_h > 1 ? Bottlenecks::stride_first : Bottlenecks::stride_second;
}

}  // namespace linnet
