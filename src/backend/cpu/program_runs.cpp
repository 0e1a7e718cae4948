// SPDX-License-Identifier: Apache-2.0
// How a program's stages are handed to the threads of its team.
#include <algorithm>

#include "backend/cpu/cpu_program.h"
#include "backend/cpu/shared_stages.h"
#include "base/check.h"

namespace linnet::cpu {

/// `steps` repetitions of stages of the program.
class CpuProgram::Run final : public StagedWork {
 public:
  Run(const CpuProgram& program, std::span<const Turn> turns, const StepInfo& first,
      std::uint64_t steps, std::uint64_t stride)
      : program_(program), turns_(turns), first_(first), steps_(steps), stride_(stride) {}

  std::uint64_t stages() const override { return steps_ * turns_.size(); }
  std::uint32_t tasks(std::uint64_t stage) const override {
    return static_cast<std::uint32_t>(turn_of(stage).tasks());
  }
  void run(std::uint64_t stage, std::uint32_t index, int thread) override {
    const std::uint64_t repetition = stage / turns_.size();
    const StepInfo step = first_.after(repetition, stride_);
    program_.run_turn(turn_of(stage), {static_cast<int>(index), program_.scratch(thread), &step},
                      program_.places_);
  }

 private:
  const Turn& turn_of(std::uint64_t stage) const { return turns_[stage % turns_.size()]; }

  const CpuProgram& program_;
  std::span<const Turn> turns_;
  StepInfo first_;
  std::uint64_t steps_;
  std::uint64_t stride_;
};

/// `steps` repetitions of the program.
class CpuProgram::SharedRun final : public StagedWork {
 public:
  SharedRun(const CpuProgram& program, const StepInfo& first, std::uint64_t steps,
            std::uint64_t stride)
      : program_(program), first_(first), steps_(steps), stride_(stride) {}

  std::uint64_t stages() const override { return steps_ * program_.shared_.size(); }
  std::uint32_t tasks(std::uint64_t stage) const override {
    return static_cast<std::uint32_t>(at(stage).tasks.size());
  }
  void run(std::uint64_t stage, std::uint32_t index, int thread) override {
    const TurnTask& task = at(stage).tasks[index];
    const StepInfo step = first_.after(stage / program_.shared_.size(), stride_);
    program_.run_turn(*task.turn, {task.index, program_.scratch(thread), &step}, program_.places_);
  }

 private:
  const Shared& at(std::uint64_t stage) const {
    return program_.shared_[stage % program_.shared_.size()];
  }

  const CpuProgram& program_;
  StepInfo first_;
  std::uint64_t steps_;
  std::uint64_t stride_;
};

/// Groups of programs. Programs that need nothing of each other run whole, each on one thread, as
/// many at the same time as there are threads: what a program writes stays in its core's cache. Of
/// others, and of what is left, each stage has a turn of every program that has not ended.
class CpuProgram::Together final : public StagedWork {
 public:
  Together(std::span<const SideBySide> groups, bool (*meets)(const Node& node),
           std::size_t threads) {
    for (const SideBySide& group : groups) {
      std::vector<std::span<const Turn>> packing;
      bool waits = false;  // whether any needs others
      for (const ProgramRun& run : group) {
        CpuProgram& program = program_of(run);
        packing.push_back(program.packs(run) ? program.packing_ : std::span<const Turn>());
        waits = waits || program.waits(meets);
        program.is_packed_ = true;
      }
      const std::span<const ProgramRun> all = group;
      add(all, packing);
      const std::size_t whole = waits ? 0 : all.size() / threads * threads;
      if (whole > 0) add_whole(all.first(whole));
      add_in_step(all.subspan(whole), meets);
    }
  }

  std::uint64_t stages() const override { return ends_.size(); }
  std::uint32_t tasks(std::uint64_t stage) const override { return pieces_[ends_[stage] - 1].end; }
  void run(std::uint64_t stage, std::uint32_t index, int thread) override {
    const std::span pieces = std::span(pieces_).first(ends_[stage]);
    const std::size_t first = stage > 0 ? ends_[stage - 1] : 0;
    const auto piece = std::ranges::upper_bound(pieces.subspan(first), index, {}, &Piece::end);
    const CpuProgram& program = program_of(*piece->run);
    const Places& places = piece->run->apart ? program.apart_ : program.places_;
    if (piece->turn == nullptr) return program.run_whole(piece->run->step, thread, places);
    program.run_turn(*piece->turn,
                     {static_cast<int>(index - piece->begin), program.scratch(thread),
                      &piece->run->step},
                     places);
  }

  static CpuProgram& program_of(const ProgramRun& run) {
    return static_cast<CpuProgram&>(*run.program);
  }

 private:
  /// The tasks [begin, end) of a stage, which are those of a turn.
  struct Piece {
    std::uint32_t begin = 0;
    std::uint32_t end = 0;
    const ProgramRun* run = nullptr;
    const Turn* turn = nullptr;  ///< null: one task runs the whole program
  };
  /// The turns of a program, cut where it meets others.
  struct Parts {
    std::span<const Turn> turns;
    std::vector<std::size_t> cuts;
  };

  void add_whole(std::span<const ProgramRun> group) {
    for (std::uint32_t r = 0; r < group.size(); ++r) pieces_.push_back({r, r + 1, &group[r]});
    ends_.push_back(pieces_.size());
  }

