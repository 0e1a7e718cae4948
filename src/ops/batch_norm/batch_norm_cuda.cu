// SPDX-License-Identifier: Apache-2.0
#include "backend/cuda/kernel.h"
#include "ops/batch_norm/batch_norm.h"
#include "ops/batch_norm/forward_cuda.cuh"
#include "ops/batch_norm/gradient_cuda.cuh"
#include "ops/batch_norm/own_cuda.h"
#include "ops/batch_norm/tiles_cuda.cuh"

namespace linnet::cuda {
namespace {

/// Up to here one launch does everything: its blocks find their rows in the
/// cache again.
constexpr std::int64_t kRowsOfOneLaunch = 1024;
constexpr std::int64_t kBlocksOfSums = 1024;
constexpr std::int64_t kBlocksOfMaps = 8192;
static_assert(kBlocksOfSums <= kTickets, "a ticket for each tile of channels");

NormTiles tiles_of_sums(const Shape& x, std::int64_t rows) {
  return norm_tiles(rows, x[-1], 4, rows <= kRowsOfOneLaunch ? 1 : kBlocksOfSums);
}
NormTiles tiles_of_map(const Shape& x, std::int64_t rows) {
  return norm_tiles(rows, x[-1], 8, kBlocksOfMaps);
}
std::int64_t rows_of(const Shape& x) { return x[-1] > 0 ? x.elements() / x[-1] : 0; }

Partials partials(const Args& args, const NormTiles& t) {
  return {args.work(), args.work() + t.chunks * t.channels, args.tickets};
}
std::size_t partial_bytes(const NormTiles& t) {
  return t.chunks == 1 ? 0 : 2 * sizeof(float) * t.chunks * static_cast<std::size_t>(t.channels);
}

Norm norm_of(const Args& args, const BatchNormAttrs& attrs, std::int64_t x_stride) {
  using In = BatchNormOp::In;
  using Out = BatchNormOp::Out;
  Norm n{.x = args.in(In::x),
         .x_stride = x_stride,
         .gamma = args.in(In::gamma),
         .beta = args.in(In::beta),
         .residual = attrs.residual ? args.in(In::residual) : nullptr,
         .running_mean = args.in_out(In::running_mean),
         .running_var = args.in_out(In::running_var),
         .y = args.out(Out::y),
         .epsilon = static_cast<float>(attrs.epsilon),
         .momentum = static_cast<float>(attrs.momentum),
         .relu = attrs.activation == Activation::relu};
  n.aligned = x_stride % 4 == 0 &&
              vector_aligned(n.x, n.gamma, n.beta, n.residual, n.running_mean, n.running_var, n.y);
  return n;
}

std::optional<Kernel> prepare_inference(const NodeView& node, const Context& /*context*/) {
  using In = BatchNormInferenceOp::In;
  const BatchNormAttrs attrs = node.attrs<BatchNormInferenceOp>();
  const NormTiles map = tiles_of_map(node.in(In::x), rows_of(node.in(In::x)));
  return Kernel{.enqueue = [=](const Args& args) {
    if (map.rows * map.channels == 0) return;
    Norm n = norm_of(args, attrs, map.channels);
    n.mean = n.running_mean;
    n.inv_std = n.running_var;
    launch(args.stream, "batch_norm_inference", map.shape(),
           map.vector == 4 ? normalize_kernel<4> : normalize_kernel<1>, n, map, true);
  }};
}

__global__ void copy_statistics(const float* mean, const float* var, float* running_mean,
                                float* running_var, std::int64_t channels) {
  for (std::int64_t c = first_item(); c < channels; c += grid_stride()) {
    running_mean[c] = mean[c];
    running_var[c] = var[c];
  }
}

std::optional<Kernel> prepare_forward(const NodeView& node, const Context& /*context*/) {
  return own_batch_norm(node);
}
std::optional<Kernel> prepare_gradient(const NodeView& node, const Context& /*context*/) {
  if (node.attrs<BatchNormGradOp>().from_input) return std::nullopt;
  return own_batch_norm_gradient(node);
}

}  // namespace

Kernel own_batch_norm(const NodeView& node) {
  using In = BatchNormOp::In;
  using Out = BatchNormOp::Out;
  const BatchNormAttrs attrs = node.attrs<BatchNormOp>();
  const std::int64_t rows = rows_of(node.out(Out::y));
  const NormTiles sums = tiles_of_sums(node.out(Out::y), rows);
  const NormTiles map = tiles_of_map(node.out(Out::y), rows);
  const std::int64_t x_stride = node.in(In::x)[-1];
  const bool fours = sums.vector == 4;
  const auto enqueue = [=](const Args& args) {
    if (sums.channels == 0) return;
    Norm n = norm_of(args, attrs, x_stride);
    n.mean = args.out(Out::mean);
    n.inv_std = args.out(Out::inv_std);
    n.aligned = n.aligned && vector_aligned(n.mean, n.inv_std, args.workspace);
    if (sums.chunks == 1) {
      launch(args.stream, "batch_norm", sums.shape(),
             fours ? norm_in_one_launch<4> : norm_in_one_launch<1>, n, sums);
      return;
    }
    launch(args.stream, "batch_norm moments", sums.shape(),
           fours ? norm_moments<4> : norm_moments<1>, n, sums, partials(args, sums));
    launch(args.stream, "batch_norm", map.shape(),
           fours ? normalize_kernel<4> : normalize_kernel<1>, n, map, false);
  };
  return {.enqueue = enqueue, .workspace_bytes = partial_bytes(sums)};
}

Kernel own_batch_norm_gradient(const NodeView& node) {
  using In = BatchNormGradOp::In;
  using Out = BatchNormGradOp::Out;
  const BatchNormGradAttrs attrs = node.attrs<BatchNormGradOp>();
  const std::int64_t rows = rows_of(node.in(In::dy));
  const NormTiles sums = tiles_of_sums(node.in(In::dy), rows);
  const NormTiles map = tiles_of_map(node.in(In::dy), rows);
  const bool fours = sums.vector == 4;
  const std::int64_t x_stride = node.in(In::x)[-1];
  const bool dx_read = node.output_read.empty() || node.output_read[Out::dx];
  const auto enqueue = [=](const Args& args) {
    if (sums.channels == 0) return;
    NormGrad g{.dy = args.in(In::dy),
               .x = args.in(In::x),
               .x_stride = x_stride,
               .y = attrs.activation == Activation::relu ? args.in(In::y) : nullptr,
               .gamma = args.in(In::gamma),
               .mean = args.in(In::mean),
               .inv_std = args.in(In::inv_std),
               .dx = dx_read ? args.out(Out::dx) : nullptr,
               .dgamma = args.out(Out::dgamma),
               .dbeta = args.out(Out::dbeta),
               .dresidual = attrs.residual ? args.out(Out::dresidual) : nullptr};
    g.aligned =
        x_stride % 4 == 0 && vector_aligned(g.dy, g.x, g.y, g.gamma, g.mean, g.inv_std, g.dx,
                                            g.dgamma, g.dbeta, g.dresidual, args.workspace);
    const bool one = sums.chunks == 1;
    const Partials p = one ? Partials{g.dgamma, g.dbeta} : partials(args, sums);
    launch(args.stream, one ? "batch_norm_grad" : "batch_norm_grad sums", sums.shape(),
           fours ? norm_gradient_sums<4> : norm_gradient_sums<1>, g, sums, p);
    if (one || !dx_read) return;
    launch(args.stream, "batch_norm_grad", map.shape(),
           fours ? norm_gradient_dx<4> : norm_gradient_dx<1>, g, map);
  };
  return {.enqueue = enqueue, .workspace_bytes = partial_bytes(sums)};
}

void enqueue_running_statistics(const Args& args, const float* mean, const float* var,
                                std::int64_t channels) {
  using In = BatchNormOp::In;
  launch(args.stream, "batch_norm running", for_items(channels), copy_statistics, mean, var,
         args.in_out(In::running_mean), args.in_out(In::running_var), channels);
}

void register_batch_norm(Registry& registry) {
  registry.add(BatchNormOp::kName, prepare_forward);
  registry.add(BatchNormInferenceOp::kName, prepare_inference);
  registry.add(BatchNormGradOp::kName, prepare_gradient);
}

}  // namespace linnet::cuda
