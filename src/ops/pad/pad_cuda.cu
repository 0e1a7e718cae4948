// SPDX-License-Identifier: Apache-2.0
#include "backend/cuda/device.cuh"
#include "backend/cuda/kernel.h"
#include "ops/pad/pad.h"
#include "ops/slice/axis.h"

namespace linnet::cuda {
namespace {

/// Rows of `size` elements, of which x holds [low, high).
struct Rows {
  std::int64_t elements = 0;
  std::int64_t size = 1;
  std::int64_t low = 0;
  std::int64_t high = 0;
};

__global__ void pad_kernel(const float* x, Rows rows, float value, float* y) {
  for (std::int64_t i = first_item(); i < rows.elements; i += grid_stride()) {
    const std::int64_t row = i / rows.size;
    const std::int64_t column = i - row * rows.size;
    const bool inside = column >= rows.low && column < rows.high;
    y[i] = inside ? x[row * (rows.high - rows.low) + column - rows.low] : value;
  }
}

std::optional<Kernel> prepare(const NodeView& node, const Context& /*context*/) {
  const PadAttrs attrs = node.attrs<PadOp>();
  const AxisView x = axis_view(node.in(PadOp::In::x), attrs.axis);
  const std::int64_t low = attrs.before * x.inner;
  const Rows rows{.elements = node.out(PadOp::Out::y).elements(),
                  .size = axis_view(node.out(PadOp::Out::y), attrs.axis).row(),
                  .low = low,
                  .high = low + x.row()};
  return Kernel{.enqueue = [=](const Args& args) {
    if (rows.elements == 0) return;
    launch(args.stream, "pad", for_items(rows.elements), pad_kernel, args.in(PadOp::In::x), rows,
           static_cast<float>(attrs.value), args.out(PadOp::Out::y));
  }};
}

}  // namespace

void register_pad(Registry& registry) { registry.add(PadOp::kName, prepare); }

}  // namespace linnet::cuda
