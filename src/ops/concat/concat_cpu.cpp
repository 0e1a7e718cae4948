// SPDX-License-Identifier: Apache-2.0
#include "ops/concat/concat.h"

#include <algorithm>

#include "backend/cpu/stored.h"
#include "ops/slice/axis.h"
#include "ops/slice/rows_cpu.h"

namespace linnet::cpu {
namespace {

/// One operand: its elements of a row of the result.
struct Part {
  std::size_t input = 0;
  std::int64_t begin = 0;
  std::int64_t end = 0;
};

/// Rows are written once and in order, each from all operands: the result streams to memory.
/// T: float or bfloat16.
template <class T>
Kernel kernel_of(const NodeView& node) {
  using Out = ConcatOp::Out;
  const int axis = node.attrs<ConcatOp>().axis;
  const AxisView y = axis_view(node.out(Out::y), axis);
  const std::int64_t size = y.row();
  std::vector<Part> parts;
  std::int64_t begin = 0;
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    const std::int64_t end = begin + axis_view(node.in(i), axis).row();
    if (end > begin) parts.push_back({i, begin, end});
    begin = end;
  }
  const double calls = static_cast<double>(parts.size());
  const double cost = kMoveCost + 3 * calls / static_cast<double>(std::max<std::int64_t>(size, 1));
  return for_rows(y.outer, size, cost,
                  [=](const Args& args, std::int64_t row, std::int64_t first, std::int64_t last) {
                    T* to = args.out<T>(Out::y) + row * size;
                    for (const Part& part : parts) {
                      const std::int64_t low = std::max(part.begin, first);
                      const std::int64_t high = std::min(part.end, last);
                      const T* from = args.in<T>(part.input) + row * (part.end - part.begin);
                      if (low < high) std::copy_n(from + (low - part.begin), high - low, to + low);
                    }
                  });
}

std::optional<Kernel> prepare(const NodeView& node) {
  if (!is_of_one_type(node)) return std::nullopt;
  return stores_bf16(node) ? kernel_of<std::uint16_t>(node) : kernel_of<float>(node);
}

}  // namespace

void register_concat(Registry& registry) { registry.add(ConcatOp::kName, prepare, Stores::bf16); }

}  // namespace linnet::cpu
