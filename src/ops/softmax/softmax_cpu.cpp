// SPDX-License-Identifier: Apache-2.0
#include "ops/softmax/softmax.h"

#include "backend/cpu/kernel.h"
#include "ops/softmax/row_softmax_cpu.h"

namespace linnet::cpu {
namespace {

/// Calls f(args, first element, columns) for every row of input 0.
template <class F>
Kernel by_rows(const NodeView& node, double cost_each, F f) {
  const std::int64_t columns = node.in(kFirst)[-1];
  const std::int64_t rows = node.in(kFirst).elements() / columns;
  return one_stage(rows, cost_each * static_cast<double>(columns),
                   [=](const Args& args, Range range) {
                     for (std::int64_t r = range.begin; r < range.end; ++r) {
                       f(args, r * columns, columns);
                     }
                   });
}

std::optional<Kernel> prepare_softmax(const NodeView& node) {
  return by_rows(node, 3, [](const Args& args, std::int64_t at, std::int64_t n) {
    softmax_row(args.in(SoftmaxOp::In::x) + at, n, args.out(SoftmaxOp::Out::y) + at);
  });
}

std::optional<Kernel> prepare_softmax_grad(const NodeView& node) {
  using In = SoftmaxGradOp::In;
  using Out = SoftmaxGradOp::Out;
  return by_rows(node, 1, [](const Args& args, std::int64_t at, std::int64_t n) {
    const float* dy = args.in(In::dy) + at;
    const float* y = args.in(In::y) + at;
    float* dx = args.out(Out::dx) + at;
    float dot = 0;
    for (std::int64_t i = 0; i < n; ++i) dot += dy[i] * y[i];
    for (std::int64_t i = 0; i < n; ++i) dx[i] = y[i] * (dy[i] - dot);
  });
}

std::optional<Kernel> prepare_log_softmax(const NodeView& node) {
  return by_rows(node, 3, [](const Args& args, std::int64_t at, std::int64_t n) {
    const float* x = args.in(LogSoftmaxOp::In::x) + at;
    float* y = args.out(LogSoftmaxOp::Out::y) + at;
    const float top = row_max(x, n);
    float sum = 0;
    for (std::int64_t i = 0; i < n; ++i) sum += exp_nonpositive(x[i] - top);
    const float total = std::log(sum);
    // In two steps: log_sum_exp itself would round the small differences away.
    for (std::int64_t i = 0; i < n; ++i) y[i] = (x[i] - top) - total;
  });
}

std::optional<Kernel> prepare_log_softmax_grad(const NodeView& node) {
  using In = LogSoftmaxGradOp::In;
  using Out = LogSoftmaxGradOp::Out;
  return by_rows(node, 3, [](const Args& args, std::int64_t at, std::int64_t n) {
    const float* dy = args.in(In::dy) + at;
    const float* y = args.in(In::y) + at;
    float* dx = args.out(Out::dx) + at;
    float sum = 0;
    for (std::int64_t i = 0; i < n; ++i) sum += dy[i];
    for (std::int64_t i = 0; i < n; ++i) dx[i] = dy[i] - exp_nonpositive(y[i]) * sum;
  });
}

}  // namespace

void register_softmax(Registry& registry) {
  registry.add(SoftmaxOp::kName, prepare_softmax);
  registry.add(SoftmaxGradOp::kName, prepare_softmax_grad);
  registry.add(LogSoftmaxOp::kName, prepare_log_softmax);
  registry.add(LogSoftmaxGradOp::kName, prepare_log_softmax_grad);
}

}  // namespace linnet::cpu
