// SPDX-License-Identifier: Apache-2.0
#include "ops_f64/reference_kernels.h"

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "base/check.h"

namespace linnet::cpu {
namespace {

/// Elements of a piece: operands and results fit into the L2 cache.
constexpr std::int64_t kPiece = 4096;
/// What an element of a reference costs, in nanoseconds.
constexpr double kElementCost = 10;

/// An operand or result.
struct Held {
  DType dtype = DType::f64;
  Shape shape;
  bool is_cut = false;      ///< along its first axis, with the pieces
  bool is_mutated = false;  ///< an operand that is written as well
};

/// Calls f with a value of the C++ type of `dtype`.
template <class F>
void with_type(DType dtype, const F& f) {
  switch (dtype) {
    case DType::f64: return f(double{});
    case DType::f32: return f(float{});
    case DType::i32: return f(std::int32_t{});
    case DType::u8: return f(std::uint8_t{});
    default: throw InternalError("no operator of fp64 has operands of this type");
  }
}

/// How a kernel runs the reference: `items` items in pieces of `piece`. The operator lives as long
/// as the graph whose kernel this is.
struct Pieces {
  const Op* op = nullptr;
  std::vector<Held> inputs;
  std::vector<Held> outputs;
  std::int64_t piece = 1;

  static Shape shape_of(const Held& held, Range range) {
    return held.is_cut ? held.shape.with_batch(range.size()) : held.shape;
  }
  static std::int64_t first_of(const Held& held, Range range) {
    return held.is_cut ? range.begin * held.shape.sample().elements() : 0;
  }

  void run(const Args& args, const Task& task, Range range) const {
    std::vector<ReferenceTensor> tensors(inputs.size() + outputs.size());
    std::vector<ReferenceTensor*> all;
    for (ReferenceTensor& tensor : tensors) all.push_back(&tensor);
    const std::span operands = std::span(all).first(inputs.size());
    const std::span results = std::span(all).subspan(inputs.size());
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const Held& held = inputs[i];
      operands[i]->shape = shape_of(held, range);
      operands[i]->data.resize(static_cast<std::size_t>(operands[i]->shape.elements()));
      with_type(held.dtype, [&](auto element) {
        const auto* from = args.in<decltype(element)>(i) + first_of(held, range);
        std::copy_n(from, operands[i]->data.size(), operands[i]->data.begin());
      });
    }
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      results[i]->shape = shape_of(outputs[i], range);
      results[i]->data.assign(static_cast<std::size_t>(results[i]->shape.elements()),
                              std::numeric_limits<double>::quiet_NaN());
    }
    op->reference({operands, results, *task.step});
    const auto write = [&](const Held& held, const ReferenceTensor& from, void* to) {
      with_type(held.dtype, [&](auto element) {
        using T = decltype(element);
        std::ranges::transform(from.data, static_cast<T*>(to) + first_of(held, range),
                               [](double x) { return static_cast<T>(x); });
      });
    };
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      if (inputs[i].is_mutated) write(inputs[i], *operands[i], args.inputs[i]);
    }
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      if (args.outputs[i] != nullptr) write(outputs[i], *results[i], args.outputs[i]);
    }
  }
};

std::vector<Held> held_of(std::span<const ValueType> types) {
  std::vector<Held> held;
  for (const ValueType& type : types) held.push_back({.dtype = type.dtype, .shape = type.shape});
  return held;
}

Pieces pieces_of(const NodeView& node) {
  Pieces pieces{.op = &node.op, .inputs = held_of(node.inputs), .outputs = held_of(node.outputs)};
  for (std::size_t i = 0; i < pieces.inputs.size(); ++i) {
    pieces.inputs[i].is_mutated = node.op.mutates(i);
  }
  return pieces;
}

/// Returns the kernel over `items` items of `width` elements each.
Kernel kernel_of(Pieces pieces, std::int64_t items, std::int64_t width) {
  pieces.piece = std::max<std::int64_t>(kPiece / std::max<std::int64_t>(width, 1), 1);
  return one_stage(items, kElementCost * static_cast<double>(width),
                   [pieces = std::move(pieces)](const Args& args, const Task& task, Range range) {
                     for (std::int64_t i = range.begin; i < range.end; i += pieces.piece) {
                       pieces.run(args, task, {i, std::min(i + pieces.piece, range.end)});
                     }
                   });
}

}  // namespace

std::optional<Kernel> reference_whole(const NodeView& node) {
  Kernel kernel;
  kernel.stages.push_back(
      parallel(1, [pieces = pieces_of(node)](const Args& args, const Task& task) {
        pieces.run(args, task, {0, 1});
      }));
  return kernel;
}

std::optional<Kernel> reference_of_elements(const NodeView& node) {
  const Shape& shape = node.out(kFirst);
  Pieces pieces = pieces_of(node);
  for (std::vector<Held>* side : {&pieces.inputs, &pieces.outputs}) {
    for (Held& held : *side) {
      if (held.shape != shape) return reference_whole(node);
      held.shape = Shape{shape.elements()};
      held.is_cut = true;
    }
  }
  return kernel_of(std::move(pieces), shape.elements(), 1);
}

std::optional<Kernel> reference_of_rows(const NodeView& node) {
  const Shape& shape = node.out(kFirst);
  if (shape.rank() < 1 || node.inputs.empty() || node.in(kFirst).rank() < 2) {
    return reference_whole(node);
  }
  const std::int64_t rows = node.in(kFirst)[0];
  Pieces pieces = pieces_of(node);
  std::int64_t width = 1;
  for (std::vector<Held>* side : {&pieces.inputs, &pieces.outputs}) {
    for (Held& held : *side) {
      const bool of_result = side == &pieces.outputs;
      held.is_cut = held.shape.rank() >= (of_result ? 1U : 2U) && held.shape[0] == rows;
      if (held.is_cut) width = std::max(width, held.shape.sample().elements());
      if (of_result && !held.is_cut) return reference_whole(node);
    }
  }
  return kernel_of(std::move(pieces), rows, width);
}

}  // namespace linnet::cpu
