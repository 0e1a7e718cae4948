// SPDX-License-Identifier: Apache-2.0
#include "plan/plan.h"

#include <algorithm>
#include <map>
#include <numeric>

#include "base/check.h"
#include "plan/offsets.h"

namespace linnet {
namespace {

std::size_t index_of(Value value) { return static_cast<std::size_t>(value.id); }

/// Returns the node up to which memory that node `n` touches is kept. What waits for a node of the
/// side branch is counted in: only there may a result take over what that node reads.
std::size_t last_node(const Branches& branches, std::size_t n) {
  return branches.is_side(n) ? std::min(branches.end_of(n), branches.side.size() - 1) : n;
}

/// Returns by node for how long its workspace is nobody else's.
std::vector<Kept> kept_by_node(const Graph& graph, const PlanOptions& options,
                               const Branches& branches) {
  std::vector<Kept> kept(graph.nodes().size());
  for (std::size_t n = 0; n < kept.size(); ++n) kept[n] = {n, n, last_node(branches, n)};
  for (const Kept& wanted : options.kept) {
    Kept& of = kept[wanted.node];
    of.first = std::min(of.first, wanted.first);
    of.last = std::max(of.last, wanted.last);
  }
  return kept;
}

/// Groups the values that share memory and knows from which node to which each group is alive.
class AliasGroups {
 public:
  AliasGroups(const Graph& graph, const Branches& branches)
      : roots_(graph.value_count()), live_(roots_.size()) {
    std::iota(roots_.begin(), roots_.end(), 0);
    for (std::size_t n = 0; n < graph.nodes().size(); ++n) {
      const std::size_t last = last_node(branches, n);
      for (Value v : graph.nodes()[n].outputs) live_[index_of(v)] = {n, last};
      for (Value v : graph.nodes()[n].inputs) {
        live_[index_of(v)].last = std::max(live_[index_of(v)].last, last);
      }
    }
  }

  std::size_t root(Value value) const {
    std::size_t id = index_of(value);
    while (roots_[id] != id) id = roots_[id] = roots_[roots_[id]];  // halves the way for the next
    return id;
  }
  std::size_t last_use(Value value) const { return live_[root(value)].last; }
  std::size_t first_use(Value value) const { return live_[root(value)].first; }

  /// Keeps the memory of a node's operands up to node `last`.
  void keep(const Node& node, std::size_t last) {
    for (const auto* operands : {&node.inputs, &node.outputs}) {
      for (Value v : *operands) live_[root(v)].last = std::max(live_[root(v)].last, last);
    }
  }
  void join(Value output, Value input) {
    const std::size_t from = root(output);
    const std::size_t to = root(input);
    roots_[from] = to;
    live_[to].last = std::max(live_[to].last, live_[from].last);
  }

