// SPDX-License-Identifier: Apache-2.0
#include <linnet/scaling.h>

#include <algorithm>
#include <cstdlib>
#include <numeric>

#include "base/check.h"
#include "model/model_state.h"
#include "runtime/task_times.h"
#include "train/stage_schedule.h"
#include "train/watched_program.h"

namespace linnet {
namespace {

constexpr int kJudged = 32;

double total(const std::vector<double>& tasks) {
  return std::accumulate(tasks.begin(), tasks.end(), 0.0);
}

/// Computes what is wanted from the times of a step's stages.
class Schedule {
 public:
  Schedule(const std::vector<StageTimes>& stages, const HandOut& hand_out, int measured_at)
      : stages_(stages), hand_out_(hand_out), measured_at_(measured_at) {}

  double seconds(const StageTimes& stage, int threads) const {
    return stage_seconds(stage.tasks, threads, hand_out_, measured_at_);
  }
  double seconds(int threads) const {
    double sum = 0;
    for (const StageTimes& stage : stages_) sum += seconds(stage, threads);
    return sum;
  }
  /// Returns seconds of threads that a stage leaves without a task.
  double unused(const StageTimes& stage, int threads) const {
    return threads * seconds(stage, threads) - total(stage.tasks);
  }

 private:
  const std::vector<StageTimes>& stages_;
  HandOut hand_out_;
  int measured_at_;
};

/// Returns an entry for each node, whose stages follow each other, and for each chain.
std::vector<OperatorScaling> operators_of(const Plan& plan, const std::vector<StageTimes>& stages,
                                          const Schedule& schedule, int threads) {
  std::vector<OperatorScaling> found;
  double most_unused = 0;  // of a stage of the last one
  for (std::size_t s = 0; s < stages.size(); ++s) {
    const StageTimes& stage = stages[s];
    if (s == 0 || stages[s - 1].node != stage.node || stages[s - 1].chained != stage.chained) {
      const Node& node = plan.graph.nodes()[stage.node];
      OperatorScaling& op = found.emplace_back();
      op.name = node.op->name();
      if (stage.chained > 1) op.name = fmt::format("chain of {} from {}", stage.chained, op.name);
      op.layer = node.name;
      op.shapes = shapes_of(plan.graph, node);
      most_unused = 0;
    }
    OperatorScaling& op = found.back();
    ++op.stages;
    op.seconds += total(stage.tasks);
    for (const double task : stage.tasks) op.longest = std::max(op.longest, task);
    const double unused = schedule.unused(stage, threads);
    op.unused += unused;
    if (op.fewest == 0 || unused > most_unused) {
      op.fewest = static_cast<int>(stage.tasks.size());
      most_unused = unused;
    }
  }
  const double all = threads * schedule.seconds(threads);
  for (OperatorScaling& op : found) op.lost = all > 0 ? op.unused / all : 0;
  return found;
}

ThreadScaling scaling_of(const ModelState& model, Program& program, StepInfo& next,
                         std::int64_t batch, std::int64_t steps, const std::vector<int>& threads) {
  auto* tasks = dynamic_cast<TimesTasks*>(&program);
  if (tasks == nullptr) {
    throw DeviceError("the device " + model.device + " has no tasks to schedule; use the CPU");
  }
  const std::vector<StageTimes> stages =
      tasks->stage_times(next, static_cast<std::uint64_t>(steps));
  next = next.after(static_cast<std::uint64_t>(steps), 0);
  const HandOut hand_out = tasks->hand_out();
  const int measured_at = model.backend->threads();
  const Schedule schedule(stages, hand_out, measured_at);
  ThreadScaling scaling;
  scaling.batch = batch;
  scaling.steps = steps;
  scaling.judged = *std::min_element(threads.begin(), threads.end(), [](int a, int b) {
    return std::abs(a - kJudged) < std::abs(b - kJudged);
  });
  scaling.stage_seconds = hand_out.stage;
  scaling.task_seconds = hand_out.task;
  scaling.measured_threads = measured_at;
  const double alone = schedule.seconds(1);
  for (const int count : threads) {
    const double seconds = schedule.seconds(count);
    const double speedup = seconds > 0 ? alone / seconds : 1;
    scaling.points.push_back({count, seconds, speedup, speedup / count});
  }
  scaling.operators = operators_of(program.plan(), stages, schedule, scaling.judged);
  return scaling;
}

void check(std::int64_t steps, const std::vector<int>& threads) {
  require(steps >= 1, "expected at least 1 step; got {}", steps);
  require(!threads.empty(), "expected at least one number of threads; got none");
  for (const int count : threads) {
    require(count >= 1 && count <= 4096, "expected 1 to 4096 threads; got {}", count);
  }
}

}  // namespace

ThreadScaling scaling_of_training(Model& model, const Dataset& data, std::int64_t batch,
                                  std::int64_t steps, const std::vector<int>& threads,
                                  const TrainingOptions& options) {
  check(steps, threads);
  ThreadScaling scaling;
  watch_training(model, data, batch, options,
                 [&](Program& program, StepInfo& next, const auto& run) {
                   run(1);
                   next = next.after(1, 0);
                   scaling = scaling_of(model.state(), program, next, batch, steps, threads);
                 });
  return scaling;
}

ThreadScaling scaling_of_prediction(Model& model, std::int64_t batch, std::int64_t steps,
                                    const std::vector<int>& threads) {
  check(steps, threads);
  ThreadScaling scaling;
  watch_prediction(model, batch, [&](Program& program, StepInfo& next, const auto& run) {
    run(1);
    next = next.after(1, 0);
    scaling = scaling_of(model.state(), program, next, batch, steps, threads);
  });
  return scaling;
}

}  // namespace linnet
