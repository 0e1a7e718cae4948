// SPDX-License-Identifier: Apache-2.0
#include <limits>

#include "backend/cuda/kernel.h"
#include "ops/reduce/fold_cuda.cuh"
#include "ops/reduce/reduce.h"
#include "ops/reduce/spread_cuda.cuh"

namespace linnet::cuda {
namespace {

float scale_of(Reduction kind, const std::vector<ReduceGroup>& groups) {
  double elements = 1;
  for (const ReduceGroup& group : groups) {
    if (group.reduced) elements *= static_cast<double>(group.dim);
  }
  return kind == Reduction::mean ? static_cast<float>(1 / elements) : 1.0F;
}

std::optional<Kernel> prepare_reduce(const NodeView& node, const Context& /*context*/) {
  const ReduceAttrs& attrs = node.attrs<ReduceOp>();
  const std::vector<ReduceGroup> groups = reduce_groups(node.in(ReduceOp::In::x), attrs.axes);
  const float scale = scale_of(attrs.kind, groups);
  switch (attrs.kind) {
    case Reduction::sum:
    case Reduction::mean: return fold_of_input<fold::Sum>("reduce", groups, scale);
    case Reduction::max: return fold_of_input<fold::Max>("reduce", groups, scale);
    case Reduction::min: return fold_of_input<fold::Min>("reduce", groups, scale);
  }
  return std::nullopt;
}

std::optional<Kernel> prepare_reduce_grad(const NodeView& node, const Context& /*context*/) {
  using In = ReduceGradOp::In;
  using Out = ReduceGradOp::Out;
  const ReduceGradAttrs& attrs = node.attrs<ReduceGradOp>();
  const std::vector<ReduceGroup> groups = reduce_groups(node.out(Out::dx), attrs.axes);
  const float scale = scale_of(attrs.kind, groups);
  const std::optional<Spread> spread = Spread::of(groups);
  if (!spread) return std::nullopt;
  return Kernel{.enqueue = [=](const Args& args) {
    const auto repeated = [scale, dy = args.in(In::dy)] __device__(auto /*i*/, auto output) {
      return dy[output] * scale;
    };
    spread->launch(args.stream, "reduce_grad", repeated, args.out(Out::dx));
  }};
}

constexpr std::int64_t kNowhere = std::numeric_limits<std::int64_t>::max();

/// first[output] = where the first element stands that attains y[output].
struct FindFirst {
  struct State {
    float y;
    std::int64_t at;
  };
  const float* y;
  std::int64_t* first;

  __device__ State start(std::int64_t output) const { return {y[output], kNowhere}; }
  __device__ void take(State& state, float x, std::int64_t at) const {
    if (at < state.at && fold::attains(x, state.y)) state.at = at;
  }
  __device__ void merge(State& state, const State& other) const {
    if (other.at < state.at) state.at = other.at;
  }
  __device__ void finish(std::int64_t index, std::int64_t, const State& state) const {
    first[index] = state.at;
  }
};

std::optional<Kernel> prepare_select_gradient(const NodeView& node, const Context& /*context*/) {
  using In = ReduceSelectGradOp::In;
  using Out = ReduceSelectGradOp::Out;
  const std::vector<ReduceGroup> groups =
      reduce_groups(node.in(In::x), node.attrs<ReduceSelectGradOp>().axes);
  const std::optional<FoldLayout> find = fold_layout(groups);
  const std::optional<Spread> spread = Spread::of(groups);
  if (!find || !spread) return std::nullopt;
  const auto enqueue = [=](const Args& args) {
    auto* first = args.work<std::int64_t>();
    launch_fold(args.stream, "reduce_select_grad", FindFirst{args.in(In::y), first}, args.in(In::x),
                *find);
    const auto selected = [first, dy = args.in(In::dy)] __device__(auto i, auto output) {
      return first[output] == i ? dy[output] : 0.0F;
    };
    spread->launch(args.stream, "reduce_select_grad", selected, args.out(Out::dx));
  };
  return Kernel{.enqueue = enqueue,
                .workspace_bytes =
                    sizeof(std::int64_t) * static_cast<std::size_t>(find->single_outputs())};
}

}  // namespace

void register_reduce(Registry& registry) {
  registry.add(ReduceOp::kName, prepare_reduce);
  registry.add(ReduceGradOp::kName, prepare_reduce_grad);
  registry.add(ReduceSelectGradOp::kName, prepare_select_gradient);
}

}  // namespace linnet::cuda
