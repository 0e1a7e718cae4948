// SPDX-License-Identifier: Apache-2.0
#include "backend/cpu/cpu_program.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <set>

#include "backend/cpu/memory.h"
#include "backend/cpu/shared_stages.h"
#include "base/check.h"
#include "core/align.h"
#include "plan/collected.h"
#include "runtime/constants.h"
#include "runtime/node_times.h"

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

/// Groups of programs. Each stage has a turn of every program of its group that has not ended.
class CpuProgram::Together final : public StagedWork {
 public:
  Together(std::span<const SideBySide> groups, bool (*meets)(const Node& node)) {
    for (const SideBySide& group : groups) {
      std::vector<std::span<const Turn>> packing;
      std::vector<Parts> parts;
      for (const ProgramRun& run : group) {
        CpuProgram& program = program_of(run);
        packing.push_back(program.packs(run) ? program.packing_ : std::span<const Turn>());
        parts.push_back({program.turns_, program.cuts(meets)});
        program.is_packed_ = true;
      }
      add(group, packing);
      for (std::size_t part = 0; part + 1 < parts.front().cuts.size(); ++part) {
        std::vector<std::span<const Turn>> turns;
        for (const Parts& of : parts) {
          LINNET_ASSERT(of.cuts.size() == parts.front().cuts.size());
          turns.push_back(of.turns.subspan(of.cuts[part], of.cuts[part + 1] - of.cuts[part]));
        }
        add(group, turns);
      }
    }
  }

  std::uint64_t stages() const override { return ends_.size(); }
  std::uint32_t tasks(std::uint64_t stage) const override { return pieces_[ends_[stage] - 1].end; }
  void run(std::uint64_t stage, std::uint32_t index, int thread) override {
    const std::span pieces = std::span(pieces_).first(ends_[stage]);
    const std::size_t first = stage > 0 ? ends_[stage - 1] : 0;
    const auto piece = std::ranges::upper_bound(pieces.subspan(first), index, {}, &Piece::end);
    const CpuProgram& program = program_of(*piece->run);
    program.run_turn(*piece->turn,
                     {static_cast<int>(index - piece->begin), program.scratch(thread),
                      &piece->run->step},
                     piece->run->apart ? program.apart_ : program.places_);
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
    const Turn* turn = nullptr;
  };
  /// The turns of a program, cut where it meets others.
  struct Parts {
    std::span<const Turn> turns;
    std::vector<std::size_t> cuts;
  };

