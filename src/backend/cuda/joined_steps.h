// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <string>
#include <vector>

#include "backend/cuda/captured_graph.h"
#include "backend/cuda/cuda_program.h"
#include "backend/cuda/device.h"
#include "runtime/device_ranks.h"

namespace linnet::cuda {

/// Runs steps of several programs with collectives between them. Those do not go into WHILE nodes,
/// so many steps are captured in one plain graph, and the ones that are left in graphs of a step.
class JoinedSteps {
 public:
  /// Enqueues what the links carry in one part, from and to memory that begins there; also while a
  /// graph is captured.
  using Carry = std::function<void(std::byte* memory, const LinkedPart&)>;
  /// graph_steps: see CudaOptions; kWholeEpoch: kStepsWithoutLoop.
  JoinedSteps(std::shared_ptr<const Device> device, std::int64_t graph_steps, Carry carry);

  /// Enqueues steps. Those of parts that were never run before are not captured: a library connects
  /// its ranks, or loads its kernels, in the first call.
  void enqueue(std::byte* memory, const LinkedSteps& steps);

 private:
  /// What is known of steps of equal parts.
  struct Form {
    std::byte* memory = nullptr;
    std::vector<LinkedPart> parts = {};
    std::vector<std::shared_ptr<const int>> settings = {};  ///< of the programs when captured
    CapturedGraph many = {};                                ///< graph_steps_ of them
    CapturedGraph single = {};
    void forget() {
      many = {};
      single = {};
    }
  };
  static constexpr std::size_t kForms = 8;

  void list(const std::vector<StepInfo>& infos);
  void enqueue_step(const Form& form) const;
  /// Returns what is kept of steps of such a form, the graphs if they are still good; null:
  /// nothing.
  Form* known(const Form& form);
  void capture(Form& form, std::uint64_t steps);

  std::shared_ptr<const Device> device_;
  std::int64_t graph_steps_;
  Carry carry_;
  std::unique_ptr<Buffer> list_;  ///< StepList::next, then StepList::infos
  std::list<Form> forms_;         ///< the most recently used first
};

}  // namespace linnet::cuda
