// SPDX-License-Identifier: Apache-2.0
#include "backend/cuda/half_operands.h"

#include <vector>

#include "backend/cuda/element_wise.cuh"
#include "backend/cuda/workspace.h"

namespace linnet::cuda {
namespace {

/// A copy of an operand; `from` is f32 or T.
template <class T>
struct Copy {
  const void* from;
  T* to;  ///< null: none
  HalfOperand shape;

  constexpr std::int64_t items() const { return to == nullptr ? 0 : shape.padded_elements() / 4; }
  /// Four neighbours of a row.
  template <class From>
  __device__ void make(std::int64_t item, const From* data) const {
    const std::int64_t row = 4 * item / shape.padded_columns;
    const std::int64_t column = 4 * item - row * shape.padded_columns;
    const From* at = data + row * shape.columns + column;
    FloatVector<4> four;
    for (int v = 0; v < 4; ++v) {
      const bool inside = row < shape.rows && column + v < shape.columns;
      four[v] = inside ? to_float(at[v]) : 0.0F;
    }
    store_floats(to + 4 * item, four);
  }
  __device__ void make(std::int64_t item) const {
    if (shape.type == DType::f32) {
      make(item, static_cast<const float*>(from));
    } else {
      make(item, static_cast<const T*>(from));
    }
  }
};

template <class T>
__global__ void copy_to_half(Copy<T> first, Copy<T> second, Copy<T> third) {
  const std::int64_t of_first = first.items();
  const std::int64_t of_two = of_first + second.items();
  for (std::int64_t i = first_item(); i < of_two + third.items(); i += grid_stride()) {
    if (i < of_first) {
      first.make(i);
    } else if (i < of_two) {
      second.make(i - of_first);
    } else {
      third.make(i - of_two);
    }
  }
}

/// Rows that need no padding may have any length: they are one row.
HalfOperand in_fours(const HalfOperand& operand) {
  if (operand.is_padded()) return operand;
  const std::int64_t elements = operand.rows * operand.columns;
  return {operand.type, 1, elements, 1, (elements + 3) / 4 * 4};
}

template <class Y, class X>
void copy_elements(const Queue& stream, const char* name, std::int64_t elements, Y* to,
                   const X* from) {
  map_elements(
      stream, name, [] __device__(float x) { return x; }, elements, to, from);
}

template <class T>
void round_elements(const Queue& stream, std::int64_t elements, float* to, const float* from) {
  map_elements(
      stream, "round_to_half", [] __device__(float x) { return to_float(stored_as<T>(x)); },
      elements, to, from);
}

}  // namespace

HalfOperands::HalfOperands(DType half, const std::vector<HalfOperand>& operands)
    : half_(half), operands_(operands) {
  for (std::size_t i = 0; i < operands_.size(); ++i) {
    starts_[i] = bytes_;
    if (operands_[i].as_it_is()) continue;
    bytes_ +=
        library_padded(sizeof(Bf16) * static_cast<std::size_t>(operands_[i].padded_elements()));
  }
}

std::array<void*, HalfOperands::kMost> HalfOperands::enqueue(const Args& args,
                                                             std::byte* to) const {
  std::array<void*, kMost> places{};
  with_half(half_, [&]<class T>() {
    std::array<Copy<T>, kMost> copies{};
    std::int64_t fours = 0;
    for (std::size_t i = 0; i < operands_.size(); ++i) {
      const bool copied = !operands_[i].as_it_is();
      places[i] = copied ? to + starts_[i] : args.inputs[i];
      copies[i] = {args.inputs[i], copied ? static_cast<T*>(places[i]) : nullptr,
                   in_fours(operands_[i])};
      fours += copies[i].items();
    }
    launch(args.stream, "copy_to_half", for_items(fours), copy_to_half<T>, copies[0], copies[1],
           copies[2]);
  });
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
    with_half(half, [&]<class T>() {
      std::vector<void*> operands(args.inputs.begin(), args.inputs.end());
      for (std::size_t i = 0; i < 2; ++i) {
        float* to = args.work(starts[i]);
        operands[i] = to;
        if (widened[i]) {
          copy_elements(args.stream, "widen_half", elements[i], to, args.in<T>(i));
        } else {
          round_elements<T>(args.stream, elements[i], to, args.in(i));
        }
      }
      void* const result = stored ? args.workspace + starts[2] : args.outputs[kFirst];
      Args inner = args;
      inner.inputs = operands;
      inner.outputs = {&result, 1};
      inner.workspace = args.workspace + starts[3];
      run(inner);
      if (!stored) return;
      copy_elements(args.stream, "round_to_half", results, args.out<T>(kFirst),
                    static_cast<const float*>(result));
    });
  };
  return Kernel{.enqueue = enqueue,
                .workspace_bytes = starts[3] + kernel->workspace_bytes,
                .engine = kernel->engine + ", through f32"};
}

}  // namespace linnet::cuda
