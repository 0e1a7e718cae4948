// SPDX-License-Identifier: Apache-2.0
#include "runtime/step_counts.h"

#include <algorithm>
#include <vector>

#include "base/check.h"
#include "plan/access.h"

namespace linnet {
namespace {

/// Follows which nodes must wait for which: for who writes what they read, and, in memory that
/// outlives the step (weights, gradients, moments, counters), for who read what they overwrite.
class Dependences {
 public:
  explicit Dependences(const Plan& plan) : plan_(plan), made_(plan.graph.value_count()) {}

  /// Returns the nodes of the longest path to the end of operator `n`, which has `own` itself.
  std::size_t end_of(std::size_t n, std::size_t own) {
    const Node& node = plan_.graph.nodes()[n];
    // Another name for memory outside the arena is read where it is read.
    const auto is_made = [&](Value v) { return plan_.runs(n) || is_inside(v); };
    std::size_t path = 0;
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      path = std::max(path, before(node.inputs[i], node.op->mutates(i)));
    }
    for (Value v : node.outputs) {
      if (!is_inside(v) && is_made(v)) path = std::max(path, before(v, true));
    }
    path += own;
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      note(node.inputs[i], node.op->mutates(i), path);
    }
    for (Value v : node.outputs) {
      if (is_made(v)) note(v, true, path);
    }
    return path;
  }

 private:
  struct Outside {
    Access access;
    std::size_t path = 0;
  };

  const Placement& place(Value v) const { return plan_.values[static_cast<std::size_t>(v.id)]; }
  bool is_inside(Value v) const { return place(v).storage == Storage::arena; }
  Access access_of(Value v, bool writes) const {
    const Placement& p = place(v);
    const bool slot = p.storage == Storage::external;
    return {p.storage, p.offset, p.offset + (slot ? 1 : p.bytes), writes};
  }

  std::size_t before(Value v, bool writes) {
    if (is_inside(v)) return made_[static_cast<std::size_t>(v.id)];
    std::size_t path = 0;
    const Access own = access_of(v, writes);
    for (const Outside& other : outside_) {
      if (own.conflicts(other.access)) path = std::max(path, other.path);
    }
    return path;
  }
  void note(Value v, bool writes, std::size_t path) {
    if (!is_inside(v)) {
      outside_.push_back({access_of(v, writes), path});
    } else if (writes) {
      made_[static_cast<std::size_t>(v.id)] = path;
    }
  }

  const Plan& plan_;
  std::vector<std::size_t> made_;  ///< by value in the arena
  std::vector<Outside> outside_;
};

}  // namespace

StepCounts count_step(const Plan& plan, const StepLaunches& launches) {
  LINNET_ASSERT(launches.nodes.size() == plan.graph.nodes().size());
  StepCounts counts{.operators = plan.running,
                    .bytes = plan.cost.bytes,
                    .flops = plan.cost.flops,
                    .planned_bytes = plan.total_bytes()};
  const auto count = [&](const std::vector<PlannedLaunch>& some) {
    for (const PlannedLaunch& launch : some) {
      launch.library.empty() ? ++counts.own_kernels : ++counts.library_calls[launch.library];
    }
  };
  Dependences dependences(plan);
  std::vector<std::size_t> ends(launches.nodes.size());
  std::size_t main = 0;
  std::size_t side = 0;
  for (std::size_t n = 0; n < launches.nodes.size(); ++n) {
    const std::size_t own = launches.nodes[n].size();
    count(launches.nodes[n]);
    if (plan.branches.is_side(n)) {
      ends[n] = side = std::max(main, side) + own;
    } else {
      const std::size_t awaited = plan.branches.awaited_by(n);
      main = (awaited == Branches::kNobody ? main : std::max(main, ends[awaited])) + own;
    }
    counts.data = std::max(counts.data, dependences.end_of(n, own));
  }
  count(launches.ending);
  counts.captured = std::max(main, side) + launches.ending.size();
  counts.data += launches.ending.size();
  return counts;
}

}  // namespace linnet
