// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <vector>

#include "backend/cuda/device.cuh"
#include "backend/cuda/kernel.h"
#include "backend/cuda/loop_state.cuh"
#include "backend/cuda/vectors.cuh"
#include "ops/optimizer_update/optimizer_update.h"
#include "ops/optimizer_update/ranges_cuda.h"
#include "ops/optimizer_update/update_rule.h"

namespace linnet::cuda {
namespace {

/// Flat arrays of one length; moments that the rule does not keep are null.
struct UpdateArrays {
  float* parameters;
  const float* gradients;
  float* first;
  float* second;
};

/// kVector neighbours of every array, in registers.
template <UpdateRule kRule, int kVector>
struct Elements {
  static constexpr int kMoments = moments(kRule);
  FloatVector<kVector> parameter;
  FloatVector<kVector> gradient;
  FloatVector<kVector> first;
  FloatVector<kVector> second;

  __device__ void load(const UpdateArrays& a, std::int64_t at, bool aligned) {
    parameter = load_vector<kVector>(a.parameters + at, aligned);
    gradient = load_vector<kVector>(a.gradients + at, aligned);
    if constexpr (kMoments > 0) first = load_vector<kVector>(a.first + at, aligned);
    if constexpr (kMoments > 1) second = load_vector<kVector>(a.second + at, aligned);
  }
  __device__ void update(const UpdateFactors& factors) {
    for (int v = 0; v < kVector; ++v) {
      update_element(kRule, factors, parameter[v], gradient[v], first[v], second[v]);
    }
  }
  __device__ void store(const UpdateArrays& a, std::int64_t at, bool aligned) const {
    store_vector(a.parameters + at, parameter, aligned);
    if constexpr (kMoments > 0) store_vector(a.first + at, first, aligned);
    if constexpr (kMoments > 1) store_vector(a.second + at, second, aligned);
  }
};

template <UpdateRule kRule, int kMost>
__global__ void __launch_bounds__(kBlock)
    update_parameters(UpdateSettings settings, const StepInfo* step, const float* norm,
                      const float* scale, const double* stopped, UpdateArrays arrays,
                      RangeTable<kMost> table, bool aligned, StepEnd end, unsigned* ticket) {
  const std::int64_t whole = table.items / 4 * 4;
  std::int64_t i = 4 * first_item();
  int range = 0;
  std::int64_t at = i < whole ? table.element(i, range) : 0;
  // The first loads are on their way while a thread for each range works out the step's factors.
  Elements<kRule, 4> elements{};
  if (i < whole) elements.load(arrays, at, aligned);
  __shared__ UpdateFactors factors_of_block[kMost];
  if (threadIdx.x < static_cast<unsigned>(table.count)) {
    const UpdateRange own{.begin = 0,
                          .end = 0,
                          .rate_factor = table.rate_factor[threadIdx.x],
                          .weight_decay = table.weight_decay[threadIdx.x],
                          .left_out = table.left_out[threadIdx.x]};
    factors_of_block[threadIdx.x] =
        update_factors(settings, own, *step, norm != nullptr ? *norm : 0,
                       scale != nullptr ? gradient_scale(scale) : GradientScale{}, SquaringPower{});
  }
  __syncthreads();
  const bool updates = stopped == nullptr || *stopped == 0;
  UpdateFactors factors = factors_of_block[0];
  while (updates && i < whole) {
    if constexpr (kMost > 1) factors = factors_of_block[range];
    elements.update(factors);
    elements.store(arrays, at, aligned);
    i += 4 * grid_stride();
    if (i < whole) {
      at = table.element(i, range);
      elements.load(arrays, at, aligned);
    }
  }
  const std::int64_t tail = whole + first_item();
  if (updates && tail < table.items) {
    const int last = table.count - 1;
    Elements<kRule, 1> element{};
    element.load(arrays, tail + table.shift[last], false);
    element.update(factors_of_block[last]);
    element.store(arrays, tail + table.shift[last], false);
  }
  end_step(end, ticket);
}

template <UpdateRule kRule>
Kernel update_by(const UpdateSettings& settings, const std::vector<UpdateRange>& ranges,
                 bool guarded, std::size_t scaled, int multiprocessors) {
  using In = OptimizerUpdateOp::In;
  constexpr std::size_t kMoments = moments(kRule);
  constexpr std::size_t kNorm = OptimizerUpdateOp::norm_input(kRule);
  const auto enqueue = [=](const Args& args) {
    const UpdateArrays arrays{.parameters = args.in_out(In::parameters),
                              .gradients = args.in(In::gradients),
                              .first = kMoments > 0 ? args.in_out(In::first_moment) : nullptr,
                              .second = kMoments > 1 ? args.in_out(In::second_moment) : nullptr};
    const float* norm = settings.clip_norm > 0 ? args.in(kNorm) : nullptr;
    const float* scale = scaled > 0 ? args.in(scaled) : nullptr;
    const double* stopped = guarded ? args.in<double>(args.inputs.size() - 1) : nullptr;
    const bool aligned =
        vector_aligned(arrays.parameters, arrays.gradients, arrays.first, arrays.second);
    for_tables(ranges, [&]<int kMost>(const RangeTable<kMost>& table, bool last) {
      // One wave of blocks: every further one would work out the factors again.
      LaunchShape shape = for_items((table.items + 3) / 4);
      shape.grid.x = std::min(shape.grid.x, 4U * static_cast<unsigned>(multiprocessors));
      launch(args.stream, "optimizer_update", shape, update_parameters<kRule, kMost>, settings,
             args.step, norm, scale, stopped, arrays, table, aligned, last ? args.end : StepEnd{},
             args.tickets);
    });
  };
  return {.enqueue = enqueue, .ends_steps = true};
}

std::optional<Kernel> prepare_update(const NodeView& node, const Context& context) {
  const OptimizerAttrs& attrs = node.attrs<OptimizerUpdateOp>();
  const std::vector<UpdateRange> ranges =
      ranges_of(attrs, node.in(OptimizerUpdateOp::In::parameters).elements());
  if (ranges.empty()) return Kernel{.enqueue = [](const Args&) {}};
  const std::size_t scaled =
      static_cast<const OptimizerUpdateOp&>(node.op).scale_input(node.inputs.size());
  const auto by = [&](auto update) {
    return update(attrs.settings, ranges, attrs.guarded, scaled, context.multiprocessors);
  };
  switch (attrs.settings.rule) {
    case UpdateRule::sgd: return by(update_by<UpdateRule::sgd>);
    case UpdateRule::momentum: return by(update_by<UpdateRule::momentum>);
    case UpdateRule::nesterov: return by(update_by<UpdateRule::nesterov>);
    case UpdateRule::adam:
    case UpdateRule::adamw: return by(update_by<UpdateRule::adam>);
    case UpdateRule::rmsprop: return by(update_by<UpdateRule::rmsprop>);
    case UpdateRule::rmsprop_momentum: return by(update_by<UpdateRule::rmsprop_momentum>);
    case UpdateRule::adagrad: return by(update_by<UpdateRule::adagrad>);
    case UpdateRule::lion: return by(update_by<UpdateRule::lion>);
    case UpdateRule::muon: return by(update_by<UpdateRule::muon>);
  }
  return std::nullopt;
}

/// *norm = the root of the sum of squares. A table's blocks are number `first` and the following of
/// `blocks`.
template <int kMost>
__global__ void sum_squares(const float* x, RangeTable<kMost> table, bool aligned, double* parts,
                            unsigned* ticket, unsigned first, unsigned blocks, float* norm) {
  const auto square = [](float value) {
    return static_cast<double>(value) * static_cast<double>(value);
  };
  const std::int64_t whole = table.items / 4 * 4;
  int range = 0;
  double sum = 0;
  for (std::int64_t i = 4 * first_item(); i < whole; i += 4 * grid_stride()) {
    const FloatVector<4> four = load_vector<4>(x + table.element(i, range), aligned);
    sum += (square(four[0]) + square(four[1])) + (square(four[2]) + square(four[3]));
  }
  const std::int64_t tail = whole + first_item();
  if (tail < table.items) sum += square(x[tail + table.shift[table.count - 1]]);
  if (grid_sum(sum, parts, ticket, first + blockIdx.x, blocks) && threadIdx.x == 0) {
    *norm = static_cast<float>(::sqrt(sum));
  }
}

/// Returns the blocks that share the sum over a table.
template <int kMost>
unsigned blocks_of(const RangeTable<kMost>& table) {
  constexpr std::int64_t kElementsOfBlock = 16 * kBlock;
  return static_cast<unsigned>(
      std::clamp<std::int64_t>((table.items - 1) / kElementsOfBlock + 1, 1, 1024));
}

std::optional<Kernel> prepare_gradient_norm(const NodeView& node, const Context& /*context*/) {
  using In = GlobalNormOp::In;
  using Out = GlobalNormOp::Out;
  std::vector<UpdateRange> ranges =
      ranges_of(node.attrs<GlobalNormOp>(), node.in(In::x).elements());
  if (ranges.empty()) ranges.push_back({});  // the norm of nothing is 0
  unsigned blocks = 0;
  for_tables(ranges, [&](const auto& table, bool /*last*/) { blocks += blocks_of(table); });
  const auto enqueue = [=](const Args& args) {
    unsigned done = 0;
    for_tables(ranges, [&]<int kMost>(const RangeTable<kMost>& table, bool /*last*/) {
      const unsigned grid = blocks_of(table);
      launch(args.stream, "global_norm", {.grid = grid, .block = kBlock}, sum_squares<kMost>,
             args.in(In::x), table, vector_aligned(args.in(In::x)), args.work<double>(),
             args.tickets, done, blocks, args.out(Out::norm));
      done += grid;
    });
  };
  return Kernel{.enqueue = enqueue, .workspace_bytes = sizeof(double) * blocks};
}

}  // namespace

void register_optimizer_update(Registry& registry) {
  registry.add(OptimizerUpdateOp::kName, prepare_update);
  registry.add(GlobalNormOp::kName, prepare_gradient_norm);
}

}  // namespace linnet::cuda
