// SPDX-License-Identifier: Apache-2.0
#include "nn/builder.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

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
  for (const Layer& layer : layers) layer.build(*this);
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
