// SPDX-License-Identifier: Apache-2.0
#include <linnet/network.h>

#include <cmath>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>
#include <variant>

#include "base/check.h"
#include "base/json.h"
#include "base/utf8.h"
#include "core/dims.h"
#include "describe/setting_json.h"
#include "nn/builder.h"
#include "nn/custom_operator.h"
#include "nn/layer_fields.h"
#include "nn/layer_records.h"
#include "ops/ops.h"

namespace linnet {
namespace {

using Json = nlohmann::ordered_json;  // as it is written
using Parsed = nlohmann::json;        // finds a name without looking at all

/// Older formats are read. Format 3 is written where the network has no constants and no members;
/// 2 had no record of the layers, and initializers by number; 1 had one input and one output
/// without a name, too.
constexpr int kFormat = 4;
// Layers may lie in layers; all else is a network, its nodes, a node, its attributes, a list.
constexpr std::size_t kMaxDepth = 64;
constexpr std::size_t kMostPorts = 256;  // inputs, outputs, and an output's members

using Known = std::map<std::string, Value, std::less<>>;

std::string operand_name(const NetworkDefinition& network, Value value) {
  const ValueInfo& info = network.graph.info(value);
  if (info.storage == Storage::constant) {
    int before = 0;
    for_constants(network.graph, [&](Value other, const auto&) { before += other.id < value.id; });
    return fmt::format("={}", before);
  }
  if (info.producer < 0) return info.name;
  const Node& node = network.graph.nodes()[static_cast<std::size_t>(info.producer)];
  for (std::size_t i = 0; i < node.outputs.size(); ++i) {
    if (node.outputs[i] == value) return fmt::format("#{}.{}", info.producer, i);
  }
  throw InternalError("expected an output of its producer");
}

/// Returns a whole number that fits; the library would wrap a larger one around.
std::int64_t integer_from(const Parsed& json) {
  if (!json.is_number_integer() ||
      (json.is_number_unsigned() && !std::in_range<std::int64_t>(json.get<std::uint64_t>()))) {
    fail<DataError>("expected a whole number below 2^63; got {}", json.dump());
  }
  return json.get<std::int64_t>();
}

std::vector<std::int64_t> integers_from(const Parsed& json) {
  require<DataError>(json.is_array(), "expected a list of whole numbers; got a {}",
                     json.type_name());
  std::vector<std::int64_t> numbers;
  for (const Parsed& number : json) numbers.push_back(integer_from(number));
  return numbers;
}

/// JSON has no infinities: they are these texts, which no enumeration of an operator's uses. A NaN
/// is not a setting and is refused.
constexpr std::string_view kInfinity = "inf";
constexpr std::string_view kMinusInfinity = "-inf";

Json json_of(double number, std::string_view owner) {
  require(!std::isnan(number), "'{}' has a setting that is NaN", owner);
  if (std::isinf(number)) return number > 0 ? kInfinity : kMinusInfinity;
  return number;
}

double number_from(const Parsed& json) {
  if (json == kInfinity) return std::numeric_limits<double>::infinity();
  if (json == kMinusInfinity) return -std::numeric_limits<double>::infinity();
  return json.get<double>();
}

Json json_of(const AttributeValue& value, std::string_view owner) {
  if (const auto* number = std::get_if<double>(&value)) return json_of(*number, owner);
  if (const auto* numbers = std::get_if<std::vector<double>>(&value)) {
    Json array = Json::array();
    for (const double number : *numbers) array.push_back(json_of(number, owner));
    return array;
  }
  return std::visit([](const auto& v) { return Json(v); }, value);
}

/// Names go into JSON, which is UTF-8.
const std::string& utf8(const std::string& name) {
  require(is_utf8(name), "the name '{}' in a network is not UTF-8, which a model file needs",
          escaped(name));
  return name;
}

AttributeValue attribute_from(const Parsed& json) {
  if (json.is_boolean()) return json.get<bool>();
  if (json.is_number_integer()) return integer_from(json);
  if (json.is_number()) return json.get<double>();
  if (json == kInfinity || json == kMinusInfinity) return number_from(json);
  if (json.is_string()) return json.get<std::string>();
  const bool integers =
      std::all_of(json.begin(), json.end(), [](const Parsed& x) { return x.is_number_integer(); });
  if (integers) return integers_from(json);
  std::vector<double> numbers;
  for (const Parsed& number : json) numbers.push_back(number_from(number));
  return numbers;
}

Shape shape_from(const Parsed& json) {
  const Shape shape(integers_from(json));
  double elements = 1;
  for (std::int64_t dim : shape.dims()) {
    require<DataError>(dim > 0, "the shape {} has a dimension below 1", to_string(shape));
    elements *= static_cast<double>(dim);
  }
  require<DataError>(elements < 0x1p40, "the shape {} is too large", to_string(shape));
  return shape;
}

void add_known(Known& known, const std::string& name, Value value) {
  require<DataError>(known.emplace(name, value).second, "two values are named '{}'", name);
}

Value known_value(const Known& known, const Parsed& json) {
  const auto& name = json.get_ref<const std::string&>();
  const auto found = known.find(name);
  require<DataError>(found != known.end(), "the operand '{}' is unknown", name);
  return found->second;
}

/// A network has few of them; each costs a look at every operator when memory is bound.
void require_few(const Parsed& json, std::string_view what) {
  require<DataError>(json.size() <= kMostPorts, "expected at most {} {}; got {}", kMostPorts, what,
                     json.size());
}

void read_inputs(const Parsed& json, NetworkBuilder& builder, Known& known) {
  require_few(json, "inputs");
  for (const Parsed& input : json) {
    const auto name = input.at("name").get<std::string>();
    add_known(known, name,
              builder.add_input(name, shape_from(input.at("shape")),
                                dtype_from_string(input.at("type").get<std::string>())));
  }
}

/// Numbers that operators read and no training changes.
void read_constants(const Parsed& json, NetworkBuilder& builder, Known& known) {
  for (const Parsed& constant : json) {
    const auto name = constant.at("name").get<std::string>();
    std::vector<double> numbers;
    for (const Parsed& number : constant.at("values")) {
      numbers.push_back(number_from(number));
      require<DataError>(std::isfinite(numbers.back()), "the constant '{}' is not finite", name);
    }
    require<DataError>(!numbers.empty(), "the constant '{}' is empty", name);
    add_known(known, name, builder.graph().add_constant(std::move(numbers)));
  }
}

void read_members(const Parsed& json, const Known& known, const Graph& graph,
                  NetworkOutput& output) {
  require_few(json, "members");
  for (const Parsed& member : json) {
    const Value value = known_value(known, member);
    require<DataError>(graph.type(value) == graph.type(output.value),
                       "expected members of {} for the output '{}'; got {}",
                       to_string(graph.type(output.value)), output.name,
                       to_string(graph.type(value)));
    output.members.push_back(value);
  }
}

/// "folds" of members that hold out samples, and "shares" of members that are not alike.
void read_folds(const Parsed& json, NetworkOutput& output) {
  if (json.contains("folds")) output.folds = integer_from(json.at("folds"));
  require<DataError>(output.folds >= 1 && std::ssize(output.members) % output.folds == 0,
                     "expected folds that divide the {} members of the output '{}'; got {}",
                     output.members.size(), output.name, output.folds);
  if (!json.contains("shares")) return;
  output.shares = json.at("shares").get<std::vector<double>>();
  const bool usable = std::ranges::all_of(output.shares, [](double share) {
    return std::isfinite(share) && share > 0;
  });
  require<DataError>(usable && output.shares.size() == output.members.size(),
                     "expected a share above 0 of each of the {} members of the output '{}'",
                     output.members.size(), output.name);
}

/// "lengths": of outputs that are sequences and have them, for layers that are added.
void read_outputs(const Parsed& json, const Known& known, NetworkDefinition& network) {
  std::vector<NetworkOutput>& outputs = network.outputs;
  require_few(json, "outputs");
  for (const Parsed& output : json) {
    const auto name = output.at("name").get<std::string>();
    require<DataError>(std::none_of(outputs.begin(), outputs.end(),
                                    [&](const NetworkOutput& other) { return other.name == name; }),
                       "two outputs are named '{}'", name);
    outputs.push_back({name, known_value(known, output.at("value"))});
    if (output.contains("members")) {
      read_members(output.at("members"), known, network.graph, outputs.back());
      read_folds(output, outputs.back());
    }
    if (!output.contains("lengths")) continue;
    const Value lengths = known_value(known, output.at("lengths"));
    require<DataError>(network.graph.type(lengths) ==
                               ValueType{DType::i32, Shape{kTemplateBatch}} &&
                           network.graph.shape(outputs.back().value).rank() >= 2,
                       "the lengths of the output '{}' do not belong to sequences", name);
    network.lengths[outputs.back().value.id] = lengths.id;
  }
}

Initializer initializer_from(const Parsed& parameter, const std::string& name) {
  const Parsed& given = parameter.at("init");
  const double value = number_from(parameter.at("value"));
  if (given.is_string()) return {initializer_kind(given.get_ref<const std::string&>()), value};
  const std::int64_t kind = integer_from(given);  // formats 1 and 2
  require<DataError>(kind >= 0 && kind <= static_cast<std::int64_t>(Initializer::Kind::he_normal),
                     "parameter '{}' has an unknown initializer", name);
  return {static_cast<Initializer::Kind>(kind), value};
}

void read_parameters(const Parsed& json, NetworkBuilder& builder, Known& known) {
  for (const Parsed& p : json) {
    const auto name = p.at("name").get<std::string>();
    const auto dot = name.rfind('.');
    require<DataError>(dot != std::string::npos && known.count(name) == 0,
                       "the parameter name '{}' is not valid", name);
    const Initializer init = initializer_from(p, name);
    const std::string layer = name.substr(0, dot);
    const std::string role = name.substr(dot + 1);
    const Shape shape = shape_from(p.at("shape"));
    add_known(known, name,
              p.at("trainable").get<bool>()
                  ? builder.weight(layer, role, shape, init, integer_from(p.at("fan_in")),
                                   integer_from(p.at("fan_out")))
                  : builder.statistic(layer, role, shape, init));
  }
}

void read_nodes(const Parsed& json, const OperatorReaders& operators, NetworkBuilder& builder,
                Known& known) {
  std::size_t index = 0;
  for (const Parsed& n : json) {
    Attributes attributes;
    for (const auto& [key, value] : n.at("attributes").items()) {
      attributes.emplace_back(key, attribute_from(value));
    }
    std::vector<Value> inputs;
    for (const Parsed& input : n.at("inputs")) {
      inputs.push_back(known_value(known, input));
    }
    const auto& name = n.at("op").get_ref<const std::string&>();
    OpPtr op = name.find('.') == std::string::npos ? all_ops().read_of_network(name, attributes)
                                                   : read_custom_op(name, attributes, operators);
    const std::vector<Value> outputs =
        builder.graph().add(std::move(op), std::move(inputs), n.at("name").get<std::string>());
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      add_known(known, fmt::format("#{}.{}", index, i), outputs[i]);
    }
    ++index;
  }
}

void read_records(const Parsed& json, NetworkDefinition& network) {
  require(json.is_array(), "expected a list of layers; got a {}", json.type_name());
  for (const Parsed& record : json) {
    network.layers.push_back(checked_record(setting_from(record)));
  }
}

}  // namespace

