// SPDX-License-Identifier: Apache-2.0
// Linnet's own convolutions: strict fp32, every shape. cuDNN's engine is asked before them.
#include "backend/cuda/half_operands.h"
#include "backend/cuda/kernel.h"
#include "backend/cuda/matmul.cuh"
#include "backend/cuda/partial_sums.cuh"
#include "ops/conv2d/direct_cuda.cuh"
#include "ops/conv2d/engines_cuda.h"
#include "ops/conv2d/problems_cuda.cuh"

namespace linnet::cuda {
namespace {

/// Blocks that fill a large device about four times, whatever the device at hand.
constexpr std::int64_t kBlocks = 512;
constexpr std::int64_t kSharedFloats = 12 * 1024;  ///< what every device gives without asking
constexpr std::int64_t kMostPartials = std::int64_t{16} << 20;  ///< floats: 64 MiB

bool depthwise(const ConvShape& s) { return s.attrs.groups == s.c && s.co == s.c; }

/// Returns a plain matrix product on the images as they are.
bool pointwise(const ConvShape& s) {
  const Conv2dAttrs& a = s.attrs;
  return s.kh * s.kw == 1 && a.groups == 1 && a.stride_h == 1 && a.stride_w == 1 &&
         a.pad_top + a.pad_bottom + a.pad_left + a.pad_right == 0;
}

/// Returns what the kernels here can index; whatever fits a device's memory does.
bool takes(const ConvShape& s) {
  return fits_geometry(s) && s.attrs.groups < 65536 && std::max(s.c, s.co) < 16 * 65536;
}

template <class F>
Kernel launching(F enqueue, std::string engine, std::int64_t workspace_floats = 0) {
  return {.enqueue = std::move(enqueue),
          .workspace_bytes = sizeof(float) * static_cast<std::size_t>(workspace_floats),
          .engine = std::move(engine)};
}

// ---- direct

/// Output channels of a block: a power of two whose weights fit shared memory, or 0.
int direct_tile(const ConvShape& s, bool vectors) {
  const std::int64_t wanted =
      vectors ? 4 * static_cast<std::int64_t>(bit_ceil(static_cast<std::uint64_t>(s.co / 4)))
              : static_cast<std::int64_t>(bit_ceil(static_cast<std::uint64_t>(s.co)));
  std::int64_t tile = std::min<std::int64_t>(wanted, vectors ? 64 : 32);
  while (tile >= (vectors ? 4 : 1) && tile * s.taps() > kSharedFloats) tile /= 2;
  return tile >= (vectors ? 4 : 1) ? static_cast<int>(tile) : 0;
}

bool direct_forward(const ConvShape& s) {
  if (direct_tile(s, false) == 0 || direct_tile(s, s.group_out() % 4 == 0) == 0) return false;
  return depthwise(s) || (s.taps() <= 32 && s.group_out() <= 32);
}

/// Returns whether neighbouring output channels come in fours of one group (depthwise: of the
/// image).
bool in_fours(const ConvShape& s) { return (depthwise(s) ? s.co : s.group_out()) % 4 == 0; }

LaunchShape direct_launch(const ConvShape& s, std::int64_t pixels, int tile, bool vectors) {
  const std::int64_t slots = kBlock / (tile / (vectors ? 4 : 1));
  const unsigned tiles = ceil_div(s.co, tile);
  const std::int64_t most = std::max<std::int64_t>(4 * kBlocks / tiles, 1);
  return {.grid = dim3(static_cast<unsigned>(std::min<std::int64_t>(ceil_div(pixels, slots), most)),
                       tiles),
          .block = kBlock,
          .shared_bytes = sizeof(float) * static_cast<std::size_t>(tile * s.taps())};
}

/// A type of this file: the simulated device does not link one kernel of two files.
struct ConvTail : BiasAndActivation {};

ConvTail tail_of(const Args& args, const Conv2dAttrs& attrs) {
  return {{attrs.bias ? args.in(Conv2dOp::In::b) : nullptr, attrs.activation}};
}

template <bool kDepthwise>
Kernel forward_direct(const ConvShape& s, const Conv2dAttrs& attrs) {
  const auto enqueue = [=, g = geometry(s)](const Args& args) {
    const bool vectors = in_fours(s) && vector_aligned(args.in(kFirst), args.out(kFirst));
    const int tile = direct_tile(s, vectors);
    launch(args.stream, "conv2d direct", direct_launch(s, g.out_total, tile, vectors),
           vectors ? conv_direct<4, kDepthwise> : conv_direct<1, kDepthwise>, g, args.in(kFirst),
           args.in(kSecond), args.out(kFirst), tail_of(args, attrs), tile);
  };
  return launching(enqueue, kDepthwise ? "depthwise" : "direct");
}

Kernel grad_input_depthwise(const ConvShape& s) {
  const auto enqueue = [=, g = geometry(s)](const Args& args) {
    const bool vectors = in_fours(s) && vector_aligned(args.in(kFirst), args.out(kFirst));
    const int tile = direct_tile(s, vectors);
    launch(args.stream, "conv2d_grad_input depthwise", direct_launch(s, g.in_total, tile, vectors),
           vectors ? depthwise_grad_input<4> : depthwise_grad_input<1>, g, args.in(kFirst),
           args.in(kSecond), args.out(kFirst), tile);
  };
  return launching(enqueue, "depthwise");
}

/// A weight gradient's pixels, cut into parts that blocks sum apart.
struct Parts {
  int count = 1;
  std::int64_t pixels = 0;  ///< of each but the last
};

/// `blocks` share one part; a part has at least `least` pixels.
Parts cut(const ConvShape& s, std::int64_t blocks, std::int64_t least) {
  const std::int64_t pixels = s.n * s.out_pixels();
  const std::int64_t most = std::min(kBlocks / std::max<std::int64_t>(blocks, 1),
                                     kMostPartials / std::max<std::int64_t>(s.weights(), 1));
  const std::int64_t wanted =
      std::clamp<std::int64_t>(pixels / least, 1, std::max<std::int64_t>(most, 1));
  Parts parts;
  parts.pixels = std::max<std::int64_t>((pixels + wanted - 1) / wanted, 1);
  parts.count =
      static_cast<int>(std::max<std::int64_t>((pixels + parts.pixels - 1) / parts.pixels, 1));
  return parts;
}

std::int64_t partial_floats(const ConvShape& s, const Parts& parts) {
  return parts.count > 1 ? parts.count * s.weights() : 0;
}

/// Where the parts' sums go first, and what makes dw of them.
float* partials(const Args& args, const Parts& parts) {
  return parts.count > 1 ? args.work() : args.out(Conv2dGradWeightOp::Out::dw);
}
void add_partials(const Args& args, const ConvShape& s, const Parts& parts) {
  if (parts.count == 1) return;
  add_parts(args.stream, "conv2d_grad_weight sums", args.work(), parts.count, s.weights(),
            SumTargets{.first = args.out(Conv2dGradWeightOp::Out::dw), .first_count = s.weights()});
}

bool direct_grad_weight(const ConvShape& s) {
  return depthwise(s) || s.taps() <= 32 || (s.taps() <= 96 && s.group_out() <= 16);
}

template <bool kDepthwise>
Kernel grad_weight_direct(const ConvShape& s) {
  using In = Conv2dGradWeightOp::In;
  const int each = in_fours(s) ? 4 : 1;
  const auto lanes =
      static_cast<int>(std::min<std::uint64_t>(bit_ceil(static_cast<std::uint64_t>(s.co / each)),
                                               kWarp / static_cast<unsigned>(each)));
  const dim3 channels_and_taps(1, ceil_div(s.co, lanes * each), ceil_div(s.taps(), kTapsOfThread));
  const Parts parts = cut(s, std::int64_t{channels_and_taps.y} * channels_and_taps.z,
                          8 * std::int64_t{kBlock} / lanes);
  return launching(
      [=, g = geometry(s)](const Args& args) {
        const bool vectors = each == 4 && vector_aligned(args.in(In::x), args.in(In::dz));
        dim3 grid = channels_and_taps;
        grid.x = static_cast<unsigned>(parts.count);
        if (!vectors) grid.y = ceil_div(s.co, lanes);
        launch(args.stream, "conv2d_grad_weight direct", {.grid = grid, .block = kBlock},
               vectors ? conv_direct_grad_weight<4, kDepthwise>
                       : conv_direct_grad_weight<1, kDepthwise>,
               g, args.in(In::x), args.in(In::dz), partials(args, parts), lanes, parts.pixels);
        add_partials(args, s, parts);
      },
      (kDepthwise ? "depthwise, pixels in " : "direct, pixels in ") + std::to_string(parts.count),
      partial_floats(s, parts));
}

// ---- as matrix products of tiles

enum class TileKind : std::uint8_t { narrow, middle, large };

/// By the rows and columns of the product, `of_them` of which run side by side.
TileKind tile_kind(std::int64_t rows, std::int64_t columns, std::int64_t of_them) {
  if (columns <= 16) return TileKind::narrow;
  const std::int64_t large = ceil_div(rows, 128) * std::int64_t{ceil_div(columns, 128)} * of_them;
  return rows > 64 && columns > 64 && large >= kBlocks / 4 ? TileKind::large : TileKind::middle;
}

std::string name(TileKind kind) {
  switch (kind) {
    case TileKind::narrow: return "tiles 256x16";
    case TileKind::middle: return "tiles 64x64";
    case TileKind::large: break;
  }
  return "tiles 128x128";
}

template <class T, class Problem>
void launch_tiles(const Queue& stream, const char* name, const Problem& problem, std::int64_t rows,
                  std::int64_t columns, std::int64_t depth) {
  const LaunchShape shape{.grid = dim3(ceil_div(rows, T::kRows), ceil_div(columns, T::kColumns),
                                       static_cast<unsigned>(depth)),
                          .block = kProductThreads};
  launch(stream, name, shape, conv_product<Problem, T>, problem);
}

/// Returns what enqueues `depth` products of rows x columns; problem_of<kVector>(args) says of
/// what. `fours`: the shape allows vectors, if the operands are aligned.
template <class ProblemOf>
auto products(const char* name, TileKind kind, bool fours, std::int64_t rows, std::int64_t columns,
              std::int64_t depth, ProblemOf problem_of) {
  return [=](const Args& args) {
    const auto run = [&]<bool kVector>() {
      const auto problem = problem_of.template operator()<kVector>(args);
      switch (kind) {
        case TileKind::narrow:
          return launch_tiles<Tile<256, 16, 4>>(args.stream, name, problem, rows, columns, depth);
        case TileKind::middle:
          return launch_tiles<Tile<64, 64, 4>>(args.stream, name, problem, rows, columns, depth);
        case TileKind::large:
          return launch_tiles<Tile<128, 128, 8>>(args.stream, name, problem, rows, columns, depth);
      }
    };
    const bool vectors = fours && vector_aligned(args.in(kFirst), args.in(kSecond));
    vectors ? run.template operator()<true>() : run.template operator()<false>();
  };
}

Kernel forward_product(const ConvShape& s, const Conv2dAttrs& attrs) {
  const std::int64_t pixels = s.n * s.out_pixels();
  const TileKind kind = tile_kind(pixels, s.group_out(), attrs.groups);
  const auto problem = [=, g = geometry(s)]<bool kVector>(const Args& args) {
    float* y = args.out(kFirst);
    const bool store_fours = s.group_out() % 4 == 0 && vector_aligned(y);
    return ForwardProblem<kVector>{g, args.in(kFirst),      args.in(kSecond),
                                   y, tail_of(args, attrs), store_fours};
  };
  return launching(products("conv2d", kind, s.group_in() % 4 == 0, pixels, s.group_out(),
                            attrs.groups, problem),
                   name(kind));
}

/// Returns whether channels come in fours, in each group.
bool groups_of_fours(const ConvShape& s) { return s.group_in() % 4 == 0 && s.group_out() % 4 == 0; }

Kernel grad_input_product(const ConvShape& s) {
  const std::int64_t pixels = s.n * s.in_pixels();
  const TileKind kind = tile_kind(pixels, s.group_in(), s.attrs.groups);
  const auto problem = [=, g = geometry(s)]<bool kVector>(const Args& args) {
    float* dx = args.out(kFirst);
    const bool store_fours = s.group_in() % 4 == 0 && vector_aligned(dx);
    return GradInputProblem<kVector>{g, args.in(kFirst), args.in(kSecond), dx, store_fours};
  };
  return launching(products("conv2d_grad_input", kind, groups_of_fours(s), pixels, s.group_in(),
                            s.attrs.groups, problem),
                   name(kind));
}

Kernel grad_weight_product(const ConvShape& s) {
  const std::int64_t groups = s.attrs.groups;
  const TileKind kind = tile_kind(s.group_out(), s.taps(), groups * kBlocks);
  const std::int64_t side = kind == TileKind::large ? 128 : 64;
  const std::int64_t tiles = kind == TileKind::narrow
                                 ? ceil_div(s.group_out(), 256)
                                 : ceil_div(s.group_out(), side) * ceil_div(s.taps(), side);
  const Parts parts = cut(s, tiles * groups, 256);
  const auto problem = [=, g = geometry(s)]<bool kVector>(const Args& args) {
    float* sums = partials(args, parts);
    const auto of_group = static_cast<int>(groups);
    const bool store_fours = s.taps() % 4 == 0 && vector_aligned(sums);
    return GradWeightProblem<kVector>{g,        args.in(kFirst), args.in(kSecond), sums,
                                      of_group, parts.pixels,    store_fours};
  };
  const auto sum = products("conv2d_grad_weight", kind, groups_of_fours(s), s.group_out(), s.taps(),
                            groups * parts.count, problem);
  return launching(
      [=](const Args& args) {
        sum(args);
        add_partials(args, s, parts);
      },
      name(kind) + ", pixels in " + std::to_string(parts.count), partial_floats(s, parts));
}

// ---- as one matrix product of images and weights

ConvTail no_tail(const Args&) { return {}; }

// ---- which

std::optional<Kernel> grad_input(const NodeView& node, const Context&) {
  using In = Conv2dGradInputOp::In;
  const ConvShape s =
      static_cast<const Conv2dGradInputOp&>(node.op).shape(node.in(In::dz), node.in(In::w));
  if (!takes(s)) return std::nullopt;
  if (pointwise(s)) {
    return product_of_inputs({.m = s.n * s.out_pixels(), .n = s.c, .k = s.co}, In::dz, In::w,
                             no_tail);
  }
  return depthwise(s) && direct_forward(s) ? grad_input_depthwise(s) : grad_input_product(s);
}

std::optional<Kernel> grad_weight(const NodeView& node, const Context&) {
  using In = Conv2dGradWeightOp::In;
  const ConvShape s =
      static_cast<const Conv2dGradWeightOp&>(node.op).shape(node.in(In::x), node.in(In::dz));
  if (!takes(s)) return std::nullopt;
  if (pointwise(s)) {
    return product_of_inputs({.m = s.co, .n = s.c, .k = s.n * s.out_pixels(), .transpose_a = true},
                             In::dz, In::x, no_tail);
  }
  if (!direct_grad_weight(s)) return grad_weight_product(s);
  return depthwise(s) ? grad_weight_direct<true>(s) : grad_weight_direct<false>(s);
}

template <Prepare own, bool kWeights>
std::optional<Kernel> prepare(const NodeView& node, const Context& context) {
  return through_f32(node, context, own, kWeights);
}

}  // namespace

std::optional<Kernel> own_conv2d(const NodeView& node, const Context& /*context*/) {
  using In = Conv2dOp::In;
  const Conv2dAttrs attrs = node.attrs<Conv2dOp>();
  const ConvShape s = conv_shape(attrs, node.in(In::x), node.in(In::w), "");
  if (!takes(s)) return std::nullopt;
  if (pointwise(s)) {
    return product_of_inputs({.m = s.n * s.out_pixels(), .n = s.co, .k = s.c, .transpose_b = true},
                             In::x, In::w, [=](const Args& args) { return tail_of(args, attrs); });
  }
  if (!direct_forward(s)) return forward_product(s, attrs);
  return depthwise(s) ? forward_direct<true>(s, attrs) : forward_direct<false>(s, attrs);
}

void register_conv2d(Registry& registry) {
  registry.add(Conv2dOp::kName, prepare<own_conv2d, true>, Stores::half);
  registry.add(Conv2dGradInputOp::kName, prepare<grad_input, true>, Stores::half);
  registry.add(Conv2dGradWeightOp::kName, prepare<grad_weight, false>, Stores::half);
}

}  // namespace linnet::cuda
