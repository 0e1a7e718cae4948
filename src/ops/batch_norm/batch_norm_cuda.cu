// SPDX-License-Identifier: Apache-2.0
#include "backend/cuda/kernel.h"
#include "backend/cuda/rows.h"
#include "ops/batch_norm/batch_norm.h"
#include "ops/batch_norm/forward_cuda.cuh"
#include "ops/batch_norm/gradient_cuda.cuh"
#include "ops/batch_norm/joined.h"
#include "ops/batch_norm/launches_cuda.h"

namespace linnet::cuda {
namespace {

/// Calls launch<kVector, kKept>() with what a kernel of one launch is compiled for; a thread keeps
/// kMost rows at most.
template <int kMost, class Launch>
void with_kept(const ColumnTiles& t, Launch launch) {
  const std::int64_t rows = t.rows_of_thread();
  if (t.vector != 4 || rows > kMost) {
    t.vector == 4 ? launch.template operator()<4, 0>() : launch.template operator()<1, 0>();
  } else if (rows > 2) {
    launch.template operator()<4, kMost>();
  } else {
    launch.template operator()<4, 2>();
  }
}

template <class T>
Norm<T> norm_of(const Args& args, const BatchNormAttrs& attrs, std::int64_t x_stride) {
  using In = BatchNormOp::In;
  return {.x = args.in<T>(In::x),
          .x_stride = x_stride,
          .gamma = args.in(In::gamma),
          .beta = args.in(In::beta),
          .residual = attrs.residual ? args.in<T>(In::residual) : nullptr,
          .running_mean = args.in_out(In::running_mean),
          .running_var = args.in_out(In::running_var),
          .epsilon = static_cast<float>(attrs.epsilon),
          .momentum = static_cast<float>(attrs.momentum),
          .relu = attrs.activation == Activation::relu};
}

/// Returns a training's forward kernels of the norm of the first channels of x, of y's shape;
/// `set_operands(args, n)` says where the results lie, and what precedes the norm.
template <class T, class SetOperands>
Kernel norm_kernels(const BatchNormAttrs& attrs, const Shape& x, const ValueType& y,
                    SetOperands set_operands) {
  const AllNormLaunches launches(y, kNormKeeps);
  const std::int64_t x_stride = x[-1];
  const auto enqueue = [=](const Args& args) {
    Norm n = norm_of<T>(args, attrs, x_stride);
    set_operands(args, n);
    const auto& [sums, map, whole] = launches.of(n.aligned(args.work()));
    const bool fours = sums.vector == 4;
    if (whole) {
      with_kept<kNormKeeps>(sums, [&]<int kVector, int kKept>() {
        launch(args.stream, "batch_norm", sums.shape(), norm_kernel<kVector, true, kKept, T>, n,
               sums, args.work(), args.tickets);
      });
      return;
    }
    launch(args.stream, "batch_norm moments", sums.shape(),
           fours ? norm_kernel<4, false, 0, T> : norm_kernel<1, false, 0, T>, n, sums, args.work(),
           args.tickets);
    launch(args.stream, "batch_norm", map.shape(),
           fours ? normalize_kernel<4, T> : normalize_kernel<1, T>, n, map, false);
  };
  return {.enqueue = enqueue, .workspace_bytes = launches.workspace_bytes()};
}

/// Copies all of a wide operand that the planner could not let an operator take over.
template <class T>
void copy_whole(const Args& args, const T* from, T* to, std::int64_t elements) {
  if (from != to) copy_rows<T>(args.stream, "batch_norm copy", 1, {{from, to, 0, 0, elements}});
}

/// Returns whether parts of `piece` channels of a row of `channels` are read and written as the
/// kernels do it, four at a time or one.
bool fits(std::int64_t channels, std::int64_t piece) { return channels % 4 != 0 || piece % 4 == 0; }

std::optional<Kernel> prepare_joined(const NodeView& node, const Context& /*context*/) {
  using In = BatchNormJoinedOp::In;
  using Out = BatchNormJoinedOp::Out;
  const Shape& x = node.in(In::x);
  const std::int64_t channels = node.out(Out::y)[-1];
  const std::int64_t part = node.in(In::part)[-1];
  const std::int64_t elements = x.elements();
  if (!fits(channels, part)) return std::nullopt;
  return with_stored(node, {In::x, In::part}, {Out::wide, Out::y}, [&]<class T>() {
    return norm_kernels<T>(node.attrs<BatchNormJoinedOp>(), x, node.outputs[Out::y],
                           [=](const Args& args, Norm<T>& n) {
                             n.wide = args.out<T>(Out::wide);
                             copy_whole(args, n.x, n.wide, elements);
                             n.x = n.wide;
                             n.part = args.in<T>(In::part);
                             n.part_begin = channels - part;
                             n.y = args.out<T>(Out::y);
                             n.mean = args.out(Out::mean);
                             n.inv_std = args.out(Out::inv_std);
                           });
  });
}

/// Returns a gradient's kernels; `operands(args)` says where it reads and writes.
template <class T, class Operands>
Kernel gradient_kernels(const ValueType& dy, Operands operands) {
  const AllNormLaunches launches(dy, kGradientKeeps);
  const auto enqueue = [=](const Args& args) {
    const NormGrad<T> g = operands(args);
    const auto& [sums, map, whole] = launches.of(g.aligned(args.work()));
    const bool fours = sums.vector == 4;
    if (whole) {
      with_kept<kGradientKeeps>(sums, [&]<int kVector, int kKept>() {
        launch(args.stream, "batch_norm_grad", sums.shape(),
               norm_gradient_kernel<kVector, true, kKept, T>, g, sums, args.work(), args.tickets);
      });
      return;
    }
    launch(args.stream, "batch_norm_grad sums", sums.shape(),
           fours ? norm_gradient_kernel<4, false, 0, T> : norm_gradient_kernel<1, false, 0, T>, g,
           sums, args.work(), args.tickets);
    if (g.dx == nullptr) return;
    launch(args.stream, "batch_norm_grad", map.shape(),
           fours ? norm_gradient_dx<4, T> : norm_gradient_dx<1, T>, g, map);
  };
  return {.enqueue = enqueue, .workspace_bytes = launches.workspace_bytes()};
}

bool is_read(const NodeView& node, std::size_t output) {
  return node.output_read.empty() || node.output_read[output];
}

/// Returns the kernels of a BatchNormGradOp or BatchNormGradJoinedOp.
template <class T>
Kernel gradient_kernels(const NodeView& node, const BatchNormGradJoinedAttrs& attrs) {
  using In = BatchNormGradOp::In;
  using Out = BatchNormGradOp::Out;
  const Shape& out = node.out(Out::dx);
  return gradient_kernels<T>(node.inputs[In::dy], [=, x_stride = node.in(In::x)[-1],
                                                   dx_read =
                                                       attrs.piece > 0 || is_read(node, Out::dx),
                                                   dx_stride = out[-1],
                                                   elements = out.elements()](const Args& args) {
    const bool relu = attrs.activation == Activation::relu;
    NormGrad<T> g{.dy = args.in<T>(In::dy),
                  .summand = attrs.summand ? args.in<T>(attrs.summand_at()) : nullptr,
                  .x = args.in<T>(In::x),
                  .x_stride = x_stride,
                  .y = relu ? args.in<T>(In::y) : nullptr,
                  .gamma = args.in(In::gamma),
                  .mean = args.in(In::mean),
                  .inv_std = args.in(In::inv_std),
                  .dx = dx_read ? args.out<T>(Out::dx) : nullptr,
                  .dgamma = args.out(Out::dgamma),
                  .dbeta = args.out(Out::dbeta),
                  .dresidual = attrs.residual ? args.out<T>(Out::dresidual) : nullptr,
                  .dx_stride = dx_stride,
                  .into = attrs.into,
                  .piece = attrs.piece > 0 ? args.out<T>(attrs.piece_at()) : nullptr,
                  .piece_channels = attrs.piece};
    if (attrs.into) copy_whole(args, args.in<T>(attrs.into_at()), g.dx, elements);
    return g;
  });
}

/// The same where its activations are stored alike.
std::optional<Kernel> gradient_as_stored(const NodeView& node,
                                         const BatchNormGradJoinedAttrs& attrs) {
  using In = BatchNormGradOp::In;
  using Out = BatchNormGradOp::Out;
  const std::size_t dy = In::dy;  // what is missing is dy once more
  const std::size_t y = attrs.activation == Activation::relu ? std::size_t{In::y} : dy;
  const std::size_t summand = attrs.summand ? attrs.summand_at() : dy;
  const std::size_t into = attrs.into ? attrs.into_at() : dy;
  const std::size_t dresidual = attrs.residual ? std::size_t{Out::dresidual} : std::size_t{Out::dx};
  const std::size_t piece = attrs.piece > 0 ? attrs.piece_at() : std::size_t{Out::dx};
  return with_stored(node, {dy, In::x, y, summand, into}, {Out::dx, dresidual, piece},
                     [&]<class T>() { return gradient_kernels<T>(node, attrs); });
}

std::optional<Kernel> prepare_joined_gradient(const NodeView& node, const Context& /*context*/) {
  const auto attrs = node.attrs<BatchNormGradJoinedOp>();
  const Shape& dy = node.in(BatchNormGradOp::In::dy);
  if (attrs.from_input || !fits(dy[-1], attrs.piece)) return std::nullopt;
  return gradient_as_stored(node, attrs);
}

std::optional<Kernel> prepare_inference(const NodeView& node, const Context& /*context*/) {
  using In = BatchNormInferenceOp::In;
  const BatchNormAttrs attrs = node.attrs<BatchNormInferenceOp>();
  const Shape& x = node.in(In::x);
  return with_stored(node, {In::x, In::residual}, {kFirst}, [&]<class T>() {
    return Kernel{.enqueue = [=](const Args& args) {
      Norm n = norm_of<T>(args, attrs, x[-1]);
      n.y = args.out<T>(BatchNormInferenceOp::Out::y);
      n.mean = n.running_mean;
      n.inv_std = n.running_var;
      const ColumnTiles map = tiles_of_map(x, n.aligned());
      launch(args.stream, "batch_norm_inference", map.shape(),
             map.vector == 4 ? normalize_kernel<4, T> : normalize_kernel<1, T>, n, map, true);
    }};
  });
}

std::optional<Kernel> prepare_norm(const NodeView& node, const Context& /*context*/) {
  using In = BatchNormOp::In;
  using Out = BatchNormOp::Out;
  return with_stored(node, {In::x, In::residual}, {Out::y}, [&]<class T>() {
    return norm_kernels<T>(node.attrs<BatchNormOp>(), node.in(In::x), node.outputs[Out::y],
                           [](const Args& args, Norm<T>& n) {
                             n.y = args.out<T>(Out::y);
                             n.mean = args.out(Out::mean);
                             n.inv_std = args.out(Out::inv_std);
                           });
  });
}

std::optional<Kernel> prepare_batch_norm_grad(const NodeView& node, const Context& /*context*/) {
  const BatchNormGradAttrs attrs = node.attrs<BatchNormGradOp>();
  if (attrs.from_input) return std::nullopt;
  return gradient_as_stored(node, {.residual = attrs.residual, .activation = attrs.activation});
}

}  // namespace

void register_batch_norm(Registry& registry) {
  registry.add(BatchNormOp::kName, prepare_norm, Stores::half);
  registry.add(BatchNormInferenceOp::kName, prepare_inference, Stores::half);
  registry.add(BatchNormGradOp::kName, prepare_batch_norm_grad, Stores::half);
  registry.add(BatchNormJoinedOp::kName, prepare_joined, Stores::half);
  registry.add(BatchNormGradJoinedOp::kName, prepare_joined_gradient, Stores::half);
}

}  // namespace linnet::cuda
