// SPDX-License-Identifier: Apache-2.0
#include "onnx/kept_inputs.h"

#include <algorithm>

#include "base/json.h"

namespace linnet::onnx {

std::string to_json(const std::vector<OnnxPort>& inputs) {
  nlohmann::json all = nlohmann::json::array();
  for (const OnnxPort& input : inputs) {
    std::vector<int> axes = input.axes;
    if (axes == std::vector{-1}) axes.clear();
    if (input.batch < 0) {
      for (int& axis : axes) ++axis;
    }
    all.push_back({{"name", input.name}, {"type", input.type}, {"axes", axes}});
  }
  return all.dump();
}

std::vector<KeptInput> kept_inputs(const std::string& json) {
  std::vector<KeptInput> inputs;
  if (json.empty()) return inputs;
  constexpr std::string_view kWhat = "what the model keeps of the inputs of its ONNX file";
  try {
    for (const nlohmann::json& input : parse_json<nlohmann::json>(json, 3, kWhat)) {
      inputs.push_back({input.at("name").get<std::string>(),
                        type_named(input.at("type").get<std::string>()),
                        input.at("axes").get<std::vector<int>>()});
      std::vector<int> sorted = inputs.back().axes;
      std::ranges::sort(sorted);
      for (std::size_t i = 0; i < sorted.size(); ++i) {
        require<DataError>(sorted[i] == static_cast<int>(i) + 1, "{} is damaged", kWhat);
      }
    }
  } catch (const nlohmann::json::exception&) {
    fail<DataError>("{} is damaged", kWhat);
  }
  return inputs;
}

}  // namespace linnet::onnx
