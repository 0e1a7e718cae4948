// SPDX-License-Identifier: Apache-2.0
#include <linnet/model.h>

#include <nlohmann/json.hpp>

#include "base/check.h"
#include "io/safetensors.h"
#include "model/model_state.h"

namespace linnet {
namespace {

constexpr const char* kNetworkKey = "linnet.network";
constexpr const char* kClassesKey = "linnet.classes";

std::vector<std::string> classes_from(const std::string& text) {
  const nlohmann::json json = nlohmann::json::parse(text, nullptr, false);
  require(json.is_array(), "its class names are damaged");
  std::vector<std::string> names;
  for (const auto& name : json) {
    require(name.is_string(), "its class names are damaged");
    names.push_back(name.get<std::string>());
  }
  return names;
}

}  // namespace
}  // namespace linnet
