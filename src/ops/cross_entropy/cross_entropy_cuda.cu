// SPDX-License-Identifier: Apache-2.0
#include <limits>

#include "backend/cuda/total.cuh"
#include "ops/cross_entropy/cross_entropy.h"
#include "ops/softmax/row_teams_cuda.cuh"

namespace linnet::cuda {
namespace {

template <bool kLogarithm>
struct Loss {
  const float* scores;
  const std::int32_t* labels;
  std::int64_t classes;
  __device__ double operator()(std::int64_t i) const {
    const std::int32_t label = labels[i];
    if (!is_class(label, classes)) return std::numeric_limits<double>::quiet_NaN();
    const float score = scores[i * classes + label];
    return -(kLogarithm ? ::logf(score) : score);
  }
};

template <bool kLogarithm>
Kernel loss(std::int64_t n, std::int64_t classes) {
  using In = CrossEntropyOp::In;
  return total("cross_entropy", n, mean_factor(n), [=](const Args& args) {
    return Loss<kLogarithm>{args.in(In::scores), args.in<std::int32_t>(In::labels), classes};
  });
}

template <class Team>
__global__ void loss_gradient(const float* dloss, const float* scores, const std::int32_t* labels,
                              std::int64_t rows, std::int64_t classes, float factor, bool logarithm,
                              float* dx) {
  const float slope = factor * *dloss;
  for_team_rows<Team>(rows, classes, [&](std::int64_t row, std::int64_t n) {
    const std::int64_t at = row * classes;
    const std::int64_t label = labels[row];
    for_columns<Team>(n, [&](std::int64_t c) {
      dx[at + c] = c != label ? 0.0F : logarithm ? slope / scores[at + c] : slope;
    });
  });
}

std::optional<Kernel> prepare_forward(const NodeView& node, const Context& /*context*/) {
  using In = CrossEntropyOp::In;
  const bool logarithm = node.attrs<CrossEntropyOp>().input == CrossEntropyInput::probabilities;
  return logarithm ? loss<true>(node.in(In::scores)[0], node.in(In::scores)[1])
                   : loss<false>(node.in(In::scores)[0], node.in(In::scores)[1]);
}

std::optional<Kernel> prepare_gradient(const NodeView& node, const Context& /*context*/) {
  using In = CrossEntropyGradOp::In;
  using Out = CrossEntropyGradOp::Out;
  const std::int64_t n = node.in(In::scores)[0];
  const std::int64_t classes = node.in(In::scores)[1];
  if (n == 0) return Kernel{.enqueue = [](const Args&) {}};
  const bool logarithm = node.attrs<CrossEntropyGradOp>().input == CrossEntropyInput::probabilities;
  const auto factor = static_cast<float>(-mean_factor(n));
  return with_team(classes, [&](auto team) {
    using Team = decltype(team);
    return Kernel{.enqueue = [=](const Args& args) {
      launch(args.stream, "cross_entropy_grad", for_rows<Team>(n), loss_gradient<Team>,
             args.in(In::dloss), args.in(In::scores), args.in<std::int32_t>(In::labels), n, classes,
             factor, logarithm, args.out(Out::dscores));
    }};
  });
}

}  // namespace

void register_cross_entropy(Registry& registry) {
  registry.add(CrossEntropyOp::kName, prepare_forward);
  registry.add(CrossEntropyGradOp::kName, prepare_gradient);
}

}  // namespace linnet::cuda
