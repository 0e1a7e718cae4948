// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "backend/cpu/kernel.h"
#include "base/thread_team.h"
#include "runtime/backend.h"

namespace linnet::cpu {

/// A plan with its kernels bound to addresses, run by a thread team in one parallel region.
class CpuProgram final : public Program {
 public:
  CpuProgram(Plan plan, std::vector<Kernel> kernels, std::shared_ptr<ThreadTeam> team);

  const Plan& plan() const override { return plan_; }
  std::size_t private_bytes() const override { return constants_->bytes() + scratch_->bytes(); }
  void attach(const Memory& memory) override;
  void bind(std::size_t slot, const void* address) override;
  void run(const StepInfo& first, std::uint64_t steps, std::uint64_t stride) override;
  void run_checked(const StepInfo& step) override;

 private:
  struct BoundNode {
    std::vector<void*> inputs;
    std::vector<void*> outputs;
    Args args;
  };
  struct BoundStage {
    std::size_t node;
    const Stage* stage;
  };
  class Run;

  void* address(const Memory& memory, Value value) const;
  std::byte* scratch(int thread) const;
  void require_bound() const;
  void poison_outputs(const Node& node, const BoundNode& bound) const;
  void check_outputs(const Node& node, const BoundNode& bound) const;

  Plan plan_;
  std::vector<Kernel> kernels_;
  std::shared_ptr<ThreadTeam> team_;
  std::unique_ptr<Buffer> constants_;
  std::unique_ptr<Buffer> scratch_;
  std::size_t scratch_stride_ = 0;
  std::vector<BoundNode> nodes_;
  std::vector<BoundStage> stages_;
};

}  // namespace linnet::cpu
