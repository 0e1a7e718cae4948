// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "backend/cpu/kernel.h"
#include "backend/cpu/sample_chains.h"
#include "base/thread_team.h"
#include "runtime/block_runs.h"
#include "runtime/operands.h"
#include "runtime/side_by_side.h"
#include "runtime/task_times.h"

namespace linnet::cpu {

/// A plan with its kernels bound to addresses, run by a thread team in one parallel region.
/// Stages of nodes that need nothing of each other share a hand-out.
class CpuProgram final : public Program,
                         public TimesTasks,
                         public RunsSideBySide,
                         public RunsBlocks {
 public:
  CpuProgram(Plan plan, std::vector<Kernel> kernels, std::vector<SampleChain> chains,
             std::shared_ptr<ThreadTeam> team, bool shares_stages);

  const Plan& plan() const override { return plan_; }
  std::size_t private_bytes() const override {
    return constants_->bytes() + scratch_->bytes() + packed_->bytes();
  }
  RunsSideBySide* side_by_side() override { return this; }
  RunsBlocks* blocks() override { return this; }
  TimesTasks* task_times() override { return this; }
  void attach(const Memory& memory) override;
  void attach_apart(const Memory& memory) override;
  void bind(std::size_t slot, const void* address) override;
  void weights_changed() override { is_packed_ = false; }
  void run(const StepInfo& first, std::uint64_t steps, std::uint64_t stride) override;
  void run_in_turn(std::span<const SideBySide> groups,
                   bool (*meets)(const Node& node)) const override;
  std::size_t lanes(std::size_t blocks) const override;
  void attach_lanes(std::span<const Memory> lanes) override;
  void run_blocks(const StepInfo& first, std::uint64_t rows, std::size_t blocks,
                  std::span<const std::size_t> strides) override;
  void run_checked(const StepInfo& step) override;
  std::optional<std::size_t> first_not_finite(const StepInfo& step) override;
  std::vector<NodeTime> profile(const StepInfo& first, std::uint64_t steps) override;
  std::vector<StageTimes> stage_times(const StepInfo& first, std::uint64_t steps) override;
  HandOut hand_out() override;

 private:
  struct BoundStage {
    std::size_t node;
    const Stage* stage;
  };
  /// A stage alone, or a chain.
  struct Turn {
    BoundStage alone;
    const SampleChain* chain = nullptr;

    int tasks() const { return chain != nullptr ? chain->parts() : alone.stage->tasks; }
  };
  /// A task of a turn.
  struct TurnTask {
    const Turn* turn;
    int index;
  };
  /// Turns that run at the same time.
  struct Shared {
    std::vector<Turn> turns;
    std::vector<TurnTask> tasks;  ///< in the order in which they are handed out
  };
  /// The plan's operands in some memory.
  struct Places {
    Operands operands;
    std::vector<Args> args;  ///< by node
  };
  class BlocksApart;
  class BlocksTogether;
  class Run;
  class SharedRun;
  class Together;
  class Watched;

  void add_chain(const SampleChain& chain);
  void share(bool shares_stages);
  void note_shared();
  /// Returns the turns that begin nodes for which `meets` holds, with the first and the end.
  std::vector<std::size_t> cuts(bool (*meets)(const Node& node)) const;
  bool packs(const ProgramRun& run) const;
  void attach(Places& places, const Memory& memory) const;
  void bind_block(Places& lane, std::size_t block, std::span<const std::size_t> strides) const;
  void run_turn(const Turn& turn, const Task& task, const Places& places) const;
  /// Runs `steps` repetitions of some turns, one after the other.
  void run_turns(std::span<const Turn> turns, const StepInfo& first, std::uint64_t steps,
                 std::uint64_t stride);
  /// Runs one step on the calling thread, one of the team's.
  void run_whole(const StepInfo& step, int thread, const Places& places) const;
  /// Returns whether a node of it waits for other programs.
  bool waits(bool (*meets)(const Node& node));
  /// Runs a part of a chain's samples.
  void run_part(const SampleChain& chain, const Task& task, const Places& places) const;
  void pack(const StepInfo& step);
  std::byte* scratch(int thread) const;
  void poison_outputs(std::size_t node) const;

  Plan plan_;
  std::vector<Kernel> kernels_;
  std::vector<SampleChain> chains_;
  std::shared_ptr<ThreadTeam> team_;
  std::unique_ptr<Buffer> constants_;
  std::unique_ptr<Buffer> scratch_;
  std::unique_ptr<Buffer> packed_;
  std::size_t scratch_stride_ = 0;
  Places places_;
  Places apart_;               ///< attach_apart()
  std::vector<Places> lanes_;  ///< attach_lanes()
  std::vector<Turn> packing_;
  bool is_packed_ = false;
  bool (*waits_by_)(const Node& node) = nullptr;  ///< for which waits() has been found
  bool waits_ = false;
  std::vector<Turn> stages_;    ///< node by node
  std::vector<Turn> turns_;     ///< the same stages as they run one by one
  std::vector<Shared> shared_;  ///< the same turns as they run
};

}  // namespace linnet::cpu
