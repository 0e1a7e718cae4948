// SPDX-License-Identifier: Apache-2.0
#include "backend/cuda/half_operands.h"

#include <algorithm>
#include <vector>

#include "backend/cuda/half_copies.h"
#include "backend/cuda/workspace.h"

namespace linnet::cuda {
namespace {

constexpr std::size_t kThird = 2;

/// Rows that need no padding may have any length: they are one row.
HalfOperand in_fours(const HalfOperand& operand) {
  if (operand.is_padded()) return operand;
  const std::int64_t elements = operand.rows * operand.columns;
  return {operand.type, 1, elements, 1, (elements + 3) / 4 * 4};
}

}  // namespace

HalfOperands::HalfOperands(DType half, const std::vector<HalfOperand>& operands)
    : half_(half), operands_(operands) {
  for (std::size_t i = 0; i < operands_.size(); ++i) {
    starts_[i] = bytes_;
    if (operands_[i].as_it_is()) continue;
    bytes_ += library_padded(sizeof(std::uint16_t) *
                             static_cast<std::size_t>(operands_[i].padded_elements()));
  }
}

void HalfOperands::place(std::byte* copies, std::span<void*> places) const {
  for (std::size_t i = 0; i < operands_.size(); ++i) {
    if (!operands_[i].as_it_is()) places[i] = copies + starts_[i];
  }
}

std::array<void*, HalfOperands::kMost> HalfOperands::enqueue(const Args& args,
                                                             std::byte* to) const {
  std::array<void*, kMost> places{};
  std::copy_n(args.inputs.begin(), operands_.size(), places.begin());
  place(to, places);
  std::array<HalfCopy, kMost> copies{};
  for (std::size_t i = 0; i < operands_.size(); ++i) {
    const bool copied = !operands_[i].as_it_is();
    copies[i] = {args.inputs[i], copied ? places[i] : nullptr, in_fours(operands_[i])};
  }
  copy_to_half(args.stream, half_, copies);
  return places;
}

std::optional<Kernel> through_f32(const NodeView& node, const Context& context, Prepare own,
                                  bool weights) {
  if (!stores_half(node)) return own(node, context);
  if (!stores_only(node, {kFirst, kSecond}, {kFirst}) ||
      (weights && stores_only(node, {kSecond}, {}))) {
    return std::nullopt;
  }
  std::vector<ValueType> inputs(node.inputs.begin(), node.inputs.end());
  ValueType output = node.outputs[kFirst];
  const DType half = stores_bf16(node) ? DType::bf16 : DType::f16;
  const bool stored = output.dtype != DType::f32;
  std::array<bool, 2> widened{};
  std::array<std::int64_t, 2> elements{};
  std::array<std::size_t, 4> starts{};  // of both operands, the result, and what the kernel needs
  for (std::size_t i = 0; i < 2; ++i) {
    widened[i] = inputs[i].dtype != DType::f32;
    elements[i] = inputs[i].shape.elements();
    inputs[i].dtype = DType::f32;
    starts[i + 1] = starts[i] + library_padded(inputs[i].bytes());
  }
  output.dtype = DType::f32;
  starts[3] = starts[2] + (stored ? library_padded(output.bytes()) : 0);
  std::optional<Kernel> kernel = own({node.op, inputs, {&output, 1}, node.output_read}, context);
  if (!kernel) return kernel;
  const auto enqueue = [=, results = output.shape.elements(),
                        run = kernel->enqueue](const Args& args) {
    std::vector<void*> operands(args.inputs.begin(), args.inputs.end());
    for (std::size_t i = 0; i < 2; ++i) {
      float* to = args.work(starts[i]);
      operands[i] = to;
      if (widened[i]) {
        widen_half(args.stream, half, elements[i], to, args.inputs[i]);
      } else {
        round_as_half(args.stream, half, elements[i], to, args.in(i));
      }
    }
    void* const result = stored ? args.workspace + starts[2] : args.outputs[kFirst];
    Args inner = args;
    inner.inputs = operands;
    inner.outputs = {&result, 1};
    inner.workspace = args.workspace + starts[3];
    run(inner);
    if (!stored) return;
    round_to_half(args.stream, half, results, args.outputs[kFirst],
                  static_cast<const float*>(result));
  };
  return Kernel{.enqueue = enqueue,
                .workspace_bytes = starts[3] + kernel->workspace_bytes,
                .engine = kernel->engine + ", through f32"};
}

std::optional<Kernel> with_packed_weights(const NodeView& node, const Context& context,
                                          Prepare engine) {
  const DType half = context.half();
  std::vector<ValueType> inputs(node.inputs.begin(), node.inputs.end());
  std::vector<HalfOperand> packed{{half}};  // none of operand 0
  const auto pack = [&](std::size_t i) {
    if (i >= inputs.size() || !node.fixed(i) || inputs[i].dtype != DType::f32) return false;
    const std::int64_t elements = inputs[i].shape.elements();
    packed.push_back({DType::f32, 1, elements, 1, elements});
    inputs[i].dtype = half;
    return true;
  };
  if (half == DType::f32 || !pack(kSecond)) return engine(node, context);
  const NodeView rounded{node.op, inputs, node.outputs, node.output_read, node.input_fixed};
  // Where the engine takes weights alone, the bias stays as it is.
  std::optional<Kernel> kernel;
  if (pack(kThird)) kernel = engine(rounded, context);
  if (!kernel) {
    if (packed.size() > kThird) inputs[kThird].dtype = DType::f32;
    packed.resize(kThird);
    kernel = engine(rounded, context);
  }
  if (!kernel) return engine(node, context);
  const HalfOperands operands(half, packed);
  kernel->pack = [operands](const Args& args) { operands.enqueue(args, args.packed); };
  kernel->packed_bytes = operands.bytes();
  kernel->enqueue = [operands, run = kernel->enqueue](const Args& args) {
    std::vector<void*> places(args.inputs.begin(), args.inputs.end());
    operands.place(args.packed, places);
    Args inner = args;
    inner.inputs = places;
    run(inner);
  };
  return kernel;
}

}  // namespace linnet::cuda
