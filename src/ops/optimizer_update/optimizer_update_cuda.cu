// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "backend/cuda/device.cuh"
#include "backend/cuda/kernel.h"
#include "backend/cuda/vectors.cuh"
#include "ops/optimizer_update/optimizer_update.h"
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

template <UpdateRule kRule>
__global__ void __launch_bounds__(kBlock)
    update_parameters(OptimizerAttrs attrs, const StepInfo* step, const float* norm,
                      UpdateArrays arrays, std::int64_t length, bool aligned) {
  const std::int64_t whole = length / 4 * 4;
  std::int64_t i = 4 * first_item();
  // The first loads are on their way while one thread works out the step's factors.
  Elements<kRule, 4> elements{};
  if (i < whole) elements.load(arrays, i, aligned);
  __shared__ UpdateFactors factors_of_block;
  if (threadIdx.x == 0) {
    factors_of_block =
        update_factors(attrs, *step, norm != nullptr ? *norm : 0, SquaringPower{});
  }
  __syncthreads();
  const UpdateFactors factors = factors_of_block;
  while (i < whole) {
    elements.update(factors);
    elements.store(arrays, i, aligned);
    i += 4 * grid_stride();
    if (i < whole) elements.load(arrays, i, aligned);
  }
  const std::int64_t tail = whole + first_item();
  if (tail < length) {
    Elements<kRule, 1> element{};
    element.load(arrays, tail, false);
    element.update(factors);
    element.store(arrays, tail, false);
  }
}

template <UpdateRule kRule>
Kernel update_by(const OptimizerAttrs& attrs, std::int64_t length, int multiprocessors) {
  // One wave of blocks: every further one would work out the factors again.
  LaunchShape shape = for_items((length + 3) / 4);
  shape.grid.x = std::min(shape.grid.x, 4U * static_cast<unsigned>(multiprocessors));
  return {.enqueue = [=](const Args& args) {
    constexpr std::size_t kMoments = moments(kRule);
    const UpdateArrays arrays{.parameters = args.in_out(0),
                              .gradients = args.in(1),
                              .first = kMoments > 0 ? args.in_out(2) : nullptr,
                              .second = kMoments > 1 ? args.in_out(3) : nullptr};
    const float* norm = attrs.clip_norm > 0 ? args.in(2 + kMoments) : nullptr;
    launch(args.stream, "optimizer_update", shape, update_parameters<kRule>, attrs, args.step, norm,
           arrays, length,
           vector_aligned(arrays.parameters, arrays.gradients, arrays.first, arrays.second));
  }};
}

std::optional<Kernel> prepare_update(const NodeView& node, const Context& context) {
  const OptimizerAttrs& attrs = node.attrs<OptimizerUpdateOp>();
  const std::int64_t length = node.in(0).elements();
  if (length == 0) return Kernel{.enqueue = [](const Args&) {}};
  const auto by = [&](auto update) { return update(attrs, length, context.multiprocessors); };
  switch (rule_of(attrs)) {
    case UpdateRule::sgd: return by(update_by<UpdateRule::sgd>);
    case UpdateRule::momentum: return by(update_by<UpdateRule::momentum>);
    case UpdateRule::nesterov: return by(update_by<UpdateRule::nesterov>);
    case UpdateRule::adam: return by(update_by<UpdateRule::adam>);
    case UpdateRule::rmsprop: return by(update_by<UpdateRule::rmsprop>);
    case UpdateRule::rmsprop_momentum: return by(update_by<UpdateRule::rmsprop_momentum>);
  }
  return std::nullopt;
}

constexpr unsigned kLargeBlock = 1024;

/// sums[block] = its share of the sum of squares; or kWhole, for one block: *norm.
template <bool kWhole>
__global__ void __launch_bounds__(kLargeBlock)
    sum_squares(const float* x, std::int64_t length, bool aligned, double* sums, float* norm) {
  const auto square = [](float value) {
    return static_cast<double>(value) * static_cast<double>(value);
  };
  const std::int64_t whole = length / 4 * 4;
  double sum = 0;
  for (std::int64_t i = 4 * first_item(); i < whole; i += 4 * grid_stride()) {
    const FloatVector<4> four = load_vector<4>(x + i, aligned);
    sum += (square(four[0]) + square(four[1])) + (square(four[2]) + square(four[3]));
  }
  const std::int64_t tail = whole + first_item();
  if (tail < length) sum += square(x[tail]);
  sum = block_sum(sum);
  if (threadIdx.x != 0) return;
  if constexpr (kWhole) {
    *norm = static_cast<float>(::sqrt(sum));
  } else {
    sums[blockIdx.x] = sum;
  }
}

/// One block.
__global__ void root_of_sum(const double* sums, unsigned count, float* norm) {
  double sum = 0;
  for (unsigned i = threadIdx.x; i < count; i += blockDim.x) sum += sums[i];
  sum = block_sum(sum);
  if (threadIdx.x == 0) *norm = static_cast<float>(::sqrt(sum));
}

std::optional<Kernel> prepare_norm(const NodeView& node, const Context& /*context*/) {
  constexpr std::int64_t kFew = 16 * 1024;  // one block's
  constexpr std::int64_t kElementsOfBlock = 16 * kBlock;
  const std::int64_t length = node.in(0).elements();
  if (length <= kFew) {
    return Kernel{.enqueue = [=](const Args& args) {
      launch(args.stream, "global_norm", {.block = kLargeBlock}, sum_squares<true>, args.in(0),
             length, vector_aligned(args.in(0)), nullptr, args.out(0));
    }};
  }
  const auto blocks =
      static_cast<unsigned>(std::min<std::int64_t>((length - 1) / kElementsOfBlock + 1, 1024));
  const auto enqueue = [=](const Args& args) {
    auto* sums = args.work<double>();
    launch(args.stream, "global_norm", {.grid = blocks, .block = kBlock}, sum_squares<false>,
           args.in(0), length, vector_aligned(args.in(0)), sums, nullptr);
    launch(args.stream, "global_norm", {.block = kBlock}, root_of_sum, sums, blocks, args.out(0));
  };
  return Kernel{.enqueue = enqueue, .workspace_bytes = sizeof(double) * blocks};
}

}  // namespace

void register_optimizer_update(Registry& registry) {
  registry.add(OptimizerUpdateOp::kName, prepare_update);
  registry.add(GlobalNormOp::kName, prepare_norm);
}

}  // namespace linnet::cuda
