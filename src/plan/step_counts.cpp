// SPDX-License-Identifier: Apache-2.0
#include "plan/step_counts.h"

#include <algorithm>
#include <vector>

#include "base/check.h"
#include "plan/access.h"
#include "plan/step_time.h"

namespace linnet {
namespace {

double flops_per_second(const GpuSpeed& speed, const std::vector<PlannedLaunch>& launches) {
  LaunchMath math = LaunchMath::fp32;
  for (const PlannedLaunch& launch : launches) {
    if (launch.math != LaunchMath::fp32) math = launch.math;
  }
  switch (math) {
    case LaunchMath::tf32: return speed.tf32;
    case LaunchMath::bf16: return speed.bf16;
    case LaunchMath::fp32: break;
  }
  return speed.fp32;
}

NodePath path_of(const Plan& plan, std::size_t n, const GpuSpeed& speed) {
  const std::vector<PlannedLaunch>& launches = plan.launches[n];
  if (launches.empty()) return {};
  const DeviceRates rates{.flops_per_second = flops_per_second(speed, launches),
                          .bytes_per_second = speed.bytes,
                          .seconds_per_operator = speed.node_seconds};
  const Cost cost = cost_of(plan.graph, plan.graph.nodes()[n]);
  return {launches.size(), predicted_seconds(cost, rates, launches.size())};
}

NodePath longer(const NodePath& a, const NodePath& b) { return a.seconds < b.seconds ? b : a; }
NodePath operator+(const NodePath& a, const NodePath& b) {
  return {a.nodes + b.nodes, a.seconds + b.seconds};
}

/// Follows which nodes must wait for which: for who writes what they read, and, in memory that
/// outlives the step (weights, gradients, moments, counters), for who read what they overwrite.
class Dependences {
 public:
  explicit Dependences(const Plan& plan) : plan_(plan), made_(plan.graph.value_count()) {}

  /// Returns the longest path to the end of node `n`, which takes `own` itself.
  NodePath end_of(std::size_t n, const NodePath& own) {
    const Node& node = plan_.graph.nodes()[n];
    // Another name for memory outside the arena is read where it is read.
    const auto is_made = [&](Value v) { return plan_.runs(n) || is_inside(v); };
    NodePath path;
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      path = longer(path, before(node.inputs[i], node.op->mutates(i)));
    }
    for (Value v : node.outputs) {
      if (!is_inside(v) && is_made(v)) path = longer(path, before(v, true));
    }
    path = path + own;
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      note(node.inputs[i], node.op->mutates(i), path);
    }
    for (Value v : node.outputs) {
      if (is_made(v)) note(v, true, path);
    }
    return path;
  }

 private:
  struct Timed {
    Access access;
    NodePath path;
  };

  const Placement& place(Value v) const { return plan_.values[static_cast<std::size_t>(v.id)]; }
  bool is_inside(Value v) const { return place(v).storage == Storage::arena; }
  Access access_of(Value v, bool writes) const {
    const Placement& p = place(v);
    const bool slot = p.storage == Storage::external;
    return {p.storage, p.offset, p.offset + (slot ? 1 : p.bytes), writes};
  }

  NodePath before(Value v, bool writes) {
    if (is_inside(v)) return made_[static_cast<std::size_t>(v.id)];
    NodePath path;
    const Access own = access_of(v, writes);
    for (const Timed& other : outside_) {
      if (own.conflicts(other.access)) path = longer(path, other.path);
    }
    return path;
  }
  void note(Value v, bool writes, const NodePath& path) {
    if (!is_inside(v)) {
      outside_.push_back({access_of(v, writes), path});
    } else if (writes) {
      made_[static_cast<std::size_t>(v.id)] = path;
    }
  }

  const Plan& plan_;
  std::vector<NodePath> made_;  ///< by value in the arena
  std::vector<Timed> outside_;
};

}  // namespace

StepCounts count_step(const Plan& plan, const GpuSpeed& speed) {
  LINNET_ASSERT(plan.launches.size() == plan.graph.nodes().size());
  StepCounts counts{.operators = plan.running,
                    .bytes = plan.cost.bytes,
                    .flops = plan.cost.flops,
                    .planned_bytes = plan.total_bytes()};
  const auto count = [&](const std::vector<PlannedLaunch>& launches) {
    for (const PlannedLaunch& launch : launches) {
      launch.library.empty() ? ++counts.own_kernels : ++counts.library_calls[launch.library];
    }
  };
  Dependences dependences(plan);
  std::vector<NodePath> ends(plan.launches.size());
  NodePath main;
  NodePath side;
  for (std::size_t n = 0; n < plan.launches.size(); ++n) {
    const NodePath own = path_of(plan, n, speed);
    count(plan.launches[n]);
    counts.work_seconds += own.seconds - static_cast<double>(own.nodes) * speed.node_seconds;
    if (plan.branches.is_side(n)) {
      ends[n] = side = longer(main, side) + own;
    } else {
      const std::size_t awaited = plan.branches.awaited_by(n);
      main = (awaited == Branches::kNobody ? main : longer(main, ends[awaited])) + own;
    }
    counts.data = longer(counts.data, dependences.end_of(n, own));
  }
  count(plan.ending);
  const NodePath ending{plan.ending.size(),
                        static_cast<double>(plan.ending.size()) * speed.node_seconds};
  counts.captured = longer(main, side) + ending;
  counts.data = counts.data + ending;
  return counts;
}

}  // namespace linnet
