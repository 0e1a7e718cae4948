// SPDX-License-Identifier: Apache-2.0
#include "ops/select/select.h"

#include "backend/cpu/element_wise.h"

namespace linnet::cpu {
namespace {

std::optional<Kernel> prepare(const NodeView& node) {
  const SelectAttrs attrs = node.attrs<SelectOp>();
  const std::int64_t elements = node.out(SelectOp::Out::y).elements();
  const auto value = static_cast<float>(attrs.value);
  if (node.inputs.size() == 2) {
    if (attrs.when) return zip(node, 0.4, [=](float c, float a) { return c != 0 ? a : value; });
    return zip(node, 0.4, [=](float c, float a) { return c != 0 ? value : a; });
  }
  return one_stage(elements, 0.5, [](const Args& args, Range range) {
    const float* condition = args.in(SelectOp::In::condition);
    const float* a = args.in(SelectOp::In::a);
    const float* b = args.in(SelectOp::In::b);
    float* y = args.out(SelectOp::Out::y);
    for (std::int64_t i = range.begin; i < range.end; ++i) {
      y[i] = condition[i] != 0 ? a[i] : b[i];
    }
  });
}

}  // namespace

void register_select(Registry& registry) { registry.add(SelectOp::kName, prepare); }

}  // namespace linnet::cpu
