// SPDX-License-Identifier: Apache-2.0
#include "backend/cuda/element_wise.cuh"
#include "ops/blend/blend.h"

namespace linnet::cuda {
namespace {

/// `stopped` may be null.
__global__ void blend_kernel(BlendRule rule, float weight, const StepInfo* step,
                             const double* stopped, std::int64_t count, bool aligned, float* to,
                             const float* from) {
  if (stopped != nullptr && *stopped != 0) return;
  const BlendFactors by = blend_factors(rule, weight, *step);
  if (by.stays) return;
  const std::int64_t vectors = count / 4;
  for (std::int64_t i = first_item(); i < vectors; i += grid_stride()) {
    FloatVector<4> t = load_vector<4>(to + 4 * i, aligned);
    const FloatVector<4> s = load_vector<4>(from + 4 * i, aligned);
    for (int v = 0; v < 4; ++v) t[v] = blend(by, t[v], s[v]);
    store_vector(to + 4 * i, t, aligned);
  }
  const std::int64_t tail = 4 * vectors + first_item();
  if (tail < count) to[tail] = blend(by, to[tail], from[tail]);
}

std::optional<Kernel> prepare_blend(const NodeView& node, const Context& /*context*/) {
  using In = BlendOp::In;
  if (node.inputs[In::target].dtype == DType::f64) {
    const auto add = [] __device__(std::int64_t i, double* to, const double* from) {
      to[i] += from[i];
    };
    return Kernel{.enqueue = [=, count = node.in(In::target).elements()](const Args& args) {
      for_each_item(args.stream, "blend", count, add, args.in_out<double>(In::target),
                    args.in<double>(In::source));
    }};
  }
  const BlendAttrs& attrs = node.attrs<BlendOp>();
  const std::vector<BlendRange> ranges = ranges_of(attrs, node.in(In::target).elements());
  const BlendRule rule(attrs);
  const bool guarded = attrs.guarded;
  return Kernel{.enqueue = [=](const Args& args) {
    const double* stopped = guarded ? args.in<double>(In::stopped) : nullptr;
    for (const BlendRange& range : ranges) {
      const std::int64_t count = range.end - range.begin;
      float* to = args.in_out(In::target) + range.begin;
      const float* from = args.in(In::source) + range.begin;
      launch(args.stream, "blend", for_items((count + 3) / 4), blend_kernel, rule, range.weight,
             args.step, stopped, count, vector_aligned(to, from), to, from);
    }
  }};
}

}  // namespace

void register_blend(Registry& registry) { registry.add(BlendOp::kName, prepare_blend); }

}  // namespace linnet::cuda
