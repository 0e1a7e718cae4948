// SPDX-License-Identifier: Apache-2.0
#include "ops/softmax/softmax.h"

#include "backend/cpu/kernel.h"
#include "ops/softmax/row_softmax_cpu.h"

namespace linnet::cpu {
namespace {

/// Calls f(args, first element, rows, columns) for neighbouring rows of the result.
template <class F>
Kernel by_rows(const NodeView& node, double cost_each, F f) {
  const std::int64_t columns = node.in(kFirst)[-1];
  const std::int64_t rows = node.in(kFirst).elements() / columns;
  return one_stage(rows, cost_each * static_cast<double>(columns),
                   [=](const Args& args, Range range) {
                     f(args, range.begin * columns, range.size(), columns);
                   });
}

template <auto kRows>
std::optional<Kernel> prepare_forward(const NodeView& node) {
  return by_rows(node, 1, [](const Args& args, std::int64_t at, std::int64_t rows, std::int64_t n) {
    kRows(args.in(kFirst) + at, rows, n, args.out(kFirst) + at);
  });
}

template <auto kRows>
std::optional<Kernel> prepare_gradient(const NodeView& node) {
  return by_rows(node, 0.6,
                 [](const Args& args, std::int64_t at, std::int64_t rows, std::int64_t n) {
                   kRows(args.in(kFirst) + at, args.in(kSecond) + at, rows, n,
                         args.out(kFirst) + at);
                 });
}

}  // namespace

void register_softmax(Registry& registry) {
  registry.add(SoftmaxOp::kName, prepare_forward<softmax_rows>);
  registry.add(SoftmaxGradOp::kName, prepare_gradient<softmax_rows_gradient>);
  registry.add(LogSoftmaxOp::kName, prepare_forward<log_softmax_rows>);
  registry.add(LogSoftmaxGradOp::kName, prepare_gradient<log_softmax_rows_gradient>);
}

}  // namespace linnet::cpu
