// SPDX-License-Identifier: Apache-2.0
#include "ops/causal_mask/causal_mask.h"

#include "backend/cpu/kernel.h"

namespace linnet::cpu {
namespace {

std::optional<Kernel> prepare_causal_mask(const NodeView& node) {
  using In = CausalMaskOp::In;
  using Out = CausalMaskOp::Out;
  const auto fill = static_cast<float>(node.attrs<CausalMaskOp>().fill);
  const std::int64_t queries = node.in(In::x)[-2];
  const std::int64_t keys = node.in(In::x)[-1];
  const std::int64_t rows = keys == 0 ? 0 : node.in(In::x).elements() / keys;
  return one_stage(rows, 0.3 * static_cast<double>(keys), [=](const Args& args, Range range) {
    for (std::int64_t r = range.begin; r < range.end; ++r) {
      const float* x = args.in(In::x) + r * keys;
      float* y = args.out(Out::y) + r * keys;
      const std::int64_t seen = std::min(r % queries + 1, keys);
      std::copy_n(x, x == y ? 0 : seen, y);
      std::fill_n(y + seen, keys - seen, fill);
    }
  });
}

}  // namespace

void register_causal_mask(Registry& registry) {
  registry.add(CausalMaskOp::kName, prepare_causal_mask);
}

}  // namespace linnet::cpu
