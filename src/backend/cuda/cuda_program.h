// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "backend/cuda/captured_graph.h"
#include "backend/cuda/device.h"
#include "backend/cuda/kernel.h"
#include "backend/cuda/loop_state.h"
#include "backend/cuda/planned_kernels.h"
#include "runtime/operands.h"

namespace linnet::cuda {

/// Steps a graph where the device can't loop over them.
inline constexpr std::int64_t kStepsWithoutLoop = 16;

/// A plan with its kernels on one device. Its steps are captured at the first run after attach() or
/// bind(); then a run is as many graph launches as graph_steps says, and waits for nothing.
class CudaProgram final : public Program {
 public:
  /// graph_steps, graph_required: see CudaOptions.
  CudaProgram(PlannedKernels planned, std::shared_ptr<const Device> device,
              std::int64_t graph_steps, bool graph_required = false);
  /// Waits for what was launched: it uses what goes now.
  ~CudaProgram() override;
  CudaProgram(const CudaProgram&) = delete;
  CudaProgram& operator=(const CudaProgram&) = delete;

  const Plan& plan() const override { return plan_; }
  const StepLaunches* launches() const override { return &launches_; }
  std::size_t private_bytes() const override {
    return constants_->bytes() + state_->bytes() + packed_->bytes();
  }
  void weights_changed() override { is_packed_ = false; }
  void attach(const Memory& memory) override;
  void bind(std::size_t slot, const void* address) override;
  void run(const StepInfo& first, std::uint64_t steps, std::uint64_t stride) override;
  void run_checked(const StepInfo& step) override;
  std::optional<std::size_t> first_not_finite(const StepInfo& step) override;
  /// Between events, without branches: in a graph of one step, or in the stream if graph_steps is
  /// 0. Small nodes take the microsecond or two that their event takes.
  std::vector<NodeTime> profile(const StepInfo& first, std::uint64_t steps) override;

  /// Enqueues what has to be done once before steps: call it where nobody captures.
  void make_ready();
  /// Enqueues one step, which a list describes; also while somebody captures. repack: after what is
  /// kept of weights.
  void enqueue_step(const StepList& steps, bool repack) const;
  /// Returns what is another object after attach() and bind(): what was captured is stale then.
  const std::shared_ptr<const int>& setting() const { return setting_; }
  /// Says that a graph cannot be had. Throws Error where graph_required.
  void fall_back(const std::string& problem, const std::string& instead);

 private:
  ProgramState* program_state() const { return reinterpret_cast<ProgramState*>(state_->data()); }
  LoopState* state() const { return &program_state()->loop; }
  void forget_graphs();
  void enqueue(const Args& args, std::size_t node) const;
  void enqueue(std::size_t node) const { enqueue(args_[node], node); }
  /// With its branches.
  void enqueue_step(const StepEnd& end) const;
  void enqueue_timed_step(std::span<const std::size_t> nodes, std::span<const Event> events,
                          unsigned flags) const;
  void pack() const;
  void pack_changed() {
    if (!std::exchange(is_packed_, true)) pack();
  }
  CapturedGraph capture_loops() const;
  void capture(std::uint64_t steps);
  void poison(std::size_t node) const;

  Plan plan_;
  StepLaunches launches_;
  std::shared_ptr<const Device> device_;
  std::vector<Kernel> kernels_;  ///< they may own a library's handles: gone before the device
  std::int64_t graph_steps_;
  bool graph_required_;
  std::unique_ptr<Buffer> constants_;
  std::unique_ptr<Buffer> state_;
  std::unique_ptr<Buffer> packed_;  ///< what kernels keep of weights
  bool is_packed_ = false;
  Operands operands_;
  std::vector<Args> args_;      ///< by node
  std::size_t last_ = 0;        ///< the last node that runs
  bool ends_itself_ = false;    ///< it ends the step
  Event forked_;                ///< the main branch has come to a node of the side branch
  std::vector<Event> ended_;    ///< by node of the side branch, if somebody waits for it
  CapturedGraph loop_graph_;    ///< any number of steps
  CapturedGraph steps_graph_;   ///< graph_steps_ of them
  CapturedGraph single_graph_;  ///< one
  std::shared_ptr<const int> setting_ = std::make_shared<int>();
};

}  // namespace linnet::cuda
