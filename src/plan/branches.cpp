// SPDX-License-Identifier: Apache-2.0
#include "plan/branches.h"

#include <algorithm>

#include "ops/copy_all/copy_all.h"
#include "plan/access.h"

namespace linnet {
namespace {

/// Follows views back to the value whose memory they name.
Value named(const Graph& graph, Value value) {
  for (;;) {
    const Node* producer = graph.producer(value);
    if (graph.info(value).storage != Storage::arena || producer == nullptr ||
        !producer->op->is_view()) {
      return value;
    }
    value = producer->inputs.front();
  }
}

std::vector<Access> accesses(const Graph& graph, const Node& node) {
  std::vector<Access> all;
  const auto add = [&](Value value, bool writes) {
    const ValueInfo& info = graph.info(named(graph, value));
    if (info.storage == Storage::arena || info.storage == Storage::constant) return;
    const std::size_t size =
        info.storage == Storage::external ? 1 : graph.type(value).bytes();  // a slot's number
    all.push_back({info.storage, info.offset, info.offset + size, writes});
  };
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    add(node.inputs[i], node.op->mutates(i));
  }
  for (Value output : node.outputs) add(output, true);
  return all;
}

/// Finds the nodes that write gradients alone, or what such nodes copy there.
class Aside {
 public:
  explicit Aside(const Graph& graph) : graph_(graph), on_its_way_(graph.value_count()) {
    const std::vector<Node>& nodes = graph.nodes();
    side_.resize(nodes.size());
    for (std::size_t n = nodes.size(); n-- > 0;) {
      side_[n] = stands_aside(nodes[n]);
      if (!side_[n] || nodes[n].op->name() != CopyAllOp::kName) continue;
      for (const Value gradient : nodes[n].inputs) {
        on_its_way_[static_cast<std::size_t>(gradient.id)] = graph.uses(gradient) == 1;
      }
    }
  }
  std::vector<bool> take() { return std::move(side_); }

 private:
  bool stands_aside(const Node& node) const {
    if (node.op->is_view() || node.outputs.empty()) return false;
    bool reads_arena = false;
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      if (node.op->mutates(i)) return false;
      reads_arena |= graph_.info(named(graph_, node.inputs[i])).storage == Storage::arena;
    }
    return reads_arena && std::ranges::all_of(node.outputs, [&](Value output) {
             return graph_.info(output).storage == Storage::gradient ||
                    on_its_way_[static_cast<std::size_t>(output.id)];
           });
  }

  const Graph& graph_;
  std::vector<bool> side_;
  std::vector<bool> on_its_way_;  ///< by value: copied to the gradients, and nothing else
};

}  // namespace

std::size_t Branches::end_of(std::size_t node) const {
  for (std::size_t n = node + 1; n < awaited.size(); ++n) {
    if (awaited[n] != kNobody && awaited[n] >= node) return n;
  }
  return side.size();
}

Branches find_branches(const Graph& graph) {
  const std::size_t count = graph.nodes().size();
  Branches branches{.side = Aside(graph).take(),
                    .awaited = std::vector<std::size_t>(count, Branches::kNobody)};
  std::size_t last = Branches::kNobody;  // of the main branch
  for (std::size_t n = 0; n < count; ++n) {
    if (!branches.side[n] && !graph.nodes()[n].op->is_view()) last = n;
  }
  struct Begun {
    std::size_t node;
    std::vector<Access> accesses;
  };
  std::vector<Begun> begun;  // of the side branch, not yet awaited
  for (std::size_t n = 0; n < count; ++n) {
    std::vector<Access> own = accesses(graph, graph.nodes()[n]);
    if (branches.side[n]) {
      begun.push_back({n, std::move(own)});
      continue;
    }
    std::size_t ended = n == last ? begun.size() : 0;
    if (begun.size() > kSideNodes) ended = std::max(ended, begun.size() - kSideNodes);
    for (std::size_t i = begun.size(); i > ended; --i) {
      const bool conflict = std::ranges::any_of(own, [&](const Access& access) {
        return std::ranges::any_of(begun[i - 1].accesses,
                                   [&](const Access& other) { return access.conflicts(other); });
      });
      if (conflict) ended = i;
    }
    if (ended == 0) continue;
    branches.awaited[n] = begun[ended - 1].node;
    begun.erase(begun.begin(), begun.begin() + static_cast<std::ptrdiff_t>(ended));
  }
  if (std::ranges::none_of(branches.side, [](bool side) { return side; })) return {};
  return branches;
}

}  // namespace linnet