std::string Network::to_json() const {
  const NetworkDefinition& network = *definition_;
  Json json;
  json["format"] = kFormat - 1;
  json["inputs"] = Json::array();
  for (const NetworkInput& input : network.inputs) {
    json["inputs"].push_back({{"name", utf8(input.name)},
                              {"shape", dims_of(input.sample)},
                              {"type", to_string(input.dtype)}});
  }
  json["parameters"] = Json::array();
  for (const ParameterSpec& spec : network.parameters) {
    json["parameters"].push_back({{"name", utf8(spec.name)},
                                  {"shape", dims_of(spec.shape)},
                                  {"trainable", spec.trainable},
                                  {"init", name_of(spec.initializer.kind)},
                                  {"value", json_of(spec.initializer.value, spec.name)},
                                  {"fan_in", spec.fan_in},
                                  {"fan_out", spec.fan_out}});
  }
  for_constants(network.graph, [&](Value v, const std::vector<double>& elements) {
    json["constants"].push_back({{"name", operand_name(network, v)}, {"values", elements}});
    json["format"] = kFormat;
  });
  json["nodes"] = Json::array();
  for (const Node& node : network.graph.nodes()) {
    Json attributes = Json::object();
    for (const auto& [key, value] : node.op->attributes()) {
      attributes[key] = json_of(value, node.name);
    }
    Json inputs = Json::array();
    for (Value v : node.inputs) inputs.push_back(operand_name(network, v));
    json["nodes"].push_back({{"op", node.op->name()},
                             {"name", utf8(node.name)},
                             {"inputs", std::move(inputs)},
                             {"attributes", std::move(attributes)}});
  }
  json["outputs"] = Json::array();
  for (const NetworkOutput& output : network.outputs) {
    json["outputs"].push_back(
        {{"name", utf8(output.name)}, {"value", operand_name(network, output.value)}});
    for (const Value member : output.members) {
      json["outputs"].back()["members"].push_back(operand_name(network, member));
      json["format"] = kFormat;
    }
    if (output.holds_out()) json["outputs"].back()["folds"] = output.folds;
    if (!output.shares.empty()) json["outputs"].back()["shares"] = output.shares;
    const auto lengths = network.lengths.find(output.value.id);
    if (lengths == network.lengths.end()) continue;
    json["outputs"].back()["lengths"] = operand_name(network, {lengths->second});
  }
  json["layers"] = Json::array();
  for (const Setting& record : network.layers) {
    json["layers"].push_back(json_of(record, kMaxDepth - 3));  // below the network and the list
  }
  return json.dump();
}

