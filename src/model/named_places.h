// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>

#include "base/check.h"
#include "nn/definition.h"

namespace linnet {

/// Returns text such as "'a', 'b'": the names of a network's inputs or outputs.
std::string names_of(const auto& named) {
  std::string names;
  for (const auto& one : named) names += fmt::format("{}'{}'", names.empty() ? "" : ", ", one.name);
  return names;
}

/// Returns the place of a name among them. Throws Error for an unknown one; `what`: "input" or
/// "output".
std::size_t place_of(const auto& named, const std::string& name, const char* what) {
  const auto found = std::ranges::find_if(named, [&](const auto& one) { return one.name == name; });
  require(found != named.end(), "the network has no {} '{}'; it has {}", what, name,
          names_of(named));
  return static_cast<std::size_t>(found - named.begin());
}

/// Returns what a node gives to the network: the first of its outputs that is read, such as the
/// last state of a recurrent operator, which has the states of all steps too.
inline Value result_of(const NetworkDefinition& network, const Node& node) {
  for (const Value output : node.outputs) {
    if (network.graph.uses(output) > 0) return output;
    if (std::ranges::count(network.outputs, output, &NetworkOutput::value) > 0) return output;
  }
  return node.outputs.front();
}

}  // namespace linnet
