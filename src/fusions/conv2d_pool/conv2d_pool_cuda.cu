// SPDX-License-Identifier: Apache-2.0
#include "fusions/conv2d_pool/conv2d_pool_cuda.cuh"

#include "backend/cuda/kernel.h"
#include "backend/cuda/partial_sums.cuh"
#include "fusions/conv2d_pool/conv2d_pool.h"

namespace linnet::cuda {
namespace {

constexpr std::int64_t kForwardBlocks = 2048;
constexpr std::int64_t kGradientBlocks = 264;  ///< two to a multiprocessor, all at once

using Forward = void (*)(ConvPoolBands, const float*, const float*, const float*, float*,
                         std::uint8_t*, bool);
using Gradient = void (*)(ConvPoolBands, const float*, const float*, const float*,
                          const std::uint8_t*, float*);

/// The kernels for a shape: the usual ones with all loops unrolled.
struct Kernels {
  Forward forward;
  Gradient gradient;
  int taps;  ///< that the gradient has offsets for
};
Kernels kernels_for(const ConvPoolBands& s) {
  const auto is = [&](int rows, int row, int channels) {
    return s.kh == rows && s.row_taps == row && s.c == channels;
  };
  if (is(3, 3, 1)) return {conv_pool_forward<3, 3, 1>, conv_pool_gradient<3, 3, 9>, 9};
  if (is(3, 9, 3)) return {conv_pool_forward<3, 9, 3>, conv_pool_gradient<3, 9, 27>, 27};
  if (is(5, 5, 1)) return {conv_pool_forward<5, 5, 1>, conv_pool_gradient<5, 5, 25>, 25};
  if (is(5, 15, 3)) return {conv_pool_forward<5, 15, 3>, conv_pool_gradient<5, 15, 75>, 75};
  if (s.taps() <= 27) return {conv_pool_forward<0, 0, 0>, conv_pool_gradient<0, 0, 27>, 27};
  return {conv_pool_forward<0, 0, 0>, conv_pool_gradient<0, 0, kPoolTaps>, kPoolTaps};
}

std::optional<Kernel> prepare_conv2d_pool(const NodeView& node, const Context&) {
  using In = Conv2dPoolOp::In;
  using Out = Conv2dPoolOp::Out;
  const Conv2dPoolAttrs attrs = node.attrs<Conv2dPoolOp>();
  const ConvShape s = conv_shape(attrs.conv, node.in(In::x), node.in(In::w), "");
  const std::optional<ConvPoolBands> taken = bands_of(attrs, s);
  if (!taken) return std::nullopt;
  const ConvPoolBands bands = *taken;
  const LaunchShape shape{.grid = static_cast<unsigned>(std::min(bands.items, kForwardBlocks)),
                          .block = kBlock,
                          .shared_bytes = sizeof(float) * static_cast<std::size_t>(bands.sums()) +
                                          bands.image_bytes()};
  Kernel kernel;
  kernel.engine = std::to_string(bands.rows) + " pooled rows a block";
  kernel.enqueue = [=, kernels = kernels_for(bands)](const Args& args) {
    auto* winner = args.out<std::uint8_t>(Out::winner);
    const bool aligned = vector_aligned(args.out(Out::y)) &&
                         reinterpret_cast<std::uintptr_t>(winner) % sizeof(unsigned) == 0;
    launch(args.stream, "conv2d_pool", shape, kernels.forward, bands, args.in(In::x),
           args.in(In::w), attrs.conv.bias ? args.in(In::b) : nullptr, args.out(Out::y), winner,
           aligned);
  };
  return kernel;
}

std::optional<Kernel> prepare_conv2d_pool_grad(const NodeView& node, const Context&) {
  using In = Conv2dPoolGradOp::In;
  using Out = Conv2dPoolGradOp::Out;
  const auto& op = static_cast<const Conv2dPoolGradOp&>(node.op);
  const ConvShape s = op.shape(node.in(In::x), node.in(In::dy));
  const std::optional<ConvPoolBands> taken = bands_of(op.attrs().forward, s);
  if (!taken) return std::nullopt;
  const ConvPoolBands bands = *taken;
  const Kernels kernels = kernels_for(bands);
  const auto blocks = static_cast<int>(std::clamp<std::int64_t>(bands.items, 1, kGradientBlocks));
  const std::size_t scratch =
      std::max(bands.image_bytes(), sizeof(float) * std::size_t{kPoolExchange});
  const LaunchShape shape{.grid = static_cast<unsigned>(blocks),
                          .block = kBlock,
                          .shared_bytes =
                              sizeof(float) * static_cast<std::size_t>(kernels.taps) + scratch};
  const std::int64_t sums = bands.sums();
  Kernel kernel;
  kernel.workspace_bytes = sizeof(float) * static_cast<std::size_t>(blocks * sums);
  kernel.engine = std::to_string(blocks) + " blocks";
  kernel.enqueue = [=](const Args& args) {
    launch(args.stream, "conv2d_pool_grad", shape, kernels.gradient, bands, args.in(In::x),
           args.in(In::dy), args.in(In::y), args.in<std::uint8_t>(In::winner), args.work());
    add_parts(args.stream, "conv2d_pool_grad sums", args.work(), blocks, sums,
              SumTargets{.first = args.out(Out::dw),
                         .first_count = s.weights(),
                         .second = args.out(Out::db)});
  };
  return kernel;
}

}  // namespace

void register_conv2d_pool(Registry& registry) {
  registry.add(Conv2dPoolOp::kName, prepare_conv2d_pool);
  registry.add(Conv2dPoolGradOp::kName, prepare_conv2d_pool_grad);
}

}  // namespace linnet::cuda
