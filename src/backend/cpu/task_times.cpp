// SPDX-License-Identifier: Apache-2.0
// How long single tasks take and what it costs to hand them out: what `linnet profile --scaling`
// computes with.
#include <algorithm>
#include <chrono>

#include "backend/cpu/cpu_program.h"
#include "base/check.h"
#include "runtime/node_times.h"

namespace linnet::cpu {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

class EmptyWork final : public StagedWork {
 public:
  EmptyWork(std::uint64_t stages, std::uint32_t tasks) : stages_(stages), tasks_(tasks) {}
  std::uint64_t stages() const override { return stages_; }
  std::uint32_t tasks(std::uint64_t /*stage*/) const override { return tasks_; }
  void run(std::uint64_t /*stage*/, std::uint32_t /*task*/, int /*thread*/) override {}

 private:
  std::uint64_t stages_;
  std::uint32_t tasks_;
};

/// Returns the seconds of a stage of `tasks` empty tasks.
double stage_seconds(ThreadTeam& team, std::uint32_t tasks) {
  constexpr std::uint64_t kStages = 500;
  constexpr int kTries = 7;
  EmptyWork work(kStages, tasks);
  double best = 0;
  for (int i = 0; i < kTries; ++i) {
    const Clock::time_point start = Clock::now();
    team.run(work);
    const double seconds = seconds_since(start) / static_cast<double>(kStages);
    best = i == 0 ? seconds : std::min(best, seconds);
  }
  return best;
}

}  // namespace

HandOut CpuProgram::hand_out() {
  const auto few = static_cast<std::uint32_t>(team_->threads());
  const std::uint32_t many = 32 * few;
  const double with_few = stage_seconds(*team_, few);
  const double task = std::max(0.0, stage_seconds(*team_, many) - with_few) / (many - few);
  return {.stage = std::max(0.0, with_few - few * task), .task = task};
}

/// One step of all stages, in the order in which they run, whose tasks are timed.
class CpuProgram::Watched final : public StagedWork {
 public:
  Watched(const CpuProgram& program, std::span<const Turn> turns, const StepInfo& step,
          NodeTimes& times)
      : program_(program), turns_(turns), step_(step), times_(times) {}

  std::uint64_t stages() const override { return turns_.size(); }
  std::uint32_t tasks(std::uint64_t stage) const override {
    return static_cast<std::uint32_t>(turns_[stage].tasks());
  }
  void run(std::uint64_t stage, std::uint32_t task, int thread) override {
    const Clock::time_point start = Clock::now();
    program_.run_turn(turns_[stage], {static_cast<int>(task), program_.scratch(thread), &step_},
                      program_.places_);
    times_.add(number_++, 0, seconds_since(start));
  }

 private:
  const CpuProgram& program_;
  std::span<const Turn> turns_;
  StepInfo step_;
  NodeTimes& times_;
  std::size_t number_ = 0;  ///< of the task in its step
};

std::vector<StageTimes> CpuProgram::stage_times(const StepInfo& first, std::uint64_t steps) {
  LINNET_ASSERT(places_.operands.attached() && steps > 0);
  places_.operands.require_bound(plan_);
  pack(first);
  ThreadTeam alone(1);
  std::vector<Turn> turns;
  std::vector<bool> beside;
  for (const Shared& shared : shared_) {
    for (const Turn& turn : shared.turns) {
      beside.push_back(&turn != &shared.turns.front());
      turns.push_back(turn);
    }
  }
  NodeTimes times;  // of tasks, by their number in the step
  StepInfo step = first;
  for (; step.step < first.step + steps; step = step.after(1, 0)) {
    Watched work(*this, turns, step, times);
    alone.run(work);
  }
  const std::vector<NodeTime> tasks = times.medians();
  std::vector<StageTimes> found;
  auto task = tasks.begin();
  for (const Turn& turn : turns) {
    StageTimes& of = found.emplace_back();
    of.node = turn.alone.node;
    of.beside = beside[found.size() - 1];
    if (turn.chain != nullptr) {
      of.node = turn.chain->nodes.front();
      of.chained = static_cast<int>(turn.chain->nodes.size());
    }
    for (int i = 0; i < turn.tasks(); ++i) of.tasks.push_back((task++)->seconds);
  }
  return found;
}

}  // namespace linnet::cpu
