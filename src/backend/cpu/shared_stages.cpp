// SPDX-License-Identifier: Apache-2.0
#include "backend/cpu/shared_stages.h"

#include <algorithm>
#include <map>

#include "core/align.h"
#include "plan/collected.h"

namespace linnet::cpu {
namespace {

/// Hand-outs by which a stage may come earlier: what it reads is still in a cache then.
constexpr std::size_t kMostEarlier = 6;
/// Nodes that run between two which are kept apart.
constexpr std::size_t kMostBetween = 3;

bool conflict(std::span<const Access> some, std::span<const Access> others) {
  return std::ranges::any_of(some, [&](const Access& a) {
    return std::ranges::any_of(others, [&](const Access& b) { return a.conflicts(b); });
  });
}

bool follow(const StageUse& a, const StageUse& b) {
  return a.alone || b.alone || std::ranges::find_first_of(a.nodes, b.nodes) != a.nodes.end() ||
         conflict(a.accesses, b.accesses);
}

/// Finds nodes that the arena can keep apart.
class Apart {
 public:
  Apart(const Plan& plan, const std::vector<Kernel>& kernels, std::size_t most)
      : plan_(plan), kernels_(kernels), alive_(plan.graph.nodes().size(), 0), most_(most) {
    for (std::size_t n = 0; n < alive_.size(); ++n) {
      alive_[n] = align_up(plan.workspaces[n].bytes);
      const Node& node = plan.graph.nodes()[n];
      for (const auto* operands : {&node.inputs, &node.outputs}) {
        for (Value v : *operands) {
          const Placement& place = place_of(v);
          if (place.storage != Storage::arena) continue;
          const auto [life, fresh] = lives_.try_emplace(place.root, Life{n, n, 0});
          // What lies in a result is counted there from here on.
          life->second.last = operands == &node.inputs && lies_in_result(plan, node, v) ? n - 1 : n;
          life->second.bytes = std::max(life->second.bytes, align_up(place.bytes));
        }
      }
    }
    for (const auto& [root, life] : lives_) add(life.first, life.last + 1, life.bytes);
  }

  std::vector<Kept> find() {
    std::vector<std::size_t> before;  // nodes that run
    for (std::size_t n = 0; n < alive_.size(); ++n) {
      if (!plan_.runs(n)) continue;
      if (may_share(n)) {
        stand_beside(n, before);
        if (kernels_[n].early_stages > 0 && !before.empty()) begin_early(n, before.back());
      }
      before.push_back(n);
    }
    std::vector<Kept> found;
    for (const auto& [node, kept] : kept_) found.push_back(kept);
    return found;
  }

 private:
  struct Life {
    std::size_t first, last, bytes;
  };

  const Placement& place_of(Value v) const { return plan_.values[static_cast<std::size_t>(v.id)]; }
  void add(std::size_t begin, std::size_t end, std::size_t bytes) {
    for (std::size_t n = begin; n < end; ++n) alive_[n] += bytes;
  }
  bool holds(std::size_t begin, std::size_t end, std::size_t bytes) const {
    for (std::size_t n = begin; n < end; ++n) {
      if (alive_[n] + bytes > most_) return false;
    }
    return true;
  }

  /// What lies in a result, or runs with others, has its place.
  bool may_share(std::size_t n) const {
    return !kernels_[n].alone && plan_.graph.nodes()[n].op->places_in_result().empty() &&
           std::ranges::none_of(plan_.together, [&](const auto& t) { return t.has(n); });
  }

  /// Returns what a node would read and write if all that shares memory only because it never lives
  /// at the same time lay apart: a value's number stands for its bytes.
  std::vector<Access> needs(std::size_t n) const {
    std::vector<Access> found = accesses(plan_, n);
    std::erase_if(found, [](const Access& a) { return a.storage == Storage::arena; });
    const Node& node = plan_.graph.nodes()[n];
    const auto add = [&](Value v, bool writes) {
      if (place_of(v).storage != Storage::arena) return;
      const auto root = static_cast<std::size_t>(place_of(v).root);
      found.push_back({Storage::arena, root, root + 1, writes});
    };
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      add(node.inputs[i], node.op->mutates(i));
    }
    for (Value v : node.outputs) add(v, true);
    return found;
  }

