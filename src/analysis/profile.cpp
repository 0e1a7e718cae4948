// SPDX-License-Identifier: Apache-2.0
#include <linnet/profile.h>

#include <algorithm>

#include "analysis/watched_program.h"
#include "base/check.h"
#include "model/model_state.h"
#include "train/chunks.h"

namespace linnet {
namespace {

/// Least number of steps before the first that counts.
constexpr std::uint64_t kWarmUp = 3;

OperatorProfile describe(const Plan& plan, const NodeTime& time) {
  const Node& node = plan.graph.nodes()[time.node];
  const Cost cost = cost_of(plan.graph, node);
  const auto rate = [&](double work) { return time.seconds > 0 ? work / time.seconds : 0; };
  return {.name = std::string(node.op->name()),
          .layer = node.name,
          .engine = plan.engines.empty() ? std::string() : plan.engines[time.node],
          .shapes = shapes_of(plan.graph, node),
          .start = time.start,
          .seconds = time.seconds,
          .flops = cost.flops,
          .bytes = cost.bytes,
          .flops_per_second = rate(cost.flops),
          .bytes_per_second = rate(cost.bytes)};
}

/// Times every node of a program in `steps` steps from `next` on, between about as many unwatched.
Profile watch(const ModelState& model, Program& program, StepInfo& next, std::int64_t batch,
              std::int64_t steps, const std::function<void(std::uint64_t)>& run) {
  const auto watched = static_cast<std::uint64_t>(steps);
  const auto seconds_of = [&](std::uint64_t count) {
    const Clock::time_point start = Clock::now();
    run(count);
    next = next.after(count, 0);
    return std::chrono::duration<double>(Clock::now() - start).count();
  };
  seconds_of(std::max(kWarmUp, watched));  // as many as later, so that the same graphs are captured
  const std::vector<NodeTime> times = program.profile(next, watched);
  next = next.after(watched, 0);

  Profile profile;
  profile.device = model.device;
  profile.batch = batch;
  profile.steps = steps;
  profile.step_seconds = seconds_of(watched) / static_cast<double>(steps);
  for (const NodeTime& time : times) {
    profile.operators.push_back(describe(program.plan(), time));
    profile.operator_seconds += time.seconds;
  }
  const Ceilings ceilings = model.backend->ceilings();
  profile.flops_ceiling = ceilings.flops_per_second;
  profile.bytes_ceiling = ceilings.bytes_per_second;
  const auto fraction = [](double rate, double most) { return most > 0 ? rate / most : 0; };
  for (OperatorProfile& op : profile.operators) {
    op.of_ceiling = std::max(fraction(op.flops_per_second, profile.flops_ceiling),
                             fraction(op.bytes_per_second, profile.bytes_ceiling));
    op.share = profile.operator_seconds > 0 ? op.seconds / profile.operator_seconds
                                            : 1.0 / static_cast<double>(profile.operators.size());
  }
  return profile;
}

}  // namespace

Profile profile_training(Model& model, const Dataset& data, std::int64_t batch, std::int64_t steps,
                         const TrainingOptions& options) {
  require(steps >= 1, "expected at least 1 step; got {}", steps);
  Profile profile;
  std::vector<std::string> notes =
      watch_training(model, data, batch, options,
                     [&](Program& program, StepInfo& next, const auto& run) {
                       profile = watch(model.state(), program, next, batch, steps, run);
                     });
  profile.notes = std::move(notes);
  return profile;
}

Profile profile_prediction(Model& model, std::int64_t batch, std::int64_t steps) {
  require(steps >= 1, "expected at least 1 step; got {}", steps);
  Profile profile;
  std::vector<std::string> notes =
      watch_prediction(model, batch, [&](Program& program, StepInfo& next, const auto& run) {
        profile = watch(model.state(), program, next, batch, steps, run);
      });
  profile.notes = std::move(notes);
  return profile;
}

}  // namespace linnet
