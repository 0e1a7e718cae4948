// SPDX-License-Identifier: Apache-2.0
#include "backend/cpu/rounded_operands.h"

#include <array>

#include "backend/cpu/bf16.h"
#include "base/check.h"
#include "core/align.h"

namespace linnet::cpu {
namespace {

constexpr std::size_t kMostOperands = 8;

/// One operand's copy: `elements` values at `offset` of the workspace, which count from `first`
/// among those of all copies.
struct Copy {
  std::size_t operand = 0;
  std::size_t offset = 0;
  std::int64_t first = 0;
  std::int64_t elements = 0;
};

template <class T>
void round_range(const std::vector<Copy>& copies, const Args& args, Range range) {
  for (const Copy& copy : copies) {
    const std::int64_t begin = std::max(range.begin - copy.first, std::int64_t{0});
    const std::int64_t end = std::min(range.end - copy.first, copy.elements);
    if (begin >= end) continue;
    round_to_bf16(args.in(copy.operand) + begin, end - begin, args.work<T>(copy.offset) + begin);
  }
}

}  // namespace

Kernel with_rounded_operands(const NodeView& node, Kernel kernel,
                             const std::vector<std::size_t>& operands, KeptAs kept) {
  LINNET_ASSERT(node.inputs.size() <= kMostOperands);
  kernel = packed_in_each_run(std::move(kernel));
  const std::size_t size = kept == KeptAs::f32 ? sizeof(float) : sizeof(std::uint16_t);
  std::vector<Copy> copies;
  std::size_t bytes = align_up(kernel.workspace_bytes);
  std::int64_t total = 0;
  for (std::size_t operand : operands) {
    LINNET_ASSERT(node.inputs[operand].dtype == DType::f32);
    copies.push_back({operand, bytes, total, node.in(operand).elements()});
    bytes += align_up(size * static_cast<std::size_t>(copies.back().elements));
    total += copies.back().elements;
  }
  Kernel result{.stages = {}, .workspace_bytes = bytes, .scratch_bytes = kernel.scratch_bytes};
  const int tasks = tasks_for(total, 0.3);
  result.stages.push_back(parallel(tasks, total, [=](const Args& args, Range range) {
    if (kept == KeptAs::f32) {
      round_range<float>(copies, args, range);
    } else {
      round_range<std::uint16_t>(copies, args, range);
    }
  }));
  for (Stage& stage : kernel.stages) {
    result.stages.push_back(
        parallel(stage.tasks,
                 [copies, run = std::move(stage.run)](const Args& args, const Task& task) {
                   std::array<void*, kMostOperands> inputs{};
                   std::copy(args.inputs.begin(), args.inputs.end(), inputs.begin());
                   for (const Copy& copy : copies) {
                     inputs[copy.operand] = args.workspace + copy.offset;
                   }
                   Args inner = args;
                   inner.inputs = std::span(inputs).first(args.inputs.size());
                   run(inner, task);
                 }));
  }
  result.engine = std::move(kernel.engine);
  return result;
}

}  // namespace linnet::cpu