  /// Keeps the memory of the nodes before `n` that have nothing to do with it, up to the first that
  /// has.
  void stand_beside(std::size_t n, const std::vector<std::size_t>& before) {
    const std::vector<Access> own = needs(n);
    std::size_t tried = 0;
    for (auto other = before.rbegin(); other != before.rend() && tried < kMostBetween; ++other) {
      if (!may_share(*other) || conflict(own, needs(*other))) return;
      keep(*other, n);
      ++tried;
    }
  }

  void keep(std::size_t node, std::size_t last) {
    struct Longer {
      std::size_t begin, bytes;
    };
    std::map<int, Longer> longer;
    const Kept& kept = kept_.try_emplace(node, Kept{node, node, node}).first->second;
    longer[-1] = {kept.last + 1, align_up(plan_.workspaces[node].bytes)};
    const Node& of = plan_.graph.nodes()[node];
    for (const auto* operands : {&of.inputs, &of.outputs}) {
      for (Value v : *operands) {
        if (place_of(v).storage != Storage::arena) continue;
        const Life& life = lives_.at(place_of(v).root);
        longer[place_of(v).root] = {life.last + 1, life.bytes};
      }
    }
    for (std::size_t n = node + 1; n <= last; ++n) {
      std::size_t more = 0;
      for (const auto& [root, memory] : longer) more += n >= memory.begin ? memory.bytes : 0;
      if (alive_[n] + more > most_) return;
    }
    for (const auto& [root, memory] : longer) {
      add(memory.begin, last + 1, memory.bytes);
      if (root >= 0) lives_.at(root).last = std::max(lives_.at(root).last, last);
    }
    kept_.at(node).last = std::max(kept.last, last);
  }

  /// Lets the early stages of `node` run beside node `first`.
  void begin_early(std::size_t node, std::size_t first) {
    const std::size_t bytes = align_up(plan_.workspaces[node].bytes);
    if (!holds(first, node, bytes)) return;
    add(first, node, bytes);
    kept_.try_emplace(node, Kept{node, node, node}).first->second.first = first;
  }

  const Plan& plan_;
  const std::vector<Kernel>& kernels_;
  std::vector<std::size_t> alive_;  ///< bytes, by node
  std::size_t most_;                ///< of these
  std::map<int, Life> lives_;       ///< of values that share memory, by the first of them
  std::map<std::size_t, Kept> kept_;
};

}  // namespace

StageUse use_of(const Plan& plan, const Kernel& kernel, std::size_t node, std::size_t stage) {
  StageUse use{.nodes = {node}, .accesses = {}, .alone = kernel.alone};
  if (stage >= kernel.early_stages) {
    use.accesses = accesses(plan, node);
    return use;
  }
  const Workspace& workspace = plan.workspaces[node];
  use.accesses.push_back(
      {Storage::arena, workspace.offset, workspace.offset + workspace.bytes, true});
  for (const std::size_t i : kernel.early_operands) {
    const Value v = plan.graph.nodes()[node].inputs[i];
    const Placement& place = plan.values[static_cast<std::size_t>(v.id)];
    const std::size_t size = place.storage == Storage::external ? 1 : place.bytes;
    use.accesses.push_back({place.storage, place.offset, place.offset + size, false});
  }
  return use;
}

std::vector<std::vector<std::size_t>> share_stages(std::span<const StageUse> stages) {
  std::vector<std::vector<std::size_t>> shared;
  for (std::size_t s = 0; s < stages.size(); ++s) {
    std::size_t place = shared.size();
    while (place > 0 && shared.size() - place < kMostEarlier &&
           std::ranges::none_of(shared[place - 1], [&](std::size_t other) {
             return follow(stages[s], stages[other]);
           })) {
      --place;
    }
    if (place == shared.size()) shared.emplace_back();
    shared[place].push_back(s);
  }
  return shared;
}

std::vector<Kept> find_kept(const Plan& plan, const std::vector<Kernel>& kernels,
                            std::size_t most) {
  return Apart(plan, kernels, most).find();
}

}  // namespace linnet::cpu
