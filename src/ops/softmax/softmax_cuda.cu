// SPDX-License-Identifier: Apache-2.0
#include "backend/cuda/device.cuh"
#include "backend/cuda/kernel.h"
#include "ops/softmax/row_teams_cuda.cuh"
#include "ops/softmax/softmax.h"

namespace linnet::cuda {
namespace {

// Every lane writes only elements that it alone reads, so outputs may lie in place of inputs.

struct Softmax {
  template <class Team>
  __device__ static void row(const float* x, const float* /*none*/, std::int64_t n, float* y) {
    const float top = row_max<Team>(x, n);
    const float factor = 1.0F / exp_sum<Team>(x, n, top);
    for_columns<Team>(n, [&](std::int64_t c) { y[c] = ::expf(x[c] - top) * factor; });
  }
};

struct SoftmaxGrad {
  template <class Team>
  __device__ static void row(const float* dy, const float* y, std::int64_t n, float* dx) {
    float dot = 0;
    for_columns<Team>(n, [&](std::int64_t c) { dot += dy[c] * y[c]; });
    dot = team_sum<Team>(dot);
    for_columns<Team>(n, [&](std::int64_t c) { dx[c] = y[c] * (dy[c] - dot); });
  }
};

struct LogSoftmax {
  template <class Team>
  __device__ static void row(const float* x, const float* /*none*/, std::int64_t n, float* y) {
    const float top = row_max<Team>(x, n);
    const float total = ::logf(exp_sum<Team>(x, n, top));
    // In two steps: top + total would round the small differences away.
    for_columns<Team>(n, [&](std::int64_t c) { y[c] = (x[c] - top) - total; });
  }
};

struct LogSoftmaxGrad {
  template <class Team>
  __device__ static void row(const float* dy, const float* y, std::int64_t n, float* dx) {
    float sum = 0;
    for_columns<Team>(n, [&](std::int64_t c) { sum += dy[c]; });
    sum = team_sum<Team>(sum);
    for_columns<Team>(n, [&](std::int64_t c) { dx[c] = dy[c] - ::expf(y[c]) * sum; });
  }
};

/// `second`: null for functions of one operand.
template <class F, class Team>
__global__ void by_rows(const float* first, const float* second, std::int64_t rows,
                        std::int64_t columns, float* out) {
  for_team_rows<Team>(rows, columns, [&](std::int64_t row, std::int64_t n) {
    const std::int64_t at = row * columns;
    F::template row<Team>(first + at, second != nullptr ? second + at : nullptr, n, out + at);
  });
}

template <class F>
std::optional<Kernel> prepare(const NodeView& node, const Context& /*context*/) {
  const std::int64_t columns = node.in(kFirst)[-1];
  const std::int64_t rows = columns > 0 ? node.in(kFirst).elements() / columns : 0;
  if (rows == 0) return Kernel{.enqueue = [](const Args&) {}};
  return with_team(columns, [&](auto team) {
    using Team = decltype(team);
    return Kernel{.enqueue = [=, name = node.op.name().data()](const Args& args) {
      launch(args.stream, name, for_rows<Team>(rows), by_rows<F, Team>, args.in(kFirst),
             args.inputs.size() > 1 ? args.in(kSecond) : nullptr, rows, columns, args.out(kFirst));
    }};
  });
}

}  // namespace

void register_softmax(Registry& registry) {
  registry.add(SoftmaxOp::kName, prepare<Softmax>);
  registry.add(SoftmaxGradOp::kName, prepare<SoftmaxGrad>);
  registry.add(LogSoftmaxOp::kName, prepare<LogSoftmax>);
  registry.add(LogSoftmaxGradOp::kName, prepare<LogSoftmaxGrad>);
}

}  // namespace linnet::cuda