 private:
  struct Life {
    std::size_t first = 0;
    std::size_t last = 0;
  };
  mutable std::vector<std::size_t> roots_;  // each the next on the way to its group's
  std::vector<Life> live_;
};

/// The time for which memory of nodes [first, last] is needed: nodes that run together need theirs
/// from the first to the last of them.
Interval interval(const PlanOptions& options, std::size_t bytes, std::size_t first,
                  std::size_t last) {
  Interval needed{.bytes = bytes, .first = first, .last = last};
  for (const Together& t : options.together) {
    if (t.has(first)) needed.first = t.first;
    if (t.has(last)) needed.last = t.last;
  }
  return needed;
}

bool in_arena(const Graph& graph, Value value) {
  return graph.info(value).storage == Storage::arena;
}

/// Returns whether another node that runs together with node n, perhaps after it, reads the memory
/// of `input`.
bool is_read_beside(const Graph& graph, const PlanOptions& options, const AliasGroups& groups,
                    std::size_t n, Value input) {
  return std::ranges::any_of(options.together, [&](const Together& t) {
    if (!t.has(n)) return false;
    for (std::size_t other = t.first; other <= t.last; ++other) {
      const Node& node = graph.nodes()[other];
      if (other == n || node.op->is_view()) continue;
      if (std::ranges::any_of(node.inputs,
                              [&](Value v) { return groups.root(v) == groups.root(input); })) {
        return true;
      }
    }
    return false;
  });
}

/// Returns the bytes that `value` is given.
std::size_t bytes_of(const Graph& graph, const PlanOptions& options, Value value) {
  const auto id = static_cast<std::size_t>(value.id);
  const std::size_t room = id < options.room.size() ? options.room[id] : 0;
  return std::max(graph.type(value).bytes(), room);
}

/// Returns whether output 0 of the node is input `i`'s memory from here on.
bool can_take_over(const Graph& graph, const PlanOptions& options, const AliasGroups& groups,
                   std::size_t n, Value input) {
  const Node& node = graph.nodes()[n];
  const Value output = node.outputs.front();
  if (!in_arena(graph, output) || !in_arena(graph, input)) return false;
  const Value root{static_cast<int>(groups.root(input))};
  if (!in_arena(graph, root) || groups.last_use(input) != n) return false;
  if (is_read_beside(graph, options, groups, n, input)) return false;
  const std::size_t bytes = bytes_of(graph, options, output);
  if (graph.type(input).bytes() != bytes || bytes_of(graph, options, root) != bytes) return false;
  // Another operand of the same node that shares this memory would be overwritten while being read.
  return std::count_if(node.inputs.begin(), node.inputs.end(),
                       [&](Value v) { return groups.root(v) == groups.root(input); }) == 1;
}

void join_aliases(const Graph& graph, const PlanOptions& options, AliasGroups& groups) {
  for (std::size_t n = 0; n < graph.nodes().size(); ++n) {
    const Node& node = graph.nodes()[n];
    if (node.op->is_view()) {
      if (in_arena(graph, node.outputs.front()))
        groups.join(node.outputs.front(), node.inputs.front());
      continue;
    }
    if (!options.in_place) continue;
    for (int i : node.op->in_place()) {
      const Value input = node.inputs[static_cast<std::size_t>(i)];
      if (can_take_over(graph, options, groups, n, input)) {
        groups.join(node.outputs.front(), input);
        break;
      }
    }
  }
}

/// Where operands of the first node that has places for them lie in its result, which begins the
/// arena: the bytes at which they begin, by the first value of those that share memory. Only those
/// that nobody needs elsewhere.
struct Collected {
  std::size_t node = 0;
  std::map<std::size_t, std::size_t> begins;
};

Collected find_collected(const Graph& graph, const PlanOptions& options,
                         const AliasGroups& groups) {
  Collected found{.node = graph.nodes().size(), .begins = {}};
  if (!options.reuse || options.branches) return found;
  for (std::size_t n = 0; n < graph.nodes().size(); ++n) {
    const Node& node = graph.nodes()[n];
    const std::vector<std::size_t> places = node.op->places_in_result();
    if (places.empty() || !in_arena(graph, node.outputs.front())) continue;
    found.node = n;
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      const std::size_t root = groups.root(node.inputs[i]);
      const Value first{static_cast<int>(root)};
      const std::size_t begin = places[i];
      if (in_arena(graph, first) && graph.producer(first) != nullptr &&
          groups.last_use(first) == n && begin % kAlignment == 0 &&
          graph.type(first).bytes() == graph.type(node.inputs[i]).bytes()) {
        found.begins.try_emplace(root, begin);
      }
    }
    break;
  }
  return found;
}

}  // namespace

bool Plan::runs(std::size_t node) const {
  const Node& n = graph.nodes()[node];
  // A view into memory of its own (a parameter's gradient) is a copy.
  return !n.op->is_view() || values[index_of(n.outputs.front())].root == n.outputs.front().id;
}

std::size_t Plan::total_bytes() const {
  return std::accumulate(bytes.begin(), bytes.end(), std::size_t{0});
}

