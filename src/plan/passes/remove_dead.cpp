// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "plan/passes/passes.h"

namespace linnet {

void remove_dead(Graph& graph, const Supports& /*supports*/) {
  const std::vector<Node>& nodes = graph.nodes();
  std::vector<bool> read(graph.value_count(), false);
  std::vector<bool> live(nodes.size(), false);
  for (std::size_t n = nodes.size(); n-- > 0;) {
    const Node& node = nodes[n];
    live[n] = std::any_of(node.outputs.begin(), node.outputs.end(), [&](Value v) {
      return read[static_cast<std::size_t>(v.id)] || graph.info(v).storage != Storage::arena;
    });
    for (std::size_t i = 0; i < node.inputs.size(); ++i) live[n] = live[n] || node.op->mutates(i);
    if (!live[n]) continue;
    for (Value v : node.inputs) read[static_cast<std::size_t>(v.id)] = true;
  }
  graph.erase_nodes([&](std::size_t n) { return !live[n]; });
}

}  // namespace linnet
