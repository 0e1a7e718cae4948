// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <vector>

#include "base/check.h"
#include "plan/access.h"
#include "plan/collected.h"
#include "plan/plan.h"

namespace linnet {
namespace {

/// Names which alias group owns each byte range of the arena as the plan is walked in order.
class Ownership {
 public:
  void write(std::size_t offset, std::size_t bytes, int root) {
    forget(offset, offset + bytes);
    if (bytes > 0) ranges_[offset] = {offset + bytes, root};
  }
  bool owns(std::size_t offset, std::size_t bytes, int root) const {
    const auto range = ranges_.find(offset);
    return bytes == 0 || (range != ranges_.end() && range->second.end == offset + bytes &&
                          range->second.root == root);
  }

 private:
  struct Range {
    std::size_t end;
    int root;
  };
  void forget(std::size_t begin, std::size_t end) {
    for (auto it = ranges_.begin(); it != ranges_.end();) {
      it = it->first < end && begin < it->second.end ? ranges_.erase(it) : std::next(it);
    }
  }
  std::map<std::size_t, Range> ranges_;
};

/// Proves that operands that lie in the node's result lie where they belong.
void require_in_place(const Plan& plan, const Node& node) {
  const std::vector<std::size_t> places = node.op->places_in_result();
  const auto offset = [&](Value v) { return plan.values[static_cast<std::size_t>(v.id)].offset; };
  std::map<int, std::size_t> seen;  // an operand that comes twice is copied
  for (std::size_t i = 0; i < places.size(); ++i) {
    const Value v = node.inputs[i];
    if (!lies_in_result(plan, node, v) || !seen.try_emplace(v.id, i).second) continue;
    LINNET_ASSERT(offset(v) == offset(node.outputs.front()) + places[i]);
  }
}

/// Proves that nodes which may run at the same time share no memory that one of them writes.
void verify_branches(const Plan& plan) {
  const Branches& branches = plan.branches;
  const std::vector<Node>& nodes = plan.graph.nodes();
  LINNET_ASSERT(branches.side.size() == branches.awaited.size());
  for (std::size_t s = 0; s < branches.side.size(); ++s) {
    LINNET_ASSERT(branches.awaited[s] == Branches::kNobody ||
                  (!branches.side[s] && branches.awaited[s] < s));
    if (!branches.side[s] || !plan.runs(s)) continue;
    const std::vector<Access> own = accesses(plan, s);
    for (std::size_t n = s + 1; n < branches.end_of(s); ++n) {
      if (branches.side[n] || !plan.runs(n)) continue;
      for (const Access& a : own) {
        for (const Access& b : accesses(plan, n)) {
          if (!a.conflicts(b)) continue;
          throw InternalError(
              fmt::format("[{} '{}'] and [{} '{}'] run side by side, and both touch bytes {} to {}",
                          nodes[s].op->name(), nodes[s].name, nodes[n].op->name(), nodes[n].name,
                          std::max(a.begin, b.begin), std::min(a.end, b.end)));
        }
      }
    }
  }
}

/// Proves of nodes that run together that no two of their operands and workspaces overlap, unless
/// they are one.
void verify_together(const Plan& plan, const Together& together) {
  struct Claim {
    std::size_t begin, end;
    int root;
  };
  std::vector<Claim> claims;
  const auto claim = [&](std::size_t offset, std::size_t bytes, int root) {
    for (const Claim& other : claims) {
      LINNET_ASSERT(other.root == root || offset >= other.end || offset + bytes <= other.begin);
    }
    if (bytes > 0) claims.push_back({offset, offset + bytes, root});
  };
  for (std::size_t n = together.first; n <= together.last; ++n) {
    const Node& node = plan.graph.nodes()[n];
    claim(plan.workspaces[n].offset, plan.workspaces[n].bytes, -2 - static_cast<int>(n));
    for (const auto& operands : {node.inputs, node.outputs}) {
      for (Value v : operands) {
        const Placement& p = plan.values[static_cast<std::size_t>(v.id)];
        if (p.storage == Storage::arena) claim(p.offset, p.bytes, p.root);
      }
    }
  }
}

}  // namespace

std::vector<Access> accesses(const Plan& plan, std::size_t n) {
  std::vector<Access> all;
  const Node& node = plan.graph.nodes()[n];
  const auto add = [&](Value v, bool writes) {
    const Placement& p = plan.values[static_cast<std::size_t>(v.id)];
    const std::size_t size = p.storage == Storage::external ? 1 : p.bytes;  // a slot's number
    all.push_back({p.storage, p.offset, p.offset + size, writes});
  };
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    add(node.inputs[i], node.op->mutates(i));
  }
  for (Value v : node.outputs) add(v, true);
  const Workspace& workspace = plan.workspaces[n];
  all.push_back({Storage::arena, workspace.offset, workspace.offset + workspace.bytes, true});
  return all;
}

void verify_plan(const Plan& plan) {
  verify_branches(plan);
  for (const Together& together : plan.together) verify_together(plan, together);
  const Graph& graph = plan.graph;
  Ownership owners;
  const std::size_t arena = plan.bytes[static_cast<std::size_t>(Storage::arena)];
  const auto place = [&](Value v) -> const Placement& {
    return plan.values[static_cast<std::size_t>(v.id)];
  };
  for (std::size_t n = 0; n < graph.nodes().size(); ++n) {
    const Node& node = graph.nodes()[n];
    for (Value v : node.inputs) {
      const Placement& p = place(v);
      if (p.storage == Storage::arena && !owners.owns(p.offset, p.bytes, p.root)) {
        throw InternalError(
            fmt::format("[{} '{}'] reads value %{} at {} (+{}), which no operator has written or "
                        "another has overwritten",
                        node.op->name(), node.name, v.id, p.offset, p.bytes));
      }
    }
    if (!plan.runs(n)) continue;
    const Workspace& workspace = plan.workspaces[n];
    LINNET_ASSERT(workspace.offset + workspace.bytes <= arena);
    owners.write(workspace.offset, workspace.bytes, -2);
    for (Value v : node.outputs) {
      const Placement& p = place(v);
      LINNET_ASSERT(p.storage == Storage::external ||
                    p.offset + p.bytes <= plan.bytes[static_cast<std::size_t>(p.storage)]);
      if (p.storage == Storage::arena) owners.write(p.offset, p.bytes, p.root);
    }
    LINNET_ASSERT(owners.owns(workspace.offset, workspace.bytes, -2));
    require_in_place(plan, node);
    // Neither an output nor the workspace may have overwritten another operand; an operand that an
    // output has taken over has the same root.
    for (const auto& operands : {node.inputs, node.outputs}) {
      for (Value v : operands) {
        const Placement& p = place(v);
        if (lies_in_result(plan, node, v)) continue;
        LINNET_ASSERT(p.storage != Storage::arena || owners.owns(p.offset, p.bytes, p.root));
      }
    }
  }
}

}  // namespace linnet
