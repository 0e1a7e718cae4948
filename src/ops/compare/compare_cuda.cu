// SPDX-License-Identifier: Apache-2.0
#include "backend/cuda/element_wise.cuh"
#include "ops/compare/compare.h"

namespace linnet::cuda {
namespace {

template <Comparison kKind>
Kernel compare_ids(std::int64_t elements) {
  const auto f = [=] __device__(std::int64_t i, float* y, const std::int32_t* a,
                                const std::int32_t* b) {
    y[i] = compare<kKind>(a[i], b[i]) ? 1.0F : 0.0F;
  };
  return each_item<float, std::int32_t, std::int32_t>("compare", elements, f);
}

template <Comparison kKind>
Kernel prepare_kind(const NodeView& node) {
  const std::int64_t elements = node.out(CompareOp::Out::y).elements();
  if (node.inputs.size() == 1) {
    const auto value = static_cast<float>(node.attrs<CompareOp>().value);
    return map("compare", elements,
               [=] __device__(float x) { return compare<kKind>(x, value) ? 1.0F : 0.0F; });
  }
  if (node.inputs[CompareOp::In::a].dtype == DType::i32) return compare_ids<kKind>(elements);
  return zip("compare", elements,
             [] __device__(float a, float b) { return compare<kKind>(a, b) ? 1.0F : 0.0F; });
}

std::optional<Kernel> prepare_compare(const NodeView& node, const Context& /*context*/) {
  return with_comparison(node.attrs<CompareOp>().kind,
                         [&]<Comparison kKind>() { return prepare_kind<kKind>(node); });
}

}  // namespace

void register_compare(Registry& registry) { registry.add(CompareOp::kName, prepare_compare); }

}  // namespace linnet::cuda