  /// Adds turns of each program of a group in lock step.
  void add(const SideBySide& group, std::span<const std::span<const Turn>> turns) {
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

CpuProgram::CpuProgram(Plan plan, std::vector<Kernel> kernels, std::vector<SampleChain> chains,
                       std::shared_ptr<ThreadTeam> team, bool shares_stages)
    : plan_(std::move(plan)),
      kernels_(std::move(kernels)),
      chains_(std::move(chains)),
      team_(std::move(team)) {
  std::size_t packed_bytes = 0;
  for (std::size_t n = 0; n < kernels_.size(); ++n) {
    if (!plan_.runs(n)) continue;
    scratch_stride_ = std::max(scratch_stride_, align_up(kernels_[n].scratch_bytes));
    packed_bytes += align_up(kernels_[n].packed_bytes);
    for (const Stage& stage : kernels_[n].packing) packing_.push_back({{n, &stage}});
    for (const Stage& stage : kernels_[n].stages) stages_.push_back({{n, &stage}});
  }
  auto chain = chains_.cbegin();
  for (auto turn = stages_.cbegin(); turn != stages_.cend();) {
    if (chain == chains_.cend() || turn->alone.node < chain->nodes.front()) {
      turns_.push_back(*turn++);
      continue;
    }
    add_chain(*chain);
    while (turn != stages_.cend() && chain->together().has(turn->alone.node)) ++turn;
    ++chain;
  }
  share(shares_stages);
  scratch_ = allocate(scratch_stride_ * static_cast<std::size_t>(team_->threads()));
  packed_ = allocate(packed_bytes);
  constants_ = allocate(plan_.bytes[static_cast<std::size_t>(Storage::constant)]);
  const std::vector<std::byte> constants = constant_bytes(plan_);
  if (!constants.empty()) std::memcpy(constants_->data(), constants.data(), constants.size());
}

void CpuProgram::add_chain(const SampleChain& chain) {
  std::vector<Turn> after;
  for (std::size_t n = chain.nodes.front(); n <= chain.nodes.back(); ++n) {
    if (!plan_.runs(n)) continue;
    const bool is_member = std::ranges::binary_search(chain.nodes, n);
    const Stage* by_sample = is_member ? sample_stage_of(kernels_[n]) : nullptr;
    bool before = is_member;
    for (const Stage& stage : kernels_[n].stages) {
      if (&stage == by_sample) {
        before = false;
      } else {
        (before ? turns_ : after).push_back({{n, &stage}});
      }
    }
  }
  turns_.push_back({{}, &chain});
  turns_.insert(turns_.end(), after.begin(), after.end());
}

void CpuProgram::share(bool shares_stages) {
  std::vector<StageUse> uses;
  for (const Turn& turn : turns_) {
    StageUse& use = uses.emplace_back();
    if (turn.chain == nullptr) {
      const Kernel& kernel = kernels_[turn.alone.node];
      use = use_of(plan_, kernel, turn.alone.node,
                   static_cast<std::size_t>(turn.alone.stage - kernel.stages.data()));
      continue;
    }
    for (const std::size_t n : turn.chain->nodes) {
      const std::vector<Access> of_node = accesses(plan_, n);
      use.accesses.insert(use.accesses.end(), of_node.begin(), of_node.end());
      use.nodes.push_back(n);
    }
  }
  if (!shares_stages) {
    for (StageUse& use : uses) use.alone = true;
  }
  for (const std::vector<std::size_t>& places : share_stages(uses)) {
    Shared& shared = shared_.emplace_back();
    for (const std::size_t place : places) shared.turns.push_back(turns_[place]);
    // Fewer tasks are longer ones, which begin first.
    std::ranges::stable_sort(shared.turns, {}, &Turn::tasks);
    // Each thread begins with its own part of every turn, as it does where that stands alone.
    for (int thread = 0; thread < team_->threads(); ++thread) {
      for (const Turn& turn : shared.turns) {
        const Range own = split(turn.tasks(), team_->threads(), thread);
        for (auto index = static_cast<int>(own.begin); index < own.end; ++index) {
          shared.tasks.push_back({&turn, index});
        }
      }
    }
  }
  note_shared();
}

void CpuProgram::note_shared() {
  const auto first_node = [](const Turn& turn) {
    return turn.chain != nullptr ? turn.chain->nodes.front() : turn.alone.node;
  };
  std::vector<std::set<std::size_t>> beside(plan_.graph.nodes().size());
  for (const Shared& shared : shared_) {
    for (const Turn& turn : shared.turns) {
      for (const Turn& other : shared.turns) {
        if (&other != &turn) beside[first_node(turn)].insert(first_node(other));
      }
    }
  }
  plan_.chains.resize(beside.size());
  for (std::size_t n = 0; n < beside.size(); ++n) {
    if (beside[n].empty()) continue;
    plan_.chains[n] += fmt::format("{}from {} threads on shares stages with {}",
                                   plan_.chains[n].empty() ? "" : "; ", kFewestSharing,
                                   fmt::join(beside[n], ", "));
  }
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

std::byte* CpuProgram::scratch(int thread) const {
  return scratch_->data() + scratch_stride_ * static_cast<std::size_t>(thread);
}

void CpuProgram::attach(Places& places, const Memory& memory) const {
  places.operands.attach(plan_, memory, constants_->data());
  places.args.clear();
  std::byte* packed = packed_->data();
  for (std::size_t n = 0; n < plan_.graph.nodes().size(); ++n) {
    const Operands::NodeOperands& node = places.operands[n];
    places.args.push_back(
        {node.inputs, node.outputs, node.workspace, packed, memory.exchange.get()});
    if (plan_.runs(n)) packed += align_up(kernels_[n].packed_bytes);
  }
}

void CpuProgram::attach(const Memory& memory) {
  attach(places_, memory);
  is_packed_ = false;
}

void CpuProgram::attach_apart(const Memory& memory) { attach(apart_, memory); }

void CpuProgram::pack(const StepInfo& step) {
  if (is_packed_ || packing_.empty()) return;
  Run work(*this, packing_, step, 1, 0);
  team_->run(work);
  is_packed_ = true;
}

void CpuProgram::bind(std::size_t slot, const void* address) {
  places_.operands.bind(plan_, slot, address);
  if (apart_.operands.attached()) apart_.operands.bind(plan_, slot, address);
}

void CpuProgram::run(const StepInfo& first, std::uint64_t steps, std::uint64_t stride) {
  LINNET_ASSERT(places_.operands.attached());
  places_.operands.require_bound(plan_);
  if (turns_.empty()) return;
  pack(first);
  if (team_->threads() < kFewestSharing) {
    Run work(*this, turns_, first, steps, stride);
    team_->run(work);
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
  Together work(groups, meets);
  try {
    team_->run(work);
  } catch (...) {
    for (const SideBySide& group : groups) {
      for (const ProgramRun& run : group) Together::program_of(run).is_packed_ = false;
    }
    throw;
  }
}

std::vector<NodeTime> CpuProgram::profile(const StepInfo& first, std::uint64_t steps) {
  LINNET_ASSERT(places_.operands.attached() && steps > 0);
  places_.operands.require_bound(plan_);
  using Clock = std::chrono::steady_clock;
  const auto seconds = [](Clock::duration d) { return std::chrono::duration<double>(d).count(); };
  pack(first);
  NodeTimes times;
  StepInfo step = first;
  for (; step.step < first.step + steps; step = step.after(1, 0)) {
    const Clock::time_point begin = Clock::now();
    for (auto stage = stages_.cbegin(); stage != stages_.cend();) {
      const auto end = std::find_if(stage, stages_.cend(), [&](const Turn& t) {
        return t.alone.node != stage->alone.node;
      });
      Run work(*this, {stage, end}, step, 1, 0);
      const Clock::time_point start = Clock::now();
      team_->run(work);
      times.add(stage->alone.node, seconds(start - begin), seconds(Clock::now() - start));
      stage = end;
    }
  }
  return times.medians();
}

std::optional<std::size_t> CpuProgram::first_not_finite(const StepInfo& step) {
  LINNET_ASSERT(places_.operands.attached());
  places_.operands.require_bound(plan_);
  pack(step);
  for (auto stage = stages_.cbegin(); stage != stages_.cend();) {
    const std::size_t n = stage->alone.node;
    const auto end =
        std::find_if(stage, stages_.cend(), [&](const Turn& t) { return t.alone.node != n; });
    Run work(*this, {stage, end}, step, 1, 0);
    team_->run(work);
    const auto output = [&](std::size_t i) {
      return static_cast<const float*>(places_.operands[n].outputs[i]);
    };
    if (has_not_finite(plan_, n, output)) return n;
    stage = end;
  }
  return std::nullopt;
}

namespace {

/// Returns whether operands of the node lie inside its result.
bool holds_operands(const Plan& plan, const Node& node) {
  return std::ranges::any_of(node.inputs, [&](Value v) { return lies_in_result(plan, node, v); });
}

}  // namespace

void CpuProgram::poison_outputs(std::size_t n) const {
  const Node& node = plan_.graph.nodes()[n];
  for (std::size_t i = 0; i < node.outputs.size(); ++i) {
    const Placement& place = plan_.values[static_cast<std::size_t>(node.outputs[i].id)];
    if (place.root == node.outputs[i].id && place.bytes > 0 && !holds_operands(plan_, node)) {
      std::memset(places_.operands[n].outputs[i], 0xFF, place.bytes);
    }
  }
}

void CpuProgram::run_checked(const StepInfo& step) {
  places_.operands.require_bound(plan_);
  verify_plan(plan_);
  if (packed_->bytes() > 0) std::memset(packed_->data(), 0xFF, packed_->bytes());
  is_packed_ = false;
  pack(step);
  for (std::size_t n = 0; n < kernels_.size(); ++n) {
    if (!plan_.runs(n)) continue;
    poison_outputs(n);
    if (plan_.workspaces[n].bytes > 0) {
      std::memset(places_.args[n].workspace, 0xFF, plan_.workspaces[n].bytes);
    }
    for (const Stage& stage : kernels_[n].stages) {
      for (int task = 0; task < stage.tasks; ++task) {
        if (scratch_stride_ > 0) std::memset(scratch(0), 0xFF, scratch_stride_);
        stage.run(places_.args[n], {task, scratch(0), &step});
      }
    }
    check_outputs(plan_, n, [&](std::size_t i) {
      return static_cast<const float*>(places_.operands[n].outputs[i]);
    });
  }
}

}  // namespace linnet::cpu