  void add_in_step(std::span<const ProgramRun> group, bool (*meets)(const Node& node)) {
    if (group.empty()) return;
    std::vector<Parts> parts;
    for (const ProgramRun& run : group) {
      const CpuProgram& program = program_of(run);
      parts.push_back({program.turns_, program.cuts(meets)});
    }
    for (std::size_t part = 0; part + 1 < parts.front().cuts.size(); ++part) {
      std::vector<std::span<const Turn>> turns;
      for (const Parts& of : parts) {
        LINNET_ASSERT(of.cuts.size() == parts.front().cuts.size());
        turns.push_back(of.turns.subspan(of.cuts[part], of.cuts[part + 1] - of.cuts[part]));
      }
      add(group, turns);
    }
  }

  /// Adds turns of each program of a group in lock step.
  void add(std::span<const ProgramRun> group, std::span<const std::span<const Turn>> turns) {
    for (std::size_t turn = 0;; ++turn) {
      std::uint32_t tasks = 0;
      for (std::size_t r = 0; r < group.size(); ++r) {
        if (turn >= turns[r].size()) continue;
        const std::uint32_t begin = tasks;
        tasks += static_cast<std::uint32_t>(turns[r][turn].tasks());
        pieces_.push_back({begin, tasks, &group[r], &turns[r][turn]});
      }
      if (pieces_.size() == (ends_.empty() ? 0 : ends_.back())) return;
      ends_.push_back(pieces_.size());
    }
  }

  std::vector<Piece> pieces_;
  std::vector<std::size_t> ends_;  ///< of each stage in these
};

void CpuProgram::run_turn(const Turn& turn, const Task& task, const Places& places) const {
  if (turn.chain != nullptr) return run_part(*turn.chain, task, places);
  turn.alone.stage->run(places.args[turn.alone.node], task);
}

void CpuProgram::run_part(const SampleChain& chain, const Task& task, const Places& places) const {
  const Range mine = split(chain.samples, chain.parts(), task.index);
  Range block{mine.begin, mine.begin};
  do {  // a part without samples has sums of nothing
    block.end = std::min(block.begin + chain.block, mine.end);
    for (const std::size_t n : chain.nodes) {
      const SampleStage& stage = *sample_stage_of(kernels_[n])->by_sample;
      stage.run(places.args[n], task, {block, task.index, block.begin == mine.begin});
    }
    block.begin = block.end;
  } while (block.begin < mine.end);
}

void CpuProgram::run_whole(const StepInfo& step, int thread, const Places& places) const {
  for (const Turn& turn : turns_) {
    for (int index = 0; index < turn.tasks(); ++index) {
      run_turn(turn, {index, scratch(thread), &step}, places);
    }
  }
}

bool CpuProgram::waits(bool (*meets)(const Node& node)) {
  if (waits_by_ == meets) return waits_;
  const std::vector<Node>& nodes = plan_.graph.nodes();
  waits_by_ = meets;
  waits_ = false;
  for (std::size_t n = 0; n < nodes.size(); ++n) {
    waits_ = waits_ || (plan_.runs(n) && (kernels_[n].alone || meets(nodes[n])));
  }
  return waits_;
}

std::vector<std::size_t> CpuProgram::cuts(bool (*meets)(const Node& node)) const {
  std::vector<std::size_t> cuts{0};
  for (std::size_t turn = 1; turn < turns_.size(); ++turn) {
    if (turns_[turn].chain != nullptr) continue;
    const std::size_t node = turns_[turn].alone.node;
    const bool begins = turns_[turn - 1].chain != nullptr || turns_[turn - 1].alone.node != node;
    if (begins && meets(plan_.graph.nodes()[node])) cuts.push_back(turn);
  }
  cuts.push_back(turns_.size());
  return cuts;
}

void CpuProgram::run_turns(std::span<const Turn> turns, const StepInfo& first, std::uint64_t steps,
                           std::uint64_t stride) {
  Run work(*this, turns, first, steps, stride);
  team_->run(work);
}

void CpuProgram::pack(const StepInfo& step) {
  if (is_packed_ || packing_.empty()) return;
  run_turns(packing_, step, 1, 0);
  is_packed_ = true;
}

void CpuProgram::run(const StepInfo& first, std::uint64_t steps, std::uint64_t stride) {
  LINNET_ASSERT(places_.operands.attached());
  places_.operands.require_bound(plan_);
  if (turns_.empty()) return;
  pack(first);
  if (team_->threads() < kFewestSharing) {
    run_turns(turns_, first, steps, stride);
  } else {
    SharedRun work(*this, first, steps, stride);
    team_->run(work);
  }
}

bool CpuProgram::packs(const ProgramRun& run) const { return run.repack || !is_packed_; }

void CpuProgram::run_in_turn(std::span<const SideBySide> groups,
                             bool (*meets)(const Node& node)) const {
  for (const SideBySide& group : groups) {
    for (const ProgramRun& run : group) {
      const CpuProgram& program = Together::program_of(run);
      const Operands& operands = (run.apart ? program.apart_ : program.places_).operands;
      LINNET_ASSERT(operands.attached() && program.team_ == team_);
      operands.require_bound(program.plan_);
    }
  }
  Together work(groups, meets, static_cast<std::size_t>(team_->threads()));
  try {
    team_->run(work);
  } catch (...) {
    for (const SideBySide& group : groups) {
      for (const ProgramRun& run : group) Together::program_of(run).is_packed_ = false;
    }
    throw;
  }
}

}  // namespace linnet::cpu
