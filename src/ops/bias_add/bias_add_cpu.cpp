// SPDX-License-Identifier: Apache-2.0
#include "backend/cpu/element_wise.h"
#include "backend/cpu/row_sum.h"
#include "ops/bias_add/bias_add.h"

namespace linnet::cpu {
namespace {

std::int64_t rows_of(const NodeView& node, std::int64_t channels) {
  return node.in(kFirst).elements() / std::max<std::int64_t>(channels, 1);
}

std::optional<Kernel> prepare_forward(const NodeView& node) {
  const std::int64_t channels = node.in(BiasAddOp::In::b)[0];
  return zip_rows(rows_of(node, channels), channels, 0.3,
                  [](const float* x, const float* b, std::int64_t count, float* y) {
                    for_pairs(x, b, count, y, std::plus<>());
                  });
}

std::optional<Kernel> prepare_gradient(const NodeView& node) {
  const std::int64_t channels = node.out(BiasGradOp::Out::db)[0];
  if (!stores_only(node, {kFirst}, {})) return std::nullopt;
  return plain_row_sum(node, rows_of(node, channels), channels);
}

}  // namespace

void register_bias_add(Registry& registry) {
  registry.add(BiasAddOp::kName, prepare_forward);
  registry.add(BiasGradOp::kName, prepare_gradient, Stores::bf16);
}

}  // namespace linnet::cpu
