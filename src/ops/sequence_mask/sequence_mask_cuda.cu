// SPDX-License-Identifier: Apache-2.0
#include "backend/cuda/element_wise.cuh"
#include "ops/sequence_mask/sequence_mask.h"
#include "ops/slice/axis.h"

namespace linnet::cuda {
namespace {

template <class T>
Kernel masked(const NodeView& node) {
  using In = SequenceMaskOp::In;
  const SequenceMaskAttrs attrs = node.attrs<SequenceMaskOp>();
  const AxisView s = axis_view(node.in(In::x), static_cast<int>(attrs.axis));
  const std::int64_t samples = node.in(In::x)[0];
  const std::int64_t outer = samples == 0 ? 1 : s.outer / samples;  // rows of a sample
  const auto f = [=] __device__(std::int64_t i, T * y, const T* x, const std::int32_t* lengths) {
    const std::int64_t step = i / s.inner;
    const std::int64_t length = steps_within(lengths[step / s.dim / outer], s.dim);
    const T divisor = attrs.mean ? static_cast<T>(length) : T{1};
    y[i] = step % s.dim < length ? x[i] / divisor : static_cast<T>(attrs.fill);
  };
  return each_item<T, T, std::int32_t>("sequence_mask", node.in(In::x).elements(), f);
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
