// SPDX-License-Identifier: Apache-2.0
#include "backend/cpu/kernel_trial.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include <numeric>
#include <random>

#include "backend/cpu/memory.h"
#include "base/check.h"
#include "core/align.h"

namespace linnet::cpu {
namespace {

/// Stages of one kernel, once.
class OneRun final : public StagedWork {
 public:
  OneRun(std::span<const Stage> stages, const Args& args, std::byte* scratch,
         std::size_t scratch_bytes)
      : stages_(stages), args_(args), scratch_(scratch), scratch_bytes_(scratch_bytes) {}

  std::uint64_t stages() const override { return stages_.size(); }
  std::uint32_t tasks(std::uint64_t stage) const override {
    return static_cast<std::uint32_t>(stages_[stage].tasks);
  }
  void run(std::uint64_t stage, std::uint32_t task, int thread) override {
    std::byte* mine = scratch_ + scratch_bytes_ * static_cast<std::size_t>(thread);
    stages_[stage].run(args_, {static_cast<int>(task), mine, &step_});
  }

 private:
  std::span<const Stage> stages_;
  const Args& args_;
  std::byte* scratch_;
  std::size_t scratch_bytes_;  ///< a thread's
  StepInfo step_;
};

void fill(Buffer& buffer, std::uint32_t seed) {
  std::minstd_rand random(seed);
  auto* values = reinterpret_cast<float*>(buffer.data());
  for (std::size_t i = 0; i < buffer.bytes() / sizeof(float); ++i) {
    values[i] = static_cast<float>(random() % 2048) / 1024.0F - 1.0F;
  }
}

}  // namespace

TrialOperands::TrialOperands(const NodeView& node) {
  const auto add = [&](const ValueType& type, std::vector<void*>& addresses) {
    LINNET_ASSERT(type.dtype == DType::f32);
    buffers_.push_back(allocate(align_up(type.bytes())));
    fill(*buffers_.back(), static_cast<std::uint32_t>(buffers_.size()));
    addresses.push_back(buffers_.back()->data());
  };
  for (const ValueType& type : node.inputs) add(type, inputs_);
  for (const ValueType& type : node.outputs) add(type, outputs_);
}

std::byte* TrialOperands::reserve(std::unique_ptr<Buffer>& buffer, std::size_t bytes) const {
  if (buffer == nullptr || buffer->bytes() < bytes) buffer = allocate(bytes);
  return buffer->data();
}

double TrialOperands::seconds(const Kernel& kernel, ThreadTeam& team) {
  const Args args{inputs_, outputs_, reserve(workspace_, kernel.workspace_bytes),
                  reserve(packed_, kernel.packed_bytes)};
  const std::size_t scratch_bytes = align_up(kernel.scratch_bytes);
  std::byte* scratch = reserve(scratch_, scratch_bytes * static_cast<std::size_t>(team.threads()));
  OneRun packing(kernel.packing, args, scratch, scratch_bytes);
  team.run(packing);
  OneRun run(kernel.stages, args, scratch, scratch_bytes);
  const auto start = std::chrono::steady_clock::now();
  team.run(run);
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

std::vector<double> times_of(std::span<const Kernel> kernels, const NodeView& node,
                             ThreadTeam& team) {
  constexpr double kEnough = 0.02;  // seconds for each kernel
  constexpr int kRounds = 12;
  constexpr int kLeast = 3;
  TrialOperands operands(node);
  for (const Kernel& kernel : kernels) operands.seconds(kernel, team);  // pages, caches, clocks
  std::vector<double> least(kernels.size(), std::numeric_limits<double>::infinity());
  double spent = 0;
  for (int round = 0; round < kRounds; ++round) {
    if (round >= kLeast && spent > kEnough * static_cast<double>(kernels.size())) break;
    for (std::size_t k = 0; k < kernels.size(); ++k) {
      const double seconds = operands.seconds(kernels[k], team);
      least[k] = std::min(least[k], seconds);
      spent += seconds;
    }
  }
  return least;
}

}  // namespace linnet::cpu
