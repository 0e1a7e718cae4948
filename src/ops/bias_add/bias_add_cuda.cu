// SPDX-License-Identifier: Apache-2.0
#include "backend/cuda/column_sum.cuh"
#include "backend/cuda/element_wise.cuh"
#include "ops/bias_add/bias_add.h"

namespace linnet::cuda {
namespace {

std::int64_t rows_of(const NodeView& node, std::int64_t channels) {
  return node.in(kFirst).elements() / std::max<std::int64_t>(channels, 1);
}

template <class T>
Kernel forward(const NodeView& node) {
  const std::int64_t channels = node.in(BiasAddOp::In::b)[0];
  return zip_rows<T>("bias_add", rows_of(node, channels), channels,
                     [] __device__(float x, float b) { return x + b; });
}

std::optional<Kernel> prepare_bias_add(const NodeView& node, const Context& /*context*/) {
  return with_stored(node, {kFirst}, {kFirst}, [&]<class T>() { return forward<T>(node); });
}

std::optional<Kernel> prepare_bias_add_grad(const NodeView& node, const Context& /*context*/) {
  const std::int64_t channels = node.out(BiasGradOp::Out::db)[0];
  return with_stored(node, {kFirst}, {}, [&]<class T>() {
    return column_sum_of_input<T>("bias_grad", rows_of(node, channels), channels);
  });
}

}  // namespace

void register_bias_add(Registry& registry) {
  registry.add(BiasAddOp::kName, prepare_bias_add, Stores::half);
  registry.add(BiasGradOp::kName, prepare_bias_add_grad, Stores::half);
}

}  // namespace linnet::cuda
