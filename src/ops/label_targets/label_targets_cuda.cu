// SPDX-License-Identifier: Apache-2.0
#include "backend/cuda/element_wise.cuh"
#include "ops/label_targets/formulas.h"
#include "ops/label_targets/label_targets.h"

namespace linnet::cuda {
namespace {

constexpr unsigned kSumBlock = 1024;

/// One block: *total = the sum of the weights of the labels that count.
__global__ void __launch_bounds__(kSumBlock)
    sum_weights(LabelTargets f, const std::int32_t* labels, const float* weights, std::int64_t rows,
                double* total) {
  double sum = 0;
  for (std::int64_t n = first_item(); n < rows; n += grid_stride()) {
    if (f.counts(labels[n])) sum += weights[labels[n]];
  }
  sum = block_sum(sum);
  if (threadIdx.x == 0) *total = sum;
}

std::optional<Kernel> prepare_label_targets(const NodeView& node, const Context& /*context*/) {
  using In = LabelTargetsOp::In;
  using Out = LabelTargetsOp::Out;
  const LabelTargetsAttrs attrs = node.attrs<LabelTargetsOp>();
  const std::int64_t rows = node.in(In::labels).elements();
  const std::int64_t classes = node.in(In::weights)[0];
  const LabelTargets f{classes, attrs.smoothing, attrs.ignores, attrs.ignore_index};
  const auto target = [=] __device__(std::int64_t i, const std::int32_t* labels,
                                     const float* weights, const double* total, float* y) {
    const std::int64_t c = i % classes;
    y[i] = static_cast<float>(f.target(labels[i / classes], c, weights[c], *total));
  };
  const auto enqueue = [=](const Args& args) {
    if (rows == 0) return;
    const auto* labels = args.in<std::int32_t>(In::labels);
    auto* total = args.work<double>();
    launch(args.stream, "label_targets", {.block = kSumBlock}, sum_weights, f, labels,
           args.in(In::weights), rows, total);
    for_each_item(args.stream, "label_targets", rows * classes, target, labels,
                  args.in(In::weights), total, args.out(Out::t));
  };
  return Kernel{.enqueue = enqueue, .workspace_bytes = sizeof(double)};
}

}  // namespace

void register_label_targets(Registry& registry) {
  registry.add(LabelTargetsOp::kName, prepare_label_targets);
}

}  // namespace linnet::cuda
