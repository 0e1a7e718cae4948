// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "backend/cpu/cpu_program.h"
#include "base/check.h"

namespace linnet::cpu {
namespace {

StepInfo step_of(const StepInfo& first, std::uint64_t rows, std::size_t block) {
  StepInfo step = first;
  step.first_row += rows * block;
  return step;
}

}  // namespace

/// Blocks that each run on one thread: as many at the same time as there are threads.
class CpuProgram::BlocksApart final : public StagedWork {
 public:
  BlocksApart(CpuProgram& program, const StepInfo& first, std::uint64_t rows, std::size_t blocks,
              std::span<const std::size_t> strides)
      : program_(program), first_(first), rows_(rows), blocks_(blocks), strides_(strides) {}

  std::uint64_t stages() const override { return 1; }
  std::uint32_t tasks(std::uint64_t /*stage*/) const override {
    return static_cast<std::uint32_t>(blocks_);
  }
  void run(std::uint64_t /*stage*/, std::uint32_t block, int thread) override {
    Places& lane = program_.lanes_[static_cast<std::size_t>(thread)];
    program_.bind_block(lane, block, strides_);
    program_.run_whole(step_of(first_, rows_, block), thread, lane);
  }

 private:
  CpuProgram& program_;
  StepInfo first_;
  std::uint64_t rows_;
  std::size_t blocks_;
  std::span<const std::size_t> strides_;
};

/// Fewer blocks than threads, from `begin` on: in lock step, so that threads share each of them.
class CpuProgram::BlocksTogether final : public StagedWork {
 public:
  BlocksTogether(CpuProgram& program, const StepInfo& first, std::uint64_t rows, std::size_t begin,
                 std::size_t blocks, std::span<const std::size_t> strides)
      : program_(program), first_(step_of(first, rows, begin)), rows_(rows), blocks_(blocks) {
    for (std::size_t lane = 0; lane < blocks; ++lane) {
      program.bind_block(program.lanes_[lane], begin + lane, strides);
    }
  }

  std::uint64_t stages() const override { return program_.turns_.size(); }
  std::uint32_t tasks(std::uint64_t stage) const override {
    return static_cast<std::uint32_t>(program_.turns_[stage].tasks()) *
           static_cast<std::uint32_t>(blocks_);
  }
  void run(std::uint64_t stage, std::uint32_t task, int thread) override {
    const Turn& turn = program_.turns_[stage];
    const auto each = static_cast<std::uint32_t>(turn.tasks());
    const std::size_t lane = task / each;
    const StepInfo step = step_of(first_, rows_, lane);
    program_.run_turn(turn, {static_cast<int>(task % each), program_.scratch(thread), &step},
                      program_.lanes_[lane]);
  }

 private:
  CpuProgram& program_;
  StepInfo first_;
  std::uint64_t rows_;
  std::size_t blocks_;
};

std::size_t CpuProgram::lanes(std::size_t blocks) const {
  return std::min(blocks, static_cast<std::size_t>(team_->threads()));
}

void CpuProgram::attach_lanes(std::span<const Memory> lanes) {
  lanes_.resize(lanes.size());
  for (std::size_t i = 0; i < lanes.size(); ++i) attach(lanes_[i], lanes[i]);
}

void CpuProgram::bind_block(Places& lane, std::size_t block,
                            std::span<const std::size_t> strides) const {
  const std::span<const void* const> first = places_.operands.bound();
  for (std::size_t slot = 0; slot < first.size(); ++slot) {
    const auto* const address = static_cast<const std::byte*>(first[slot]);
    lane.operands.bind(plan_, slot, address + strides[slot] * block);
  }
}

void CpuProgram::run_blocks(const StepInfo& first, std::uint64_t rows, std::size_t blocks,
                            std::span<const std::size_t> strides) {
  LINNET_ASSERT(lanes_.size() >= lanes(blocks) &&
                strides.size() >= places_.operands.bound().size());
  places_.operands.require_bound(plan_);
  if (turns_.empty()) return;
  pack(first);
  const auto threads = static_cast<std::size_t>(team_->threads());
  const std::size_t apart = blocks / threads * threads;
  if (apart > 0) {
    BlocksApart work(*this, first, rows, apart, strides);
    team_->run(work);
  }
  if (apart < blocks) {
    BlocksTogether work(*this, first, rows, apart, blocks - apart, strides);
    team_->run(work);
  }
}

}  // namespace linnet::cpu
