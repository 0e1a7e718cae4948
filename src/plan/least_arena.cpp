// SPDX-License-Identifier: Apache-2.0
#include "plan/least_arena.h"

#include <algorithm>
#include <vector>

#include "core/align.h"
#include "plan/collected.h"

namespace linnet {

std::size_t least_arena_bytes(const Plan& plan) {
  const std::vector<Node>& nodes = plan.graph.nodes();
  struct Life {
    std::size_t first = ~std::size_t{0};
    std::size_t last = 0;
    std::size_t bytes = 0;
  };
  std::vector<Life> lives(plan.values.size());  // by the first value of those that share memory
  for (std::size_t n = 0; n < nodes.size(); ++n) {
    for (const auto* operands : {&nodes[n].inputs, &nodes[n].outputs}) {
      for (Value v : *operands) {
        const Placement& place = plan.values[static_cast<std::size_t>(v.id)];
        if (place.storage != Storage::arena) continue;
        // What lies in a result is counted there from here on.
        const bool inside = operands == &nodes[n].inputs && lies_in_result(plan, nodes[n], v);
        Life& life = lives[static_cast<std::size_t>(place.root)];
        life = {std::min(life.first, n), inside ? n - 1 : n, align_up(place.bytes)};
      }
    }
  }
  std::vector<std::size_t> alive(nodes.size(), 0);
  for (std::size_t n = 0; n < nodes.size(); ++n) alive[n] = align_up(plan.workspaces[n].bytes);
  for (const Life& life : lives) {
    for (std::size_t n = life.first; n <= life.last && life.bytes > 0; ++n) alive[n] += life.bytes;
  }
  return alive.empty() ? 0 : *std::max_element(alive.begin(), alive.end());
}

}  // namespace linnet
