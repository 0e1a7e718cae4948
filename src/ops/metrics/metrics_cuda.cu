// SPDX-License-Identifier: Apache-2.0
#include <limits>

#include "backend/cuda/kernel.h"
#include "ops/metrics/metrics.h"
#include "ops/softmax/row_teams_cuda.cuh"

namespace linnet::cuda {
namespace {

/// What a batch adds, besides its count of correct samples.
struct Batch {
  double* counters;
  const StepInfo* step;
  std::uint64_t history;
  const float* loss;
  double samples;

  /// For one thread.
  __device__ void add(std::int64_t correct) const {
    const auto count = [this](Counter c) -> double& {
      return counters[static_cast<std::size_t>(c)];
    };
    const float mean = *loss;
    count(Counter::last_loss) = mean;
    if (history > 0) counters[kCounters + step->step % history] = mean;
    count(Counter::samples) += samples;
    if (::fabsf(mean) <= std::numeric_limits<float>::max()) {
      count(Counter::loss) += mean * samples;
    } else {
      count(Counter::not_finite) += 1;
    }
    count(Counter::correct) += static_cast<double>(correct);
  }
};

/// Index of the first of a row's largest elements; as on the CPU a NaN wins in the first place
/// only.
template <class Team>
__device__ std::int64_t first_largest(const float* x, std::int64_t n) {
  const float top = row_max<Team>(x, n);
  std::int64_t first = n;
  for_columns<Team>(n, [&](std::int64_t c) {
    if (x[c] == top && c < first) first = c;
  });
  first = Team::reduce(first, [](std::int64_t a, std::int64_t b) { return a < b ? a : b; });
  return n > 0 && x[0] != x[0] ? 0 : first;
}

/// kWhole, for one block: adds the batch; else counts[block] = the block's correct samples.
template <class Team, bool kWhole>
__global__ void __launch_bounds__(kLargeBlock)
    count_correct(const float* scores, const std::int32_t* labels, std::int64_t rows,
                  std::int64_t classes, std::int64_t* counts, Batch batch) {
  std::int64_t correct = 0;
  for_team_rows<Team>(rows, classes, [&](std::int64_t row, std::int64_t n) {
    const std::int64_t winner = first_largest<Team>(scores + row * classes, n);
    if (n > 0 && Team::lane() == 0 && winner == labels[row]) ++correct;
  });
  correct = block_sum(correct);
  if (threadIdx.x != 0) return;
  if constexpr (kWhole) {
    batch.add(correct);
  } else {
    counts[blockIdx.x] = correct;
  }
}

/// One block.
__global__ void add_counts(const std::int64_t* counts, unsigned blocks, Batch batch) {
  std::int64_t correct = 0;
  for (unsigned i = threadIdx.x; i < blocks; i += blockDim.x) correct += counts[i];
  correct = block_sum(correct);
  if (threadIdx.x == 0) batch.add(correct);
}

Batch batch_of(const Args& args, const MetricsAttrs& attrs) {
  return {args.in_out<double>(0), args.step, static_cast<std::uint64_t>(attrs.history), args.in(1),
          static_cast<double>(attrs.batch)};
}

template <class Team>
Kernel classification(const MetricsAttrs& attrs, std::int64_t rows, std::int64_t classes) {
  const LaunchShape shape = for_row_sums<Team>(rows, classes);
  if (shape.grid.x == 1) {
    return {.enqueue = [=](const Args& args) {
      launch(args.stream, "metrics", shape, count_correct<Team, true>, args.in(2),
             args.in<std::int32_t>(3), rows, classes, nullptr, batch_of(args, attrs));
    }};
  }
  const auto enqueue = [=](const Args& args) {
    auto* counts = args.work<std::int64_t>();
    const Batch batch = batch_of(args, attrs);
    launch(args.stream, "metrics", shape, count_correct<Team, false>, args.in(2),
           args.in<std::int32_t>(3), rows, classes, counts, batch);
    launch(args.stream, "metrics", {.block = kBlock}, add_counts, counts, shape.grid.x, batch);
  };
  return {.enqueue = enqueue, .workspace_bytes = sizeof(std::int64_t) * shape.grid.x};
}

std::optional<Kernel> prepare(const NodeView& node, const Context& /*context*/) {
  const MetricsAttrs attrs = node.attrs<MetricsOp>();
  if (!attrs.classification) {
    return Kernel{.enqueue = [=](const Args& args) {
      launch(args.stream, "metrics", {.block = kWarp}, add_counts, nullptr, 0U,
             batch_of(args, attrs));
    }};
  }
  const std::int64_t rows = node.in(2)[0];
  const std::int64_t classes = node.in(2)[1];
  return with_team(classes,
                   [&](auto team) { return classification<decltype(team)>(attrs, rows, classes); });
}

}  // namespace

void register_metrics(Registry& registry) { registry.add(MetricsOp::kName, prepare); }

}  // namespace linnet::cuda
