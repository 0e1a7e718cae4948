// SPDX-License-Identifier: Apache-2.0
#include "backend/cuda/total.cuh"
#include "ops/row_loss/formulas.h"

namespace linnet::cuda {
namespace {

struct Loss {
  RowLoss kind;
  const float* y;
  const float* t;
  std::int64_t columns;
  __device__ double operator()(std::int64_t row) const {
    return row_loss(kind, y + row * columns, t + row * columns, columns);
  }
};

__global__ void gradient(RowLoss kind, const float* dloss, double factor, const float* y,
                         const float* t, std::int64_t rows, std::int64_t columns, float* dy) {
  for (std::int64_t r = first_item(); r < rows; r += grid_stride()) {
    row_slope(kind, factor * *dloss, y + r * columns, t + r * columns, columns, dy + r * columns);
  }
}

std::optional<Kernel> prepare_forward(const NodeView& node, const Context& /*context*/) {
  using In = RowLossOp::In;
  const RowLossAttrs attrs = node.attrs<RowLossOp>();
  const std::int64_t columns = node.in(In::y)[-1];
  const std::int64_t rows = node.in(In::y).elements() / columns;
  return total("row_loss", rows, attrs.mean ? mean_factor(rows) : 1, [=](const Args& args) {
    return Loss{attrs.kind, args.in(In::y), args.in(In::target), columns};
  });
}

std::optional<Kernel> prepare_gradient(const NodeView& node, const Context& /*context*/) {
  using In = RowLossGradOp::In;
  using Out = RowLossGradOp::Out;
  const RowLossAttrs attrs = node.attrs<RowLossGradOp>();
  const std::int64_t columns = node.in(In::y)[-1];
  const std::int64_t rows = node.in(In::y).elements() / columns;
  const double factor = attrs.mean ? mean_factor(rows) : 1;
  return Kernel{.enqueue = [=](const Args& args) {
    if (rows == 0) return;
    launch(args.stream, "row_loss_grad", for_items(rows), gradient, attrs.kind, args.in(In::dloss),
           factor, args.in(In::y), args.in(In::target), rows, columns, args.out(Out::dy));
  }};
}

}  // namespace

void register_row_loss(Registry& registry) {
  registry.add(RowLossOp::kName, prepare_forward);
  registry.add(RowLossGradOp::kName, prepare_gradient);
}

}  // namespace linnet::cuda