Plan make_plan(Graph graph, const WorkspaceQuery& workspace, const PlanOptions& options) {
  Plan plan;
  plan.graph = std::move(graph);
  plan.together = options.together;
  const Graph& g = plan.graph;
  if (options.branches) plan.branches = find_branches(g);
  AliasGroups groups(g, plan.branches);
  join_aliases(g, options, groups);
  const Collected collected = find_collected(g, options, groups);
  const std::vector<Kept> kept = kept_by_node(g, options, plan.branches);
  for (std::size_t n = 0; n < kept.size(); ++n) groups.keep(g.nodes()[n], kept[n].last);

  plan.values.resize(g.value_count());
  plan.workspaces.resize(g.nodes().size());
  std::vector<Interval> intervals;
  std::vector<std::size_t> interval_of(g.value_count(), ~std::size_t{0});
  const std::size_t end = g.nodes().size();
  for (std::size_t id = 0; id < g.value_count(); ++id) {
    const Value value{static_cast<int>(id)};
    const ValueInfo& info = g.info(value);
    Placement& place = plan.values[id];
    place = {info.storage, info.offset, bytes_of(g, options, value),
             static_cast<int>(groups.root(value))};
    if (info.storage == Storage::constant) {
      place.offset = plan.bytes[static_cast<std::size_t>(Storage::constant)];
    }
    if (info.storage != Storage::arena) {
      if (info.storage != Storage::external) {
        std::size_t& total = plan.bytes[static_cast<std::size_t>(info.storage)];
        total = std::max(total, align_up(place.offset + place.bytes));
      }
      continue;
    }
    if (groups.root(value) != id || info.producer < 0) continue;
    interval_of[id] = intervals.size();
    intervals.push_back(interval(options, place.bytes, options.reuse ? groups.first_use(value) : 0,
                                 options.reuse ? groups.last_use(value) : end));
    const auto begin = collected.begins.find(id);
    if (begin != collected.begins.end()) {
      intervals.back().offset = begin->second;
      intervals.back().fixed = true;
      intervals.back().last = std::min(intervals.back().last, collected.node - 1);
    } else if (info.producer == static_cast<int>(collected.node)) {
      intervals.back().fixed = true;
    }
    plan.unshared_bytes += align_up(place.bytes);
  }
  std::vector<std::pair<std::size_t, std::size_t>> workspace_intervals;
  for (std::size_t n = 0; n < end; ++n) {
    const std::size_t bytes = workspace(g.nodes()[n]);
    if (bytes == 0) continue;
    workspace_intervals.emplace_back(n, intervals.size());
    intervals.push_back(interval(options, bytes, options.reuse ? kept[n].first : 0,
                                 options.reuse ? kept[n].last : end));
    plan.unshared_bytes += align_up(bytes);
  }
  plan.bytes[static_cast<std::size_t>(Storage::arena)] = assign_offsets(intervals);

  for (std::size_t id = 0; id < g.value_count(); ++id) {
    Placement& place = plan.values[id];
    if (place.storage != Storage::arena) continue;
    const auto root = static_cast<std::size_t>(place.root);
    if (interval_of[root] != ~std::size_t{0}) {
      place.offset = intervals[interval_of[root]].offset;
    } else {  // a view of memory outside the arena
      place.storage = plan.values[root].storage;
      place.offset = plan.values[root].offset;
    }
  }
  for (const auto& [n, interval] : workspace_intervals) {
    plan.workspaces[n] = {intervals[interval].offset, intervals[interval].bytes};
  }
  for (std::size_t n = 0; n < end; ++n) {
    if (!plan.runs(n)) continue;
    const Cost cost = cost_of(g, g.nodes()[n]);
    ++plan.running;
    plan.cost.flops += cost.flops;
    plan.cost.bytes += cost.bytes;
  }
  return plan;
}

}  // namespace linnet
