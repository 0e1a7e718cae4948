// SPDX-License-Identifier: Apache-2.0
#include <limits>

#include "backend/cuda/kernel.h"
#include "ops/metrics/metrics.h"
#include "ops/softmax/row_teams_cuda.cuh"

namespace linnet::cuda {
namespace {

/// Holds what a batch adds, besides its correct samples.
struct Batch {
  double* counters;
  const StepInfo* step;
  std::uint64_t history;
  bool leaf;
  const float* loss;
  double samples;
  const float* weights;  ///< null: all are 1
  std::int64_t weighed;

  __device__ double weight_of(std::int64_t sample) const {
    return weights != nullptr ? weights[sample] : 1;
  }
  /// For a whole block; its first thread gets it.
  __device__ double weight() const {
    if (weights == nullptr) return samples;
    double sum = 0;
    for (std::int64_t i = threadIdx.x; i < weighed; i += blockDim.x) sum += weights[i];
    return block_sum(sum);
  }
  /// For one thread.
  __device__ void add(double correct, double weight) const {
    const auto count = [this](Counter c) -> double& {
      return counters[static_cast<std::size_t>(c)];
    };
    const float mean = *loss;
    if (leaf) {
      for (std::int64_t c = 0; c < kCounters; ++c) counters[c] = 0;
    }
    count(Counter::last_loss) = mean;
    if (history > 0) counters[kCounters + step->step % history] = mean;
    count(Counter::samples) += samples;
    count(Counter::weight) += weight;
    if (::fabsf(mean) <= std::numeric_limits<float>::max()) {
      count(Counter::loss) += mean * weight;
    } else {
      count(Counter::not_finite) += 1;
    }
    count(Counter::correct) += correct;
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

/// kWhole, for one block: adds the batch; else sums[block] = the weights of the block's correct
/// samples.
template <class Team, bool kWhole>
__global__ void __launch_bounds__(kLargeBlock)
    count_correct(const float* scores, const std::int32_t* labels, std::int64_t rows,
                  std::int64_t classes, double* sums, Batch batch) {
  double correct = 0;
  for_team_rows<Team>(rows, classes, [&](std::int64_t row, std::int64_t n) {
    const std::int64_t winner = first_largest<Team>(scores + row * classes, n);
    if (n > 0 && Team::lane() == 0 && winner == labels[row]) correct += batch.weight_of(row);
  });
  correct = block_sum(correct);
  if constexpr (kWhole) {
    const double weight = batch.weight();
    if (threadIdx.x == 0) batch.add(correct, weight);
  } else {
    if (threadIdx.x == 0) sums[blockIdx.x] = correct;
  }
}

/// One block.
__global__ void add_sums(const double* sums, unsigned blocks, Batch batch) {
  double correct = 0;
  for (unsigned i = threadIdx.x; i < blocks; i += blockDim.x) correct += sums[i];
  correct = block_sum(correct);
  const double weight = batch.weight();
  if (threadIdx.x == 0) batch.add(correct, weight);
}

/// Where the weights are, and how many; place 0: there are none.
struct Weights {
  std::size_t place = 0;
  std::int64_t count = 0;
};

Batch batch_of(const Args& args, const MetricsAttrs& attrs, const Weights& weights) {
  using In = MetricsOp::In;
  return {args.in_out<double>(In::counters),
          args.step,
          static_cast<std::uint64_t>(attrs.history),
          attrs.leaf,
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
  if (shape.grid.x == 1) {
    return {.enqueue = [=](const Args& args) {
      launch(args.stream, "metrics", shape, count_correct<Team, true>, args.in(In::scores),
             args.in<std::int32_t>(In::labels), rows, classes, nullptr,
             batch_of(args, attrs, weights));
    }};
  }
  const auto enqueue = [=](const Args& args) {
    auto* sums = args.work<double>();
    const Batch batch = batch_of(args, attrs, weights);
    launch(args.stream, "metrics", shape, count_correct<Team, false>, args.in(In::scores),
           args.in<std::int32_t>(In::labels), rows, classes, sums, batch);
    launch(args.stream, "metrics", {.block = kBlock}, add_sums, sums, shape.grid.x, batch);
  };
  return {.enqueue = enqueue, .workspace_bytes = sizeof(double) * shape.grid.x};
}

std::optional<Kernel> prepare(const NodeView& node, const Context& /*context*/) {
  using In = MetricsOp::In;
  const MetricsAttrs attrs = node.attrs<MetricsOp>();
  const std::size_t place =
      static_cast<const MetricsOp&>(node.op).weights_input(node.inputs.size());
  const Weights weights{place, place > 0 ? node.in(place).elements() : 0};
  if (!attrs.classification) {
    const LaunchShape shape{.block = place > 0 ? kBlock : kWarp};
    return Kernel{.enqueue = [=](const Args& args) {
      launch(args.stream, "metrics", shape, add_sums, nullptr, 0U, batch_of(args, attrs, weights));
    }};
  }
  const std::int64_t rows = node.in(In::scores)[0];
  const std::int64_t classes = node.in(In::scores)[1];
  return with_team(classes, [&](auto team) {
    return classification<decltype(team)>(attrs, weights, rows, classes);
  });
}

}  // namespace

void register_metrics(Registry& registry) { registry.add(MetricsOp::kName, prepare); }

}  // namespace linnet::cuda
