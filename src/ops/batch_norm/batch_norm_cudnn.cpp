// SPDX-License-Identifier: Apache-2.0
// Batch norms by cuDNN, with the residual and the ReLU: where they give the numbers of Linnet's own
// kernels, faster, on the device at hand.
#include "backend/cuda/cudnn.h"
#include "backend/cuda/workspace.h"
#include "ops/batch_norm/batch_norm.h"
#include "ops/batch_norm/own_cuda.h"

namespace linnet::cuda {
namespace {

using PlanPtr = std::shared_ptr<const CudnnPlan>;

/// Where cuDNN may have an engine, and it may be worth its time.
bool asked(const Context& context, const CudnnBatchNorm& norm) {
  return context.options.cudnn && context.cudnn != nullptr &&
         context.compute_capability >= kCudnnFusesFrom && norm.c > 0 &&
         norm.c % kCudnnFusedChannels == 0 && (!norm.residual || norm.relu) && norm.rows() > 1 &&
         (norm.rows() * norm.c >= kLeastForCudnn || context.cudnn->preferred());
}

/// Returns the image as it is, where x is one: cuDNN's heuristics go by its height and width.
CudnnBatchNorm norm_of(const Shape& x) {
  CudnnBatchNorm norm;
  norm.c = x[-1];
  norm.n = x[0];
  if (x.rank() > 2) norm.w = x[-2];
  if (norm.n > 0 && norm.w > 0 && norm.c > 0) norm.h = x.elements() / (norm.n * norm.w * norm.c);
  return norm;
}

/// Returns a channel's statistics in the workspace, the plan's own workspace after them: cuDNN does
/// not promise that running statistics may be updated in place.
Kernel forward(const PlanPtr& plan, std::int64_t channels) {
  const std::size_t bytes = library_padded(static_cast<std::size_t>(channels) * sizeof(float));
  const auto enqueue = [=](const Args& args) {
    std::vector<void*> operands(args.inputs.begin(), args.inputs.end());
    operands.insert(operands.end(), args.outputs.begin(), args.outputs.end());
    operands.push_back(args.workspace);
    operands.push_back(args.workspace + bytes);
    plan->execute(args.stream, operands, args.workspace + 2 * bytes);
    enqueue_running_statistics(args, args.work(), args.work(bytes), channels);
  };
  return {.enqueue = enqueue,
          .workspace_bytes = 2 * bytes + plan->workspace_bytes(),
          .engine = plan->engine()};
}

Kernel gradient(const PlanPtr& plan) {
  const auto enqueue = [=](const Args& args) {
    std::vector<void*> operands(args.inputs.begin(), args.inputs.end());
    operands.insert(operands.end(), args.outputs.begin(), args.outputs.end());
    plan->execute(args.stream, operands, args.workspace);
  };
  return {.enqueue = enqueue, .workspace_bytes = plan->workspace_bytes(), .engine = plan->engine()};
}

std::optional<Kernel> prepare_forward(const NodeView& node, const Context& context) {
  const BatchNormAttrs attrs = node.attrs<BatchNormOp>();
  CudnnBatchNorm norm = norm_of(node.in(BatchNormOp::In::x));
  norm.residual = attrs.residual;
  norm.relu = attrs.activation == Activation::relu;
  norm.epsilon = attrs.epsilon;
  norm.momentum = attrs.momentum;
  const bool wide = node.in(BatchNormOp::In::x) != node.out(BatchNormOp::Out::y);
  if (wide || !asked(context, norm)) return std::nullopt;
  const auto wrap = [&](const PlanPtr& plan) { return forward(plan, norm.c); };
  return context.cudnn->kernel_if_faster(norm, node, *own_batch_norm(node, context), wrap,
                                         context.tuning);
}

std::optional<Kernel> prepare_gradient(const NodeView& node, const Context& context) {
  const BatchNormGradAttrs attrs = node.attrs<BatchNormGradOp>();
  CudnnBatchNorm norm = norm_of(node.in(BatchNormGradOp::In::dy));
  norm.direction = CudnnBatchNorm::Direction::gradient;
  norm.residual = attrs.residual;
  norm.relu = attrs.activation == Activation::relu;
  const bool dx_read = node.output_read.empty() || node.output_read[BatchNormGradOp::Out::dx];
  const bool wide = node.in(BatchNormGradOp::In::x) != node.in(BatchNormGradOp::In::dy);
  if (!dx_read || wide || attrs.from_input || !asked(context, norm)) return std::nullopt;
  return context.cudnn->kernel_if_faster(norm, node, *own_batch_norm_gradient(node, context),
                                         gradient, context.tuning);
}

}  // namespace

void register_batch_norm_cudnn(Registry& registry) {
  registry.add_library(BatchNormOp::kName, "cudnn", prepare_forward);
  registry.add_library(BatchNormGradOp::kName, "cudnn", prepare_gradient);
}

}  // namespace linnet::cuda
