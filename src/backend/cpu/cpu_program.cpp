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

void CpuProgram::bind(std::size_t slot, const void* address) {
  places_.operands.bind(plan_, slot, address);
  if (apart_.operands.attached()) apart_.operands.bind(plan_, slot, address);
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
      const Clock::time_point start = Clock::now();
      run_turns({stage, end}, step, 1, 0);
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
    run_turns({stage, end}, step, 1, 0);
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
