// SPDX-License-Identifier: Apache-2.0
#include "backend/cuda/element_wise.cuh"
#include "ops/compare/compare.h"

namespace linnet::cuda {
namespace {

template <Comparison kKind>
struct WithValue {
  float value;
  __device__ float operator()(float x) const { return compare<kKind>(x, value) ? 1.0F : 0.0F; }
};
template <Comparison kKind>
struct WithOperand {
  __device__ float operator()(float a, float b) const { return compare<kKind>(a, b) ? 1.0F : 0.0F; }
};

template <Comparison kKind>
__global__ void compare_ids_kernel(std::int64_t elements, const std::int32_t* a,
                                   const std::int32_t* b, float* y) {
  for (std::int64_t i = first_item(); i < elements; i += grid_stride()) {
    y[i] = compare<kKind>(a[i], b[i]) ? 1.0F : 0.0F;
  }
}

template <Comparison kKind>
Kernel compare_ids(std::int64_t elements) {
  return {.enqueue = [=](const Args& args) {
    if (elements == 0) return;
    launch(args.stream, "compare", for_items(elements), compare_ids_kernel<kKind>, elements,
           args.in<std::int32_t>(CompareOp::In::a), args.in<std::int32_t>(CompareOp::In::b),
           args.out(CompareOp::Out::y));
  }};
}

struct Prepared {
  const NodeView& node;
  template <Comparison kKind>
  Kernel operator()() const {
    const std::int64_t elements = node.out(CompareOp::Out::y).elements();
    if (node.inputs.size() == 1) {
      const auto value = static_cast<float>(node.attrs<CompareOp>().value);
      return map("compare", elements, WithValue<kKind>{value});
    }
    if (node.inputs[CompareOp::In::a].dtype == DType::i32) return compare_ids<kKind>(elements);
    return zip("compare", elements, WithOperand<kKind>{});
  }
};

std::optional<Kernel> prepare(const NodeView& node, const Context& /*context*/) {
  return with_comparison(node.attrs<CompareOp>().kind, Prepared{node});
}

}  // namespace

void register_compare(Registry& registry) { registry.add(CompareOp::kName, prepare); }

}  // namespace linnet::cuda