Network Network::from_json(const std::string& text, const OperatorReaders& operators) {
  try {
    const Parsed json = parse_json<Parsed>(text, kMaxDepth, "it");
    const std::int64_t format = integer_from(json.at("format"));
    require<DataError>(format >= 1 && format <= kFormat, "its format {} is unknown to this version",
                       format);
    auto network = std::make_unique<NetworkDefinition>();
    NetworkBuilder builder(*network);
    Known known;
    if (format == 1) {
      add_known(known, "input",
                builder.add_input("input", shape_from(json.at("input")), DType::f32));
    } else {
      read_inputs(json.at("inputs"), builder, known);
    }
    read_parameters(json.at("parameters"), builder, known);
    if (json.contains("constants")) read_constants(json.at("constants"), builder, known);
    read_nodes(json.at("nodes"), operators, builder, known);
    if (format == 1) {
      network->outputs.push_back({"output", known_value(known, json.at("output"))});
    } else {
      read_outputs(json.at("outputs"), known, *network);
    }
    if (format >= 3) read_records(json.at("layers"), *network);
    require<DataError>(!network->inputs.empty() && !network->outputs.empty(),
                       "expected at least one input and one output");
    check_instances(*network);
    return Network(std::move(network));
  } catch (const Error& error) {
    fail<DataError>("the network description is damaged: {}", batch_named(error.what()));
  } catch (const Parsed::exception& error) {
    fail<DataError>("the network description is damaged: {}", error.what());
  } catch (const InternalError&) {  // an operator met what no builder would have made
    fail<DataError>("the network description is damaged: an operator does not fit its operands");
  }
}

}  // namespace linnet
