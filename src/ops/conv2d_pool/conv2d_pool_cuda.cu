// SPDX-License-Identifier: Apache-2.0
#include "ops/conv2d_pool/conv2d_pool_cuda.cuh"

#include "backend/cuda/kernel.h"
#include "backend/cuda/partial_sums.cuh"
#include "ops/conv2d_pool/conv2d_pool.h"

namespace linnet::cuda {
namespace {

constexpr std::int64_t kItems = 512;            ///< bands that fill a large device
constexpr std::int64_t kGradientBlocks = 264;   ///< two to a multiprocessor, all at once
constexpr std::int64_t kImageFloats = 8 << 10;  ///< of a band: 32 KiB
constexpr std::int64_t kWeightFloats = 8 << 10;

/// Returns what the kernels take, cut into bands; nothing where convolution and pooling by
/// themselves are better (many channels) or needed (strides, other windows).
std::optional<ConvPoolBands> bands_of(const Conv2dPoolAttrs& attrs, const ConvShape& s) {
  const Conv2dAttrs& a = attrs.conv;
  const std::int64_t line = (s.w + a.pad_left + a.pad_right) * s.c;
  // Two rows of the image begin 16 banks of shared memory apart: a warp reads windows of both.
  const std::int64_t pitch = line + (48 - line % 32) % 32;
  const std::int64_t pooled_h = s.oh / 2;
  if (!attrs.is_plain() || s.co % 4 != 0 || s.co > kBlock || s.taps() > kPoolTaps ||
      (s.taps() + 1) * s.co > kWeightFloats || (s.kh + 1) * pitch > kImageFloats ||
      s.h > INT32_MAX / 4 || pooled_h == 0 || a.pad_top + a.pad_bottom > INT32_MAX / 4) {
    return std::nullopt;
  }
  // As many bands as keep a device busy with few samples, and small enough for shared memory.
  const std::int64_t fitting = (kImageFloats / pitch - s.kh + 1) / 2;
  const std::int64_t wanted = (kItems + s.n - 1) / std::max<std::int64_t>(s.n, 1);
  const std::int64_t even = (pooled_h + wanted - 1) / std::max<std::int64_t>(wanted, 1);
  const std::int64_t rows = std::clamp<std::int64_t>(even, 1, std::min(fitting, pooled_h));
  const std::int64_t bands = (pooled_h + rows - 1) / rows;
  const auto narrow = [](std::int64_t dim) { return static_cast<int>(dim); };
  return ConvPoolBands{.h = narrow(s.h),
                       .w = narrow(s.w),
                       .c = narrow(s.c),
                       .co = narrow(s.co),
                       .kh = narrow(s.kh),
                       .row_taps = narrow(s.kw * s.c),
                       .pad_top = narrow(a.pad_top),
                       .pad_left = narrow(a.pad_left),
                       .pooled_h = narrow(pooled_h),
                       .pooled_w = narrow(s.ow / 2),
                       .pitch = narrow(pitch),
                       .rows = narrow(rows),
                       .bands = narrow(bands),
                       .items = s.n * bands,
                       .relu = a.activation == Activation::relu};
}

std::size_t image_bytes(const ConvPoolBands& s) {
  return sizeof(float) * static_cast<std::size_t>(s.image_rows(s.rows) * s.pitch);
}

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

std::optional<Kernel> prepare_forward(const NodeView& node, const Context&) {
  using In = Conv2dPoolOp::In;
  using Out = Conv2dPoolOp::Out;
  const Conv2dPoolAttrs attrs = node.attrs<Conv2dPoolOp>();
  const ConvShape s = conv_shape(attrs.conv, node.in(In::x), node.in(In::w), "");
  const std::optional<ConvPoolBands> taken = bands_of(attrs, s);
  if (!taken) return std::nullopt;
  const ConvPoolBands bands = *taken;
  const LaunchShape shape{
      .grid = static_cast<unsigned>(std::min<std::int64_t>(bands.items, 4 * kItems)),
      .block = kBlock,
      .shared_bytes = sizeof(float) * static_cast<std::size_t>((bands.taps() + 1) * bands.co) +
                      image_bytes(bands)};
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

std::optional<Kernel> prepare_gradient(const NodeView& node, const Context&) {
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
      std::max(image_bytes(bands), sizeof(float) * std::size_t{kPoolExchange});
  const LaunchShape shape{.grid = static_cast<unsigned>(blocks),
                          .block = kBlock,
                          .shared_bytes =
                              sizeof(float) * static_cast<std::size_t>(kernels.taps) + scratch};
  const std::int64_t sums = (s.taps() + 1) * s.co;  // dw, then db
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
  registry.add(Conv2dPoolOp::kName, prepare_forward);
  registry.add(Conv2dPoolGradOp::kName, prepare_gradient);
}

}  // namespace linnet::cuda
