// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "backend/cpu/kernel.h"
#include "ops/blend/blend.h"

namespace linnet::cpu {
namespace {

Kernel sum_of_doubles(std::int64_t length) {
  using In = BlendOp::In;
  return one_stage(length, 0.6, [](const Args& args, const Task& /*task*/, Range part) {
    double* to = args.in_out<double>(In::target);
    const double* from = args.in<double>(In::source);
    for (std::int64_t i = part.begin; i < part.end; ++i) to[i] += from[i];
  });
}

std::optional<Kernel> prepare(const NodeView& node) {
  using In = BlendOp::In;
  if (node.inputs[In::target].dtype == DType::f64) {
    return sum_of_doubles(node.in(In::target).elements());
  }
  const BlendAttrs& attrs = node.attrs<BlendOp>();
  const std::int64_t length = node.in(In::target).elements();
  const std::vector<BlendRange> ranges = ranges_of(attrs, length);
  const BlendRule rule(attrs);
  const bool guarded = attrs.guarded;
  return one_stage(length, 0.3, [=](const Args& args, const Task& task, Range part) {
    if (guarded && args.in<double>(In::stopped)[0] != 0) return;
    float* to = args.in_out(In::target);
    const float* from = args.in(In::source);
    for (const BlendRange& range : ranges) {
      const BlendFactors by = blend_factors(rule, range.weight, *task.step);
      if (by.stays) return;
      const std::int64_t end = std::min(range.end, part.end);
      for (std::int64_t i = std::max(range.begin, part.begin); i < end; ++i) {
        to[i] = blend(by, to[i], from[i]);
      }
    }
  });
}

}  // namespace

void register_blend(Registry& registry) { registry.add(BlendOp::kName, prepare); }

}  // namespace linnet::cpu
