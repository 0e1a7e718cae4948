// SPDX-License-Identifier: Apache-2.0
#include <linnet/scaling.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <numeric>

#include "analysis/stage_schedule.h"
#include "analysis/watched_program.h"
#include "base/check.h"
#include "model/model_state.h"
#include "runtime/task_times.h"

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

  double seconds(int threads) const {
    double sum = 0;
    for (std::size_t s = 0; s < stages_.size(); s = end_of(s)) sum += seconds(s, threads);
    return sum;
  }
  /// Returns by stage the seconds of threads that it leaves without a task: of stages that are
  /// handed out together, each has a part as large as its tasks.
  std::vector<double> unused(int threads) const {
    std::vector<double> found;
    for (std::size_t s = 0; s < stages_.size();) {
      const std::size_t end = end_of(s);
      double work = 0;
      for (std::size_t i = s; i < end; ++i) work += total(stages_[i].tasks);
      const double unused = threads * seconds(s, threads) - work;
      const auto count = static_cast<double>(end - s);
      for (; s < end; ++s) {
        found.push_back(unused * (work > 0 ? total(stages_[s].tasks) / work : 1 / count));
      }
    }
    return found;
  }

 private:
  /// Returns the end of the stages that are handed out with stage `s`, the first of them.
  std::size_t end_of(std::size_t s) const {
    do ++s;
    while (s < stages_.size() && stages_[s].beside);
    return s;
  }
  double seconds(std::size_t s, int threads) const {
    std::vector<double> tasks;
    for (const std::size_t end = end_of(s); s < end; ++s) {
      tasks.insert(tasks.end(), stages_[s].tasks.begin(), stages_[s].tasks.end());
    }
    return stage_seconds(tasks, threads, hand_out_, measured_at_);
  }

  const std::vector<StageTimes>& stages_;
  HandOut hand_out_;
  int measured_at_;
};

/// Returns an entry for each node and for each chain.
std::vector<OperatorScaling> operators_of(const Plan& plan, const std::vector<StageTimes>& stages,
                                          const Schedule& schedule, int threads) {
  std::vector<OperatorScaling> found;
  std::map<std::pair<std::size_t, int>, std::pair<std::size_t, double>> known;
  const std::vector<double> unused = schedule.unused(threads);
  for (std::size_t s = 0; s < stages.size(); ++s) {
    const StageTimes& stage = stages[s];
    const auto [entry, fresh] = known.try_emplace({stage.node, stage.chained}, found.size(), -1.0);
    auto& [place, most_unused] = entry->second;
    if (fresh) {
      const Node& node = plan.graph.nodes()[stage.node];
      OperatorScaling& op = found.emplace_back();
      op.name = node.op->name();
      if (stage.chained > 1) op.name = fmt::format("chain of {} from {}", stage.chained, op.name);
      op.layer = node.name;
      op.shapes = shapes_of(plan.graph, node);
    }
    OperatorScaling& op = found[place];
    ++op.stages;
    op.seconds += total(stage.tasks);
    for (const double task : stage.tasks) op.longest = std::max(op.longest, task);
    op.unused += unused[s];
    if (unused[s] > most_unused) {
      op.fewest = static_cast<int>(stage.tasks.size());
      most_unused = unused[s];
    }
  }
  const double all = threads * schedule.seconds(threads);
  for (OperatorScaling& op : found) op.lost = all > 0 ? op.unused / all : 0;
  return found;
}

ThreadScaling scaling_of(const ModelState& model, Program& program, StepInfo& next,
                         std::int64_t batch, std::int64_t steps, const std::vector<int>& threads) {
  TimesTasks* tasks = program.task_times();
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
