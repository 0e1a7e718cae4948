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

/// One kernel, once.
class OneRun final : public StagedWork {
 public:
  OneRun(const Kernel& kernel, const Args& args, std::byte* scratch)
      : kernel_(kernel), args_(args), scratch_(scratch) {}

  std::uint64_t stages() const override { return kernel_.stages.size(); }
  std::uint32_t tasks(std::uint64_t stage) const override {
    return static_cast<std::uint32_t>(kernel_.stages[stage].tasks);
  }
  void run(std::uint64_t stage, std::uint32_t task, int thread) override {
    std::byte* mine = scratch_ + align_up(kernel_.scratch_bytes) * static_cast<std::size_t>(thread);
    kernel_.stages[stage].run(args_, {static_cast<int>(task), mine, &step_});
  }

 private:
  const Kernel& kernel_;
  const Args& args_;
  std::byte* scratch_;
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
  const Args args{inputs_, outputs_, reserve(workspace_, kernel.workspace_bytes)};
  const auto threads = static_cast<std::size_t>(team.threads());
  OneRun run(kernel, args, reserve(scratch_, align_up(kernel.scratch_bytes) * threads));
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
