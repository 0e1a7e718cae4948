// SPDX-License-Identifier: Apache-2.0
#include "ops/conv2d/own_plan_cuda.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/bits.h"
#include "ops/conv2d/geometry_cuda.h"

namespace linnet::cuda {
namespace {

/// Blocks that fill a large device about four times, whatever the device at hand.
constexpr std::int64_t kBlocks = 512;
constexpr std::int64_t kSharedFloats = 12 * 1024;  ///< what every device gives without asking
constexpr std::int64_t kMostPartials = std::int64_t{16} << 20;  ///< floats: 64 MiB

bool depthwise(const ConvShape& s) { return s.attrs.groups == s.c && s.co == s.c; }

/// Returns whether it is a plain matrix product on the images as they are.
bool pointwise(const ConvShape& s) {
  const Conv2dAttrs& a = s.attrs;
  return s.kh * s.kw == 1 && a.groups == 1 && a.stride_h == 1 && a.stride_w == 1 &&
         a.pad_top + a.pad_bottom + a.pad_left + a.pad_right == 0;
}

/// Returns what the kernels can index: ConvGeometry has 31 bits for a sample.
bool takes(const ConvShape& s) {
  constexpr std::int64_t kMost = std::int64_t{1} << 30;
  const Conv2dAttrs& a = s.attrs;
  const std::int64_t height = s.h + a.pad_top + a.pad_bottom;
  const std::int64_t width = s.w + a.pad_left + a.pad_right;
  return height < kMost && width < kMost && s.in_pixels() < kMost && s.out_pixels() < kMost &&
         s.kh * s.kw < kMost && s.taps() < kMost && s.kh * s.kw * s.group_out() < kMost &&
         a.groups < 65536 && std::max(s.c, s.co) < 16 * 65536;
}

MatrixProduct pointwise_product(ConvPass pass, const ConvShape& s) {
  const std::int64_t pixels = s.n * s.out_pixels();
  switch (pass) {
    case ConvPass::grad_input: return {.m = pixels, .n = s.c, .k = s.co};
    case ConvPass::grad_weight: return {.m = s.co, .n = s.c, .k = pixels, .transpose_a = true};
    case ConvPass::forward: break;
  }
  return {.m = pixels, .n = s.co, .k = s.c, .transpose_b = true};
}

// ---- direct

std::int64_t power_of_two(std::int64_t least) {
  return static_cast<std::int64_t>(bit_ceil(static_cast<std::uint64_t>(least)));
}

/// Returns output channels of a block: a power of two whose weights fit shared memory, or 0.
int direct_tile(const ConvShape& s, bool vectors) {
  const std::int64_t least = vectors ? 4 : 1;
  std::int64_t tile = std::min<std::int64_t>(least * power_of_two(s.co / least), vectors ? 64 : 32);
  while (tile >= least && tile * s.taps() > kSharedFloats) tile /= 2;
  return tile >= least ? static_cast<int>(tile) : 0;
}

/// Returns whether neighbouring output channels come in fours of one group (depthwise: of the
/// image).
bool in_fours(const ConvShape& s) { return (depthwise(s) ? s.co : s.group_out()) % 4 == 0; }

bool takes_direct(ConvPass pass, const ConvShape& s) {
  if (pass == ConvPass::grad_weight) {
    return depthwise(s) || s.taps() <= 32 || (s.taps() <= 96 && s.group_out() <= 16);
  }
  if (direct_tile(s, false) == 0 || direct_tile(s, in_fours(s)) == 0) return false;
  return depthwise(s) || (pass == ConvPass::forward && s.taps() <= 32 && s.group_out() <= 32);
}

// ---- as matrix products of tiles

/// Chooses tiles by the rows and columns of the product, `of_them` of which run side by side.
void set_tiles(OwnConvPlan& plan, std::int64_t of_them) {
  const auto [rows, columns] = std::pair(plan.product.m, plan.product.n);
  const std::int64_t large = ceil_div(rows, 128) * std::int64_t{ceil_div(columns, 128)} * of_them;
  const int side = rows > 64 && columns > 64 && large >= kBlocks / 4 ? 128 : 64;
  plan.tile_rows = columns <= 16 ? 256 : side;
  plan.tile_columns = columns <= 16 ? 16 : side;
  plan.engine = fmt::format("tiles {}x{}", plan.tile_rows, plan.tile_columns);
}

// ---- weight gradients

/// `blocks` share one part; a part has at least `least` pixels.
void cut_pixels(OwnConvPlan& plan, std::int64_t blocks, std::int64_t least) {
  const ConvShape& s = plan.shape;
  const std::int64_t pixels = s.n * s.out_pixels();
  const std::int64_t most = std::min(kBlocks / std::max<std::int64_t>(blocks, 1),
                                     kMostPartials / std::max<std::int64_t>(s.weights(), 1));
  const std::int64_t wanted =
      std::clamp<std::int64_t>(pixels / least, 1, std::max<std::int64_t>(most, 1));
  plan.part_pixels = std::max<std::int64_t>((pixels + wanted - 1) / wanted, 1);
  plan.parts = std::max(static_cast<int>(ceil_div(pixels, plan.part_pixels)), 1);
  plan.engine += fmt::format(", pixels in {}", plan.parts);
  if (plan.parts > 1) {
    plan.workspace_bytes = sizeof(float) * static_cast<std::size_t>(plan.parts * s.weights());
  }
}

void plan_direct(OwnConvPlan& plan, ConvPass pass) {
  const ConvShape& s = plan.shape;
  plan.kind = depthwise(s) ? OwnConvPlan::Kind::depthwise : OwnConvPlan::Kind::direct;
  plan.engine = depthwise(s) ? "depthwise" : "direct";
  plan.fours = in_fours(s);
  if (pass != ConvPass::grad_weight) return;
  const std::int64_t each = plan.fours ? 4 : 1;
  plan.lanes = static_cast<int>(std::min<std::int64_t>(power_of_two(s.co / each), 32 / each));
  const std::int64_t blocks =
      ceil_div(s.co, plan.lanes * each) * std::int64_t{ceil_div(s.taps(), kTapsOfThread)};
  cut_pixels(plan, blocks, 8 * std::int64_t{kBlock} / plan.lanes);
}

void plan_tiles(OwnConvPlan& plan, ConvPass pass) {
  const ConvShape& s = plan.shape;
  const std::int64_t groups = s.attrs.groups;
  plan.fours = s.group_in() % 4 == 0 && (pass == ConvPass::forward || s.group_out() % 4 == 0);
  switch (pass) {
    case ConvPass::forward:
      plan.product = {.m = s.n * s.out_pixels(), .n = s.group_out()};
      return set_tiles(plan, groups);
    case ConvPass::grad_input:
      plan.product = {.m = s.n * s.in_pixels(), .n = s.group_in()};
      return set_tiles(plan, groups);
    case ConvPass::grad_weight: break;
  }
  plan.product = {.m = s.group_out(), .n = s.taps()};
  set_tiles(plan, groups * kBlocks);
  const std::int64_t tiles = ceil_div(plan.product.m, plan.tile_rows) *
                             std::int64_t{ceil_div(plan.product.n, plan.tile_columns)};
  cut_pixels(plan, tiles * groups, 256);
}

}  // namespace

OwnConvPlan::Direct OwnConvPlan::direct(std::int64_t pixels, bool vectors) const {
  const int tile = direct_tile(shape, vectors);
  const std::int64_t slots = std::int64_t{kBlock} / (tile / (vectors ? 4 : 1));
  const unsigned tiles = ceil_div(shape.co, tile);
  const std::int64_t most = std::max<std::int64_t>(4 * kBlocks / tiles, 1);
  return {tile,
          {.grid =
               dim3(static_cast<unsigned>(std::min<std::int64_t>(ceil_div(pixels, slots), most)),
                    tiles),
           .block = kBlock,
           .shared_bytes = sizeof(float) * static_cast<std::size_t>(tile * shape.taps())}};
}

std::optional<OwnConvPlan> plan_own_conv(ConvPass pass, const ConvShape& s) {
  if (!takes(s)) return std::nullopt;
  OwnConvPlan plan{.shape = s};
  if (pointwise(s)) {
    plan.kind = OwnConvPlan::Kind::product;
    plan.product = pointwise_product(pass, s);
  } else if (takes_direct(pass, s)) {
    plan_direct(plan, pass);
  } else {
    plan_tiles(plan, pass);
  }
  return plan;
}

}  // namespace linnet::cuda
