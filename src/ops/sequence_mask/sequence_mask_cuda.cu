// SPDX-License-Identifier: Apache-2.0
#include "backend/cuda/device.cuh"
#include "backend/cuda/kernel.h"
#include "ops/sequence_mask/sequence_mask.h"
#include "ops/slice/axis.h"

namespace linnet::cuda {
namespace {

/// `outer` rows of (steps, inner) a sample.
struct Sequences {
  std::int64_t elements = 0;
  std::int64_t outer = 1;
  std::int64_t steps = 1;
  std::int64_t inner = 1;
};

template <class T>
__global__ void sequence_mask_kernel(T* y, const T* x, const std::int32_t* lengths, Sequences s,
                                     T fill, bool mean) {
  for (std::int64_t i = first_item(); i < s.elements; i += grid_stride()) {
    const std::int64_t step = i / s.inner;
    const std::int64_t length = steps_within(lengths[step / s.steps / s.outer], s.steps);
    const T divisor = mean ? static_cast<T>(length) : T{1};
    y[i] = step % s.steps < length ? x[i] / divisor : fill;
  }
}

template <class T>
Kernel masked(const NodeView& node) {
  using In = SequenceMaskOp::In;
  using Out = SequenceMaskOp::Out;
  const SequenceMaskAttrs attrs = node.attrs<SequenceMaskOp>();
  const AxisView view = axis_view(node.in(In::x), static_cast<int>(attrs.axis));
  const std::int64_t samples = node.in(In::x)[0];
  const Sequences sequences{.elements = node.in(In::x).elements(),
                            .outer = samples == 0 ? 1 : view.outer / samples,
                            .steps = view.dim,
                            .inner = view.inner};
  return {.enqueue = [=](const Args& args) {
    if (sequences.elements == 0) return;
    launch(args.stream, "sequence_mask", for_items(sequences.elements), sequence_mask_kernel<T>,
           args.out<T>(Out::y), args.in<T>(In::x), args.in<std::int32_t>(In::lengths), sequences,
           static_cast<T>(attrs.fill), attrs.mean);
  }};
}

std::optional<Kernel> prepare_sequence_mask(const NodeView& node, const Context& /*context*/) {
  return node.inputs[SequenceMaskOp::In::x].dtype == DType::i32 ? masked<std::int32_t>(node)
                                                                : masked<float>(node);
}

}  // namespace

void register_sequence_mask(Registry& registry) {
  registry.add(SequenceMaskOp::kName, prepare_sequence_mask);
}

}  // namespace linnet::cuda
