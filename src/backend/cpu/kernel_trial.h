// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "backend/cpu/kernel.h"
#include "base/thread_team.h"
#include "runtime/backend.h"

namespace linnet::cpu {

/// Memory for a node's operands, to try kernels on: inputs uniform in [-1, 1) from a fixed seed.
/// All operands are f32.
class TrialOperands {
 public:
  /// Throws OutOfMemory.
  explicit TrialOperands(const NodeView& node);

  /// Seconds of one run on the team, workspace and scratch in place, weights packed.
  double seconds(const Kernel& kernel, ThreadTeam& team);

 private:
  std::byte* reserve(std::unique_ptr<Buffer>& buffer, std::size_t bytes) const;

  std::vector<std::unique_ptr<Buffer>> buffers_;
  std::vector<void*> inputs_;
  std::vector<void*> outputs_;
  std::unique_ptr<Buffer> workspace_;
  std::unique_ptr<Buffer> packed_;
  std::unique_ptr<Buffer> scratch_;
};

/// Seconds that each kernel takes for `node` on the team: the least of several runs, which the
/// kernels take in turns. Throws OutOfMemory.
std::vector<double> times_of(std::span<const Kernel> kernels, const NodeView& node,
                             ThreadTeam& team);

}  // namespace linnet::cpu
