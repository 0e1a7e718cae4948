// SPDX-License-Identifier: Apache-2.0
#include <linnet/network.h>

#include <map>
#include <nlohmann/json.hpp>

#include "base/check.h"
#include "nn/builder.h"
#include "ops/ops.h"

namespace linnet {
namespace {

using Json = nlohmann::ordered_json;

/// 1, which is still read: one input and one output without a name.
constexpr int kFormat = 2;

std::string operand_name(const NetworkDefinition& network, Value value) {
  const ValueInfo& info = network.graph.info(value);
  if (info.producer < 0) return info.name;
  const Node& node = network.graph.nodes()[static_cast<std::size_t>(info.producer)];
  for (std::size_t i = 0; i < node.outputs.size(); ++i) {
    if (node.outputs[i] == value) return fmt::format("#{}.{}", info.producer, i);
  }
  throw InternalError("a value that its producer does not know");
}

AttributeValue attribute_from(const Json& json) {
  if (json.is_boolean()) return json.get<bool>();
  if (json.is_number_integer()) return json.get<std::int64_t>();
  if (json.is_number()) return json.get<double>();
  if (json.is_string()) return json.get<std::string>();
  const bool integers =
      std::all_of(json.begin(), json.end(), [](const Json& x) { return x.is_number_integer(); });
  if (integers) return json.get<std::vector<std::int64_t>>();
  return json.get<std::vector<double>>();
}

Shape shape_from(const Json& json) {
  const Shape shape(json.get<std::vector<std::int64_t>>());
  double elements = 1;
  for (std::int64_t dim : shape.dims()) {
    require(dim > 0, "the shape {} has an extent below 1", to_string(shape));
    elements *= static_cast<double>(dim);
  }
  require(elements < 0x1p40, "the shape {} is too large", to_string(shape));
  return shape;
}

Value known_value(const std::map<std::string, Value>& known, const Json& json) {
  const auto name = json.get<std::string>();
  const auto found = known.find(name);
  require(found != known.end(), "the operand '{}' is not known", name);
  return found->second;
}

void read_inputs(const Json& json, NetworkBuilder& builder, std::map<std::string, Value>& known) {
  for (const Json& input : json) {
    const auto name = input.at("name").get<std::string>();
    known[name] = builder.add_input(name, shape_from(input.at("shape")),
                                    dtype_from_string(input.at("type").get<std::string>()));
  }
}

void read_parameters(const Json& json, NetworkBuilder& builder,
                     std::map<std::string, Value>& known) {
  for (const Json& p : json) {
    const auto name = p.at("name").get<std::string>();
    const auto dot = name.rfind('.');
    require(dot != std::string::npos && known.count(name) == 0,
            "the parameter name '{}' is not valid", name);
    const Initializer init{static_cast<Initializer::Kind>(p.at("init").get<int>()),
                           p.at("value").get<double>()};
    require(init.kind <= Initializer::Kind::he_normal, "parameter '{}' has an unknown initializer",
            name);
    const std::string layer = name.substr(0, dot);
    const std::string role = name.substr(dot + 1);
    const Shape shape = shape_from(p.at("shape"));
    known[name] = p.at("trainable").get<bool>()
                      ? builder.weight(layer, role, shape, init, p.at("fan_in").get<std::int64_t>(),
                                       p.at("fan_out").get<std::int64_t>())
                      : builder.statistic(layer, role, shape, init);
  }
}

void read_nodes(const Json& json, NetworkBuilder& builder, std::map<std::string, Value>& known) {
  OpRegistry registry;
  register_ops(registry);
  std::size_t index = 0;
  for (const Json& n : json) {
    Attributes attributes;
    for (const auto& [key, value] : n.at("attributes").items()) {
      attributes.emplace_back(key, attribute_from(value));
    }
    std::vector<Value> inputs;
    for (const Json& input : n.at("inputs")) {
      inputs.push_back(known_value(known, input));
    }
    const std::vector<Value> outputs =
        builder.graph().add(registry.read(n.at("op").get<std::string>(), attributes),
                            std::move(inputs), n.at("name").get<std::string>());
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      known[fmt::format("#{}.{}", index, i)] = outputs[i];
    }
    ++index;
  }
}

}  // namespace

std::string Network::to_json() const {
  const NetworkDefinition& network = *definition_;
  Json json;
  json["format"] = kFormat;
  json["inputs"] = Json::array();
  for (const NetworkInput& input : network.inputs) {
    json["inputs"].push_back(
        {{"name", input.name}, {"shape", input.sample.dims()}, {"type", to_string(input.dtype)}});
  }
  json["parameters"] = Json::array();
  for (const ParameterSpec& spec : network.parameters) {
    json["parameters"].push_back({{"name", spec.name},
                                  {"shape", spec.shape.dims()},
                                  {"trainable", spec.trainable},
                                  {"init", static_cast<int>(spec.initializer.kind)},
                                  {"value", spec.initializer.value},
                                  {"fan_in", spec.fan_in},
                                  {"fan_out", spec.fan_out}});
  }
  json["nodes"] = Json::array();
  for (const Node& node : network.graph.nodes()) {
    Json attributes = Json::object();
    for (const auto& [key, value] : node.op->attributes()) {
      std::visit([&, k = key](const auto& v) { attributes[k] = v; }, value);
    }
    Json inputs = Json::array();
    for (Value v : node.inputs) inputs.push_back(operand_name(network, v));
    json["nodes"].push_back({{"op", node.op->name()},
                             {"name", node.name},
                             {"inputs", std::move(inputs)},
                             {"attributes", std::move(attributes)}});
  }
  json["outputs"] = Json::array();
  for (const NetworkOutput& output : network.outputs) {
    json["outputs"].push_back(
        {{"name", output.name}, {"value", operand_name(network, output.value)}});
  }
  return json.dump();
}

Network Network::from_json(const std::string& text) {
  try {
    const Json json = Json::parse(text);
    const int format = json.at("format").get<int>();
    require(format == kFormat || format == 1, "format {} is not known to this version", format);
    auto network = std::make_unique<NetworkDefinition>();
    NetworkBuilder builder(*network);
    std::map<std::string, Value> known;
    if (format == 1) {
      known["input"] = builder.add_input("input", shape_from(json.at("input")), DType::f32);
    } else {
      read_inputs(json.at("inputs"), builder, known);
    }
    read_parameters(json.at("parameters"), builder, known);
    read_nodes(json.at("nodes"), builder, known);
    if (format == 1) {
      network->outputs.push_back({"output", known_value(known, json.at("output"))});
    } else {
      for (const Json& output : json.at("outputs")) {
        network->outputs.push_back(
            {output.at("name").get<std::string>(), known_value(known, output.at("value"))});
      }
    }
    require(!network->inputs.empty() && !network->outputs.empty(),
            "expected at least one input and one output");
    return Network(std::move(network));
  } catch (const Error& error) {
    fail("the network description is damaged: {}", error.what());
  } catch (const Json::exception& error) {
    fail("the network description is damaged: {}", error.what());
  } catch (const InternalError&) {  // an operator met what no builder would have made
    fail("the network description is damaged: an operator does not fit its operands");
  }
}

}  // namespace linnet
