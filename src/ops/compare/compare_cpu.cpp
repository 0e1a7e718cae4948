// SPDX-License-Identifier: Apache-2.0
#include "ops/compare/compare.h"

#include "backend/cpu/element_wise.h"

namespace linnet::cpu {
namespace {

constexpr double kCost = 0.4;

template <Comparison kKind, class T>
Kernel two_operands(std::int64_t elements) {
  return one_stage(elements, kCost, [](const Args& args, Range range) {
    const T* a = args.in<T>(CompareOp::In::a);
    const T* b = args.in<T>(CompareOp::In::b);
    float* y = args.out(CompareOp::Out::y);
    for (std::int64_t i = range.begin; i < range.end; ++i) {
      y[i] = compare<kKind>(a[i], b[i]) ? 1.0F : 0.0F;
    }
  });
}

std::optional<Kernel> prepare(const NodeView& node) {
  const CompareAttrs attrs = node.attrs<CompareOp>();
  const std::int64_t elements = node.out(CompareOp::Out::y).elements();
  return with_comparison(attrs.kind, [&]<Comparison kKind>() -> Kernel {
    if (node.inputs.size() == 1) {
      const auto value = static_cast<float>(attrs.value);
      return map(node, kCost, [=](float x) { return compare<kKind>(x, value) ? 1.0F : 0.0F; });
    }
    return node.inputs[CompareOp::In::a].dtype == DType::i32
               ? two_operands<kKind, std::int32_t>(elements)
               : two_operands<kKind, float>(elements);
  });
}

}  // namespace

void register_compare(Registry& registry) { registry.add(CompareOp::kName, prepare); }

}  // namespace linnet::cpu
