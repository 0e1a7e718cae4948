// SPDX-License-Identifier: Apache-2.0
#include "backend/cuda/kernel.h"
#include "backend/cuda/last_block.cuh"
#include "ops/metrics/batch_cuda.cuh"
#include "ops/metrics/metrics.h"
#include "ops/softmax/row_teams_cuda.cuh"

namespace linnet::cuda {
namespace {

/// Index of the first of a row's largest elements; as on the CPU a NaN wins in the first place
/// only.
template <class Team>
__device__ std::int64_t first_largest(Team team, const float* x, std::int64_t n) {
  const float top = row_max(team, x, n);
  std::int64_t first = n;
  for_columns(team, n, [&](std::int64_t c) {
    if (x[c] == top && c < first) first = c;
  });
  first = Team::reduce(first, [](std::int64_t a, std::int64_t b) { return a < b ? a : b; });
  return n > 0 && x[0] != x[0] ? 0 : first;
}

template <class Team>
__global__ void __launch_bounds__(kLargeBlock)
    count_correct(const float* scores, const std::int32_t* labels, std::int64_t rows,
                  std::int64_t classes, double* parts, unsigned* ticket, CountedBatch batch) {
  double correct = 0;
  for_team_rows<Team>(rows, classes, [&](Team team, std::int64_t row, std::int64_t n) {
    const std::int64_t winner = first_largest(team, scores + row * classes, n);
    if (n > 0 && Team::lane() == 0 && winner == labels[row]) correct += batch.weight_of(row);
  });
  if (!grid_sum(correct, parts, ticket)) return;
  const double weight = batch.weight();
  if (threadIdx.x == 0) batch.add(correct, weight);
}

/// Of a batch without classes, for one block.
__global__ void count_samples(CountedBatch batch) {
  const double weight = batch.weight();
  if (threadIdx.x == 0) batch.add(0, weight);
}

/// Where the weights are, and how many; place 0: there are none.
struct Weights {
  std::size_t place = 0;
  std::int64_t count = 0;
};

CountedBatch batch_of(const Args& args, const MetricsAttrs& attrs, const Weights& weights) {
  using In = MetricsOp::In;
  return {args.in_out<double>(In::counters),
          args.step,
          static_cast<std::uint64_t>(attrs.history),
          attrs.shard,
          args.in(In::loss),
          static_cast<double>(attrs.batch),
          weights.place > 0 ? args.in(weights.place) : nullptr,
          weights.count};
}

template <class Team>
Kernel classification(const MetricsAttrs& attrs, const Weights& weights, std::int64_t rows,
                      std::int64_t classes) {
  using In = MetricsOp::In;
  const LaunchShape shape = for_row_sums<Team>(rows, classes);
  const auto enqueue = [=](const Args& args) {
    launch(args.stream, "metrics", shape, count_correct<Team>, args.in(In::scores),
           args.in<std::int32_t>(In::labels), rows, classes, args.work<double>(), args.tickets,
           batch_of(args, attrs, weights));
  };
  return {.enqueue = enqueue, .workspace_bytes = grid_sum_bytes<double>(shape)};
}

std::optional<Kernel> prepare_metrics(const NodeView& node, const Context& /*context*/) {
  using In = MetricsOp::In;
  const MetricsAttrs attrs = node.attrs<MetricsOp>();
  const std::size_t place =
      static_cast<const MetricsOp&>(node.op).weights_input(node.inputs.size());
  const Weights weights{place, place > 0 ? node.in(place).elements() : 0};
  if (!attrs.classification) {
    const LaunchShape shape{.block = place > 0 ? kBlock : kWarp};
    return Kernel{.enqueue = [=](const Args& args) {
      launch(args.stream, "metrics", shape, count_samples, batch_of(args, attrs, weights));
    }};
  }
  const std::int64_t rows = node.in(In::scores)[0];
  const std::int64_t classes = node.in(In::scores)[1];
  return with_team(classes, [&](auto team) {
    return classification<decltype(team)>(attrs, weights, rows, classes);
  });
}

}  // namespace

void register_metrics(Registry& registry) { registry.add(MetricsOp::kName, prepare_metrics); }

}  // namespace linnet::cuda
