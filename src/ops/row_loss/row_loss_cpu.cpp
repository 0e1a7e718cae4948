// SPDX-License-Identifier: Apache-2.0
#include "ops/row_loss/row_loss.h"

#include "backend/cpu/kernel.h"
#include "backend/cpu/total.h"
#include "ops/row_loss/formulas.h"

namespace linnet::cpu {
namespace {

std::optional<Kernel> prepare_forward(const NodeView& node) {
  using In = RowLossOp::In;
  const RowLossAttrs attrs = node.attrs<RowLossOp>();
  const std::int64_t n = node.in(In::y)[-1];
  const std::int64_t rows = node.in(In::y).elements() / n;
  const double factor = attrs.mean ? mean_factor(rows) : 1;
  return total(rows, 3.0 * static_cast<double>(n), factor, [=](const Args& args, Range range) {
    double sum = 0;
    for (std::int64_t r = range.begin; r < range.end; ++r) {
      sum += row_loss(attrs.kind, args.in(In::y) + r * n, args.in(In::target) + r * n, n);
    }
    return sum;
  });
}

std::optional<Kernel> prepare_gradient(const NodeView& node) {
  using In = RowLossGradOp::In;
  using Out = RowLossGradOp::Out;
  const RowLossAttrs attrs = node.attrs<RowLossGradOp>();
  const std::int64_t n = node.in(In::y)[-1];
  const std::int64_t rows = node.in(In::y).elements() / n;
  const double factor = attrs.mean ? mean_factor(rows) : 1;
  return one_stage(rows, 4.0 * static_cast<double>(n), [=](const Args& args, Range range) {
    for (std::int64_t r = range.begin; r < range.end; ++r) {
      row_slope(attrs.kind, factor * *args.in(In::dloss), args.in(In::y) + r * n,
                args.in(In::target) + r * n, n, args.out(Out::dy) + r * n);
    }
  });
}

}  // namespace

void register_row_loss(Registry& registry) {
  registry.add(RowLossOp::kName, prepare_forward);
  registry.add(RowLossGradOp::kName, prepare_gradient);
}

}  // namespace linnet::cpu
