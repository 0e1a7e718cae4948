// SPDX-License-Identifier: Apache-2.0
#include "backend/cuda/kernel.h"
#include "ops/global_pool/global_pool.h"
#include "ops/pool2d/winner.h"
#include "ops/reduce/fold_cuda.cuh"
#include "ops/reduce/spread_cuda.cuh"

namespace linnet::cuda {
namespace {

std::vector<ReduceGroup> groups_of(const Shape& images) {
  constexpr std::int64_t kSpace[] = {1, 2};
  return reduce_groups(images, kSpace);
}

float factor_of(const Shape& images) { return 1.0F / static_cast<float>(images[1] * images[2]); }

std::optional<Kernel> prepare_global_average(const NodeView& node, const Context& /*context*/) {
  using In = GlobalAvgPoolOp::In;
  return with_one_type(node, [&]<class T>() {
    return fold_of_input<fold::Sum, T>("global_avg_pool", groups_of(node.in(In::x)),
                                       factor_of(node.in(In::x)));
  });
}

/// The largest pixel, the first of equal ones, whatever the order in which threads meet them.
struct FindWinner {
  struct State {
    float value;
    std::int64_t at;  // in x; negative before the first pixel
  };
  float* y;
  std::int32_t* winner;  // null where nothing reads it
  std::int64_t pixels;
  std::int64_t channels;

  __device__ State start(std::int64_t) const { return {0, -1}; }
  __device__ void take(State& best, float x, std::int64_t at) const {
    if (best.at < 0 || wins(x, best.value)) best = {x, at};
  }
  __device__ void merge(State& best, const State& other) const {
    if (other.at < 0) return;
    const bool equal = !wins(other.value, best.value) && !wins(best.value, other.value);
    const bool better = equal ? other.at < best.at : wins(other.value, best.value);
    if (best.at < 0 || better) best = other;
  }
  __device__ void finish(std::int64_t, std::int64_t output, const State& best) const {
    y[output] = best.value;
    if (winner == nullptr) return;
    winner[output] = static_cast<std::int32_t>(best.at / channels % pixels);
  }
};

std::optional<Kernel> prepare_global_max(const NodeView& node, const Context& /*context*/) {
  using In = GlobalMaxPoolOp::In;
  using Out = GlobalMaxPoolOp::Out;
  const Shape& x = node.in(In::x);
  const std::int64_t pixels = x[1] * x[2];
  const std::int64_t channels = x[3];
  const bool winner_read = node.output_read[Out::winner];
  const std::optional<FoldLayout> layout = fold_layout(groups_of(x));
  if (!layout) return std::nullopt;
  return Kernel{.enqueue = [=](const Args& args) {
    auto* winner = winner_read ? args.out<std::int32_t>(Out::winner) : nullptr;
    launch_fold(args.stream, "global_max_pool",
                FindWinner{args.out(Out::y), winner, pixels, channels}, args.in(In::x), *layout);
  }};
}

template <class T>
Kernel average_grad(const Spread& spread, float factor) {
  return {.enqueue = [=](const Args& args) {
    const auto share =
        [factor, dy = args.in<T>(GlobalAvgPoolGradOp::In::dy)] __device__(auto /*i*/, auto output) {
          return factor * to_float(dy[output]);
        };
    spread.launch(args.stream, "global_avg_pool_grad", share,
                  args.out<T>(GlobalAvgPoolGradOp::Out::dx));
  }};
}

std::optional<Kernel> prepare_global_average_grad(const NodeView& node,
                                                  const Context& /*context*/) {
  const Shape& dx = node.out(GlobalAvgPoolGradOp::Out::dx);
  const std::optional<Spread> spread = Spread::of(groups_of(dx));
  if (!spread) return std::nullopt;
  return with_one_type(node, [&]<class T>() { return average_grad<T>(*spread, factor_of(dx)); });
}

std::optional<Kernel> prepare_global_max_grad(const NodeView& node, const Context& /*context*/) {
  using In = GlobalMaxPoolGradOp::In;
  using Out = GlobalMaxPoolGradOp::Out;
  const Shape& dx = node.out(Out::dx);
  const std::int64_t pixels = dx[1] * dx[2];
  const std::int64_t channels = dx[3];
  const std::optional<Spread> spread = Spread::of(groups_of(dx));
  if (!spread) return std::nullopt;
  return Kernel{.enqueue = [=](const Args& args) {
    const auto to_winner = [=, dy = args.in(In::dy),
                            winner = args.in<std::int32_t>(In::winner)] __device__(auto i,
                                                                                   auto output) {
      using Index = decltype(i);
      const Index n = output / static_cast<Index>(channels);
      const Index c = output - n * static_cast<Index>(channels);
      return (n * pixels + winner[output]) * channels + c == i ? dy[output] : 0.0F;
    };
    spread->launch(args.stream, "global_max_pool_grad", to_winner, args.out(Out::dx));
  }};
}

}  // namespace

void register_global_pool(Registry& registry) {
  registry.add(GlobalAvgPoolOp::kName, prepare_global_average, Stores::half);
  registry.add(GlobalMaxPoolOp::kName, prepare_global_max);
  registry.add(GlobalAvgPoolGradOp::kName, prepare_global_average_grad, Stores::half);
  registry.add(GlobalMaxPoolGradOp::kName, prepare_global_max_grad);
}

}  // namespace linnet::cuda
