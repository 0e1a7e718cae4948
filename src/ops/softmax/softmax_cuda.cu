// SPDX-License-Identifier: Apache-2.0
#include "backend/cuda/element_wise.cuh"
#include "ops/softmax/row_teams_cuda.cuh"
#include "ops/softmax/softmax.h"

namespace linnet::cuda {
namespace {

// Every lane writes only elements that it alone reads, so outputs may lie in place of inputs.

template <bool kLogarithm>
struct Softmax {
  template <class Team>
  __device__ static void row(Team team, const float* x, const float*, std::int64_t n, float* y) {
    const float top = row_max(team, x, n);
    const float sum = exp_sum(team, x, n, top);
    const float all = kLogarithm ? ::logf(sum) : 1.0F / sum;
    // The logarithm in two steps: top + all would round the small differences away.
    for_columns(team, n, [&](std::int64_t c) {
      y[c] = kLogarithm ? (x[c] - top) - all : ::expf(x[c] - top) * all;
    });
  }
};

template <bool kLogarithm>
struct SoftmaxGrad {
  template <class Team>
  __device__ static void row(Team team, const float* dy, const float* y, std::int64_t n,
                             float* dx) {
    float sum = 0;
    for_columns(team, n, [&](std::int64_t c) { sum += kLogarithm ? dy[c] : dy[c] * y[c]; });
    sum = team_sum(team, sum);
    for_columns(team, n, [&](std::int64_t c) {
      dx[c] = kLogarithm ? dy[c] - ::expf(y[c]) * sum : y[c] * (dy[c] - sum);
    });
  }
};

/// A function of one operand gets a null for the second.
template <class F>
std::optional<Kernel> prepare_softmax(const NodeView& node, const Context& /*context*/) {
  const std::int64_t columns = node.in(kFirst)[-1];
  const std::int64_t rows = columns > 0 ? node.in(kFirst).elements() / columns : 0;
  return Kernel{.enqueue = [=, name = node.op.name().data()](const Args& args) {
    const float* first = args.in(kFirst);
    const float* second = args.inputs.size() > 1 ? args.in(kSecond) : nullptr;
    float* out = args.out(kFirst);
    each_row(args.stream, name, rows, columns,
             [=] __device__(auto team, std::int64_t row, std::int64_t n) {
               const std::int64_t at = row * columns;
               F::row(team, first + at, second != nullptr ? second + at : nullptr, n, out + at);
             });
  }};
}

}  // namespace

void register_softmax(Registry& registry) {
  registry.add(SoftmaxOp::kName, prepare_softmax<Softmax<false>>);
  registry.add(SoftmaxGradOp::kName, prepare_softmax<SoftmaxGrad<false>>);
  registry.add(LogSoftmaxOp::kName, prepare_softmax<Softmax<true>>);
  registry.add(LogSoftmaxGradOp::kName, prepare_softmax<SoftmaxGrad<true>>);
}

}  // namespace linnet::cuda
