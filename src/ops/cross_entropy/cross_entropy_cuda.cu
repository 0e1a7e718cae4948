// SPDX-License-Identifier: Apache-2.0
#include <limits>

#include "backend/cuda/total.cuh"
#include "ops/cross_entropy/cross_entropy.h"
#include "ops/softmax/row_teams_cuda.cuh"

namespace linnet::cuda {
namespace {

std::optional<Kernel> prepare_cross_entropy(const NodeView& node, const Context& /*context*/) {
  using In = CrossEntropyOp::In;
  const std::int64_t n = node.in(In::scores)[0];
  const std::int64_t classes = node.in(In::scores)[1];
  const bool logarithm = node.attrs<CrossEntropyOp>().input == CrossEntropyInput::probabilities;
  return total("cross_entropy", n, mean_factor(n), [=](const Args& args) {
    const float* scores = args.in(In::scores);
    const auto* labels = args.in<std::int32_t>(In::labels);
    return [=] __device__(std::int64_t i) -> double {
      const std::int32_t label = labels[i];
      if (!is_class(label, classes)) return std::numeric_limits<double>::quiet_NaN();
      const float score = scores[i * classes + label];
      return -(logarithm ? ::logf(score) : score);
    };
  });
}

enum class Source : std::uint8_t { log_probabilities, probabilities, logits };

/// `scores`: the probabilities of which the loss is, their logarithms, or what softmax made of
/// logits.
Kernel gradient(const char* name, const Shape& shape, Source source, std::size_t dloss_at,
                std::size_t scores, std::size_t labels_at) {
  const std::int64_t rows = shape[0];
  const std::int64_t classes = shape[1];
  const auto factor = static_cast<float>(mean_factor(rows));
  return {.enqueue = [=](const Args& args) {
    const auto slopes = [=, dloss = args.in(dloss_at), x = args.in(scores),
                         labels = args.in<std::int32_t>(labels_at),
                         dx = args.out(kFirst)] __device__(auto team, std::int64_t row,
                                                           std::int64_t n) {
      const float slope = factor * *dloss;
      const std::int64_t at = row * classes;
      const std::int64_t label = labels[row];
      for_columns(team, n, [&](std::int64_t c) {
        const float of_label = c == label ? slope : 0.0F;
        dx[at + c] = source == Source::logits                        ? slope * x[at + c] - of_label
                     : source == Source::probabilities && c == label ? -of_label / x[at + c]
                                                                     : 0.0F - of_label;
      });
    };
    each_row(args.stream, name, rows, classes, slopes);
  }};
}

std::optional<Kernel> prepare_cross_entropy_grad(const NodeView& node, const Context& /*context*/) {
  using In = CrossEntropyGradOp::In;
  const bool logarithm = node.attrs<CrossEntropyGradOp>().input == CrossEntropyInput::probabilities;
  return gradient("cross_entropy_grad", node.in(In::scores),
                  logarithm ? Source::probabilities : Source::log_probabilities, In::dloss,
                  In::scores, In::labels);
}

// With the softmax in the same pass.

/// p = softmax(x); *total = `factor` * the sum of the rows' losses.
template <class Team>
__global__ void __launch_bounds__(kLargeBlock)
    probabilities_and_loss(const float* logits, const std::int32_t* labels, std::int64_t rows,
                           std::int64_t classes, double factor, float* p, double* parts,
                           unsigned* ticket, float* total) {
  double loss = 0;
  for_team_rows<Team>(rows, classes, [&](Team team, std::int64_t row, std::int64_t n) {
    const float* x = logits + row * classes;
    float* y = p + row * classes;
    const std::int32_t label = labels[row];
    const float top = row_max(team, x, n);
    const float sum = exp_sum(team, x, n, top);
    const float scale = 1.0F / sum;
    for_columns(team, n, [&](std::int64_t c) { y[c] = ::expf(x[c] - top) * scale; });
    if (n == 0 || Team::lane() != 0) return;
    loss += is_class(label, n) ? ::logf(sum) - (x[label] - top)
                               : std::numeric_limits<double>::quiet_NaN();
  });
  if (grid_sum(loss, parts, ticket) && threadIdx.x == 0) *total = static_cast<float>(factor * loss);
}

std::optional<Kernel> prepare_fused(const NodeView& node, const Context& /*context*/) {
  using In = SoftmaxCrossEntropyOp::In;
  using Out = SoftmaxCrossEntropyOp::Out;
  const std::int64_t n = node.in(In::logits)[0];
  const std::int64_t classes = node.in(In::logits)[1];
  return with_team(classes, [&](auto team) {
    using Team = decltype(team);
    const LaunchShape shape = for_row_sums<Team>(n, classes);
    const auto enqueue = [=](const Args& args) {
      launch(args.stream, "softmax_cross_entropy", shape, probabilities_and_loss<Team>,
             args.in(In::logits), args.in<std::int32_t>(In::labels), n, classes, mean_factor(n),
             args.out(Out::probabilities), args.work<double>(), args.tickets, args.out(Out::loss));
    };
    return Kernel{.enqueue = enqueue, .workspace_bytes = grid_sum_bytes<double>(shape)};
  });
}

std::optional<Kernel> prepare_fused_gradient(const NodeView& node, const Context& /*context*/) {
  using In = SoftmaxCrossEntropyGradOp::In;
  return gradient("softmax_cross_entropy_grad", node.in(In::probabilities), Source::logits,
                  In::dloss, In::probabilities, In::labels);
}

}  // namespace

void register_cross_entropy(Registry& registry) {
  registry.add(CrossEntropyOp::kName, prepare_cross_entropy);
  registry.add(CrossEntropyGradOp::kName, prepare_cross_entropy_grad);
  registry.add(SoftmaxCrossEntropyOp::kName, prepare_fused);
  registry.add(SoftmaxCrossEntropyGradOp::kName, prepare_fused_gradient);
}

}  // namespace linnet::cuda
