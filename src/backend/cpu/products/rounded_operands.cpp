// SPDX-License-Identifier: Apache-2.0
#include "backend/cpu/products/rounded_operands.h"

#include <algorithm>
#include <array>
#include <span>
#include <vector>

#include "backend/cpu/bf16.h"
#include "base/check.h"
#include "core/align.h"

namespace linnet::cpu {
namespace {

constexpr std::size_t kMostOperands = 8;

/// Copies of operands, one after the other from `begin` on of some memory.
class Copies {
 public:
  Copies(KeptAs kept, std::size_t begin) : kept_(kept), bytes_(begin) {}

  void add(std::size_t operand, std::int64_t elements) {
    bytes_ = align_up(bytes_);
    copies_.push_back({operand, bytes_, total_, elements});
    const std::size_t size = kept_ == KeptAs::f32 ? sizeof(float) : sizeof(std::uint16_t);
    bytes_ += size * static_cast<std::size_t>(elements);
    total_ += elements;
  }
  std::size_t end() const { return bytes_; }
  /// Returns the stage that rounds them; `to` gives the memory of its Args.
  template <class To>
  Stage stage(To to) const {
    return parallel(tasks_for(total_, 0.3), total_, [*this, to](const Args& args, Range range) {
      for (const Copy& copy : copies_) {
        const std::int64_t begin = std::max(range.begin - copy.first, std::int64_t{0});
        const std::int64_t end = std::min(range.end - copy.first, copy.elements);
        if (begin >= end) continue;
        const float* from = args.in(copy.operand) + begin;
        std::byte* at = to(args) + copy.offset;
        if (kept_ == KeptAs::f32) {
          round_to_bf16(from, end - begin, reinterpret_cast<float*>(at) + begin);
        } else {
          round_to_bf16(from, end - begin, reinterpret_cast<std::uint16_t*>(at) + begin);
        }
      }
    });
  }
  void replace(std::span<void*> inputs, std::byte* memory) const {
    for (const Copy& copy : copies_) inputs[copy.operand] = memory + copy.offset;
  }

 private:
  /// `elements` values at `offset`, which count from `first` among those of all copies.
  struct Copy {
    std::size_t operand = 0;
    std::size_t offset = 0;
    std::int64_t first = 0;
    std::int64_t elements = 0;
  };

  KeptAs kept_;
  std::size_t bytes_;
  std::int64_t total_ = 0;
  std::vector<Copy> copies_ = {};
};

std::byte* workspace_of(const Args& args) { return args.workspace; }
std::byte* packed_of(const Args& args) { return args.packed; }

}  // namespace

Kernel with_rounded_operands(const NodeView& node, Kernel kernel,
                             const std::vector<std::size_t>& operands, KeptAs kept) {
  LINNET_ASSERT(node.inputs.size() <= kMostOperands);
  const auto is_fixed = [&](std::size_t operand) { return node.fixed(operand); };
  if (!std::ranges::all_of(kernel.packed_operands, is_fixed)) {
    kernel = packed_in_each_run(std::move(kernel));
  }
  Copies fixed(kept, kernel.packed_bytes);
  Copies others(kept, kernel.workspace_bytes);
  std::vector<std::size_t> packed = std::move(kernel.packed_operands);
  bool any_fixed = false;
  for (std::size_t operand : operands) {
    LINNET_ASSERT(node.inputs[operand].dtype == DType::f32);
    (is_fixed(operand) ? fixed : others).add(operand, node.in(operand).elements());
    any_fixed = any_fixed || is_fixed(operand);
    if (is_fixed(operand) && std::ranges::count(packed, operand) == 0) packed.push_back(operand);
  }
  Kernel result{.stages = {},
                .workspace_bytes = others.end(),
                .scratch_bytes = kernel.scratch_bytes,
                .packed_bytes = fixed.end(),
                .packed_operands = std::move(packed)};
  if (any_fixed) result.packing.push_back(fixed.stage(packed_of));
  result.stages.push_back(others.stage(workspace_of));
  const auto on_copies = [&](Stage& stage) {
    return parallel(stage.tasks,
                    [=, run = std::move(stage.run)](const Args& args, const Task& task) {
                      std::array<void*, kMostOperands> inputs{};
                      std::copy(args.inputs.begin(), args.inputs.end(), inputs.begin());
                      fixed.replace(inputs, args.packed);
                      others.replace(inputs, args.workspace);
                      Args inner = args;
                      inner.inputs = std::span(inputs).first(args.inputs.size());
                      run(inner, task);
                    });
  };
  for (Stage& stage : kernel.packing) result.packing.push_back(on_copies(stage));
  for (Stage& stage : kernel.stages) result.stages.push_back(on_copies(stage));
  result.engine = std::move(kernel.engine);
  return result;
}

}  // namespace linnet::cpu
