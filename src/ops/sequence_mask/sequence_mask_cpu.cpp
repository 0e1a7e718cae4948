// SPDX-License-Identifier: Apache-2.0
#include "ops/sequence_mask/sequence_mask.h"

#include "backend/cpu/kernel.h"
#include "ops/slice/axis.h"

namespace linnet::cpu {
namespace {

template <class T>
Kernel masked(const NodeView& node) {
  using In = SequenceMaskOp::In;
  using Out = SequenceMaskOp::Out;
  const SequenceMaskAttrs attrs = node.attrs<SequenceMaskOp>();
  const AxisView view = axis_view(node.in(In::x), static_cast<int>(attrs.axis));
  const std::int64_t samples = node.in(In::x)[0];
  const std::int64_t outer = samples == 0 ? 1 : view.outer / samples;
  const auto fill = static_cast<T>(attrs.fill);
  const double cost = 0.3 * static_cast<double>(view.row());
  return one_stage(view.outer, cost, [=](const Args& args, Range range) {
    for (std::int64_t r = range.begin; r < range.end; ++r) {
      const std::int64_t length =
          steps_within(args.in<std::int32_t>(In::lengths)[r / outer], view.dim);
      const std::int64_t counted = length * view.inner;
      const T* x = args.in<T>(In::x) + r * view.row();
      T* y = args.out<T>(Out::y) + r * view.row();
      if (attrs.mean) {
        const T factor = 1 / static_cast<T>(length);
        for (std::int64_t i = 0; i < counted; ++i) y[i] = x[i] * factor;
      } else if (x != y) {
        std::copy_n(x, counted, y);
      }
      std::fill_n(y + counted, view.row() - counted, fill);
    }
  });
}

std::optional<Kernel> prepare_sequence_mask(const NodeView& node) {
  return node.inputs[SequenceMaskOp::In::x].dtype == DType::i32 ? masked<std::int32_t>(node)
                                                                : masked<float>(node);
}

}  // namespace

void register_sequence_mask(Registry& registry) {
  registry.add(SequenceMaskOp::kName, prepare_sequence_mask);
}

}  // namespace linnet::cpu
