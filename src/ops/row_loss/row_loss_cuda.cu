// SPDX-License-Identifier: Apache-2.0
#include "backend/cuda/element_wise.cuh"
#include "backend/cuda/total.cuh"
#include "ops/row_loss/formulas.h"

namespace linnet::cuda {
namespace {

std::optional<Kernel> prepare_row_loss(const NodeView& node, const Context& /*context*/) {
  using In = RowLossOp::In;
  const RowLossAttrs attrs = node.attrs<RowLossOp>();
  const std::int64_t columns = node.in(In::y)[-1];
  const std::int64_t rows = node.in(In::y).elements() / columns;
  return total("row_loss", rows, attrs.mean ? mean_factor(rows) : 1, [=](const Args& args) {
    const float* y = args.in(In::y);
    const float* t = args.in(In::target);
    return [=] __device__(std::int64_t row) -> double {
      return row_loss(attrs.kind, y + row * columns, t + row * columns, columns);
    };
  });
}

std::optional<Kernel> prepare_row_loss_grad(const NodeView& node, const Context& /*context*/) {
  using In = RowLossGradOp::In;
  const RowLossAttrs attrs = node.attrs<RowLossGradOp>();
  const std::int64_t columns = node.in(In::y)[-1];
  const std::int64_t rows = node.in(In::y).elements() / columns;
  const double factor = attrs.mean ? mean_factor(rows) : 1;
  const auto f = [=] __device__(std::int64_t row, float* dy, const float* dloss, const float* y,
                                const float* t) {
    const std::int64_t at = row * columns;
    row_slope(attrs.kind, factor * *dloss, y + at, t + at, columns, dy + at);
  };
  return each_item<float, float, float, float>("row_loss_grad", rows, f);
}

}  // namespace

void register_row_loss(Registry& registry) {
  registry.add(RowLossOp::kName, prepare_row_loss);
  registry.add(RowLossGradOp::kName, prepare_row_loss_grad);
}

}  // namespace linnet::cuda
