// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>

#include "base/join.h"
#include "graph/graph.h"

namespace linnet {

std::string_view to_string(Storage storage) {
  constexpr std::array<std::string_view, kStorages> kNames{"arena",     "external", "constant",
                                                           "parameter", "gradient", "optimizer",
                                                           "state"};
  return kNames.at(static_cast<std::size_t>(storage));
}

std::string to_string(const ValueType& type) {
  return fmt::format("{} {}", to_string(type.dtype), to_string(type.shape));
}

std::string to_string(const std::vector<std::string>& names, const std::vector<ValueType>& types) {
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < types.size(); ++i) {
    parts.push_back(
        fmt::format("{}={}", i < names.size() ? names[i] : "x", to_string(types[i].shape)));
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string to_string(const Attributes& attributes) {
  std::vector<std::string> parts;
  for (const auto& [name, value] : attributes) {
    parts.push_back(std::visit(
        [&key = name](const auto& v) {  // Clang before 16 captures no binding
          using T = std::decay_t<decltype(v)>;
          if constexpr (!std::is_arithmetic_v<T> && !std::is_same_v<T, std::string>) {
            return fmt::format("{}=({})", key, join(v, ", "));
          } else {
            return fmt::format("{}={}", key, v);
          }
        },
        value));
  }
  return fmt::format("{}", fmt::join(parts, " "));
}

std::string dump(const Graph& graph) {
  std::string text;
  for (std::size_t id = 0; id < graph.value_count(); ++id) {
    const Value value{static_cast<int>(id)};
    const ValueInfo& info = graph.info(value);
    if (info.producer >= 0 || info.storage == Storage::arena || graph.uses(value) == 0) continue;
    text += fmt::format("%{} {} = {} '{}' @{}\n", id, to_string(info.type), to_string(info.storage),
                        info.name, info.offset);
  }
  for (const Node& node : graph.nodes()) {
    std::vector<std::string> outputs;
    std::vector<std::string> inputs;
    for (Value v : node.outputs) {
      outputs.push_back(fmt::format("%{} {}", v.id, to_string(graph.type(v))));
    }
    for (Value v : node.inputs) inputs.push_back(fmt::format("%{}", v.id));
    const std::string attributes = to_string(node.op->attributes());
    text += fmt::format("{}{}{}({}) '{}'{}{}\n", fmt::join(outputs, ", "),
                        outputs.empty() ? "" : " = ", node.op->name(), fmt::join(inputs, ", "),
                        node.name, attributes.empty() ? "" : " ", attributes);
  }
  return text;
}

}  // namespace linnet
