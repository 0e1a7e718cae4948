// SPDX-License-Identifier: Apache-2.0
#include "plan/step_counts.h"

#include <algorithm>
#include <array>
#include <vector>

#include "base/check.h"
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
  struct Access {
    std::size_t begin = 0;
    std::size_t end = 0;
    bool writes = false;
    NodePath path = {};
  };

  const Placement& place(Value v) const { return plan_.values[static_cast<std::size_t>(v.id)]; }
  bool is_inside(Value v) const { return place(v).storage == Storage::arena; }
  std::vector<Access>& accesses(Value v) {
    return accesses_[static_cast<std::size_t>(place(v).storage)];
  }
  std::size_t end(Value v) const {
    const bool slot = place(v).storage == Storage::external;
    return place(v).offset + (slot ? 1 : place(v).bytes);
  }

  NodePath before(Value v, bool writes) {
    if (is_inside(v)) return made_[static_cast<std::size_t>(v.id)];
    NodePath path;
    for (const Access& access : accesses(v)) {
      const bool apart = access.end <= place(v).offset || end(v) <= access.begin;
      if (!apart && (writes || access.writes)) path = longer(path, access.path);
    }
    return path;
  }
  void note(Value v, bool writes, const NodePath& path) {
    if (!is_inside(v)) {
      accesses(v).push_back({place(v).offset, end(v), writes, path});
    } else if (writes) {
      made_[static_cast<std::size_t>(v.id)] = path;
    }
  }

  const Plan& plan_;
  std::vector<NodePath> made_;  ///< by value in the arena
  std::array<std::vector<Access>, kStorages> accesses_;
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
  for (std::size_t n = 0; n < plan.launches.size(); ++n) {
    const NodePath own = path_of(plan, n, speed);
    count(plan.launches[n]);
    counts.stream = counts.stream + own;
    counts.data = longer(counts.data, dependences.end_of(n, own));
  }
  count(plan.ending);
  const NodePath ending{plan.ending.size(),
                        static_cast<double>(plan.ending.size()) * speed.node_seconds};
  counts.stream = counts.stream + ending;
  counts.data = counts.data + ending;
  return counts;
}

}  // namespace linnet
