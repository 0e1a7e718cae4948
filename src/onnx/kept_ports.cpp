// SPDX-License-Identifier: Apache-2.0
#include "onnx/kept_ports.h"

#include <algorithm>

#include "base/json.h"

namespace linnet::onnx {
namespace {

constexpr std::string_view kWhat =
    "what the model keeps of the inputs and outputs of its ONNX file";

nlohmann::json json_of(const std::vector<OnnxPort>& ports) {
  nlohmann::json all = nlohmann::json::array();
  for (const OnnxPort& port : ports) {
    // A file without a batch axis gets one.
    std::vector<int> axes = {std::max(port.batch, 0)};
    for (const int axis : port.axes) {
      if (axis >= 0) axes.push_back(axis + (port.batch < 0 ? 1 : 0));
    }
    all.push_back({{"name", port.name}, {"type", port.type}, {"axes", axes}});
  }
  return all;
}

std::vector<KeptPort> ports_from(const nlohmann::json& all) {
  std::vector<KeptPort> ports;
  for (const nlohmann::json& port : all) {
    ports.push_back({port.at("name").get<std::string>(),
                     type_named(port.at("type").get<std::string>()),
                     port.at("axes").get<std::vector<std::int64_t>>()});
    std::vector<std::int64_t> sorted = ports.back().axes;
    std::ranges::sort(sorted);
    require<DataError>(!sorted.empty(), "{} is damaged", kWhat);
    for (std::size_t i = 0; i < sorted.size(); ++i) {
      require<DataError>(sorted[i] == static_cast<std::int64_t>(i), "{} is damaged", kWhat);
    }
  }
  return ports;
}

}  // namespace

std::string to_json(const std::vector<OnnxPort>& inputs, const std::vector<OnnxPort>& outputs) {
  return nlohmann::json{{"inputs", json_of(inputs)}, {"outputs", json_of(outputs)}}.dump();
}

KeptPorts kept_ports(const std::string& json) {
  if (json.empty()) return {};
  try {
    const auto all = parse_json<nlohmann::json>(json, 4, kWhat);
    return {ports_from(all.at("inputs")), ports_from(all.at("outputs"))};
  } catch (const nlohmann::json::exception&) {
    fail<DataError>("{} is damaged", kWhat);
  }
}

std::vector<std::string> names_from(std::string_view json) {
  try {
    return json_or_null<nlohmann::json>(json, 1).get<std::vector<std::string>>();
  } catch (const nlohmann::json::exception&) {
    return {};
  }
}

}  // namespace linnet::onnx
