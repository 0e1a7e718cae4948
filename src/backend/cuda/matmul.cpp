// SPDX-License-Identifier: Apache-2.0
#include "backend/cuda/matmul.h"

#include <fmt/format.h>

#include <algorithm>

namespace linnet::cuda {
namespace {

constexpr std::int64_t kThin = 16;     ///< rows or columns up to which tiles stay half empty
constexpr std::int64_t kBlocks = 256;  ///< aimed at: two to a multiprocessor of a large device
constexpr std::int64_t kSplitBytes = std::int64_t{32} << 20;

std::int64_t parts(std::int64_t items, std::int64_t size) { return (items + size - 1) / size; }

/// Cuts k into parts of at least `least` terms, in multiples of `multiple`, where `blocks` alone
/// would leave a device idle.
void split(MatmulPlan& plan, std::int64_t blocks, std::int64_t least, std::int64_t multiple) {
  const MatrixProduct& p = plan.product;
  const auto bytes_each = p.m * p.n * static_cast<std::int64_t>(sizeof(float));
  const std::int64_t splits =
      std::max<std::int64_t>(1, std::min({parts(kBlocks, blocks), p.k / least,
                                          kSplitBytes / bytes_each}));
  const std::int64_t terms = parts(parts(p.k, splits), multiple) * multiple;
  plan.split_terms = std::max(terms, multiple);
  plan.splits = static_cast<int>(std::max<std::int64_t>(1, parts(p.k, plan.split_terms)));
  if (plan.splits > 1) {
    plan.workspace_bytes = static_cast<std::size_t>(plan.splits * bytes_each);
    plan.engine += fmt::format(", k in {}", plan.splits);
  }
}

std::int64_t tiles_of(const MatrixProduct& p, std::int64_t tile) {
  return parts(p.m, tile) * parts(p.n, tile);
}

/// Returns the largest tile of which there are enough, counting also parts of k of 256 terms.
int choose_tile(const MatrixProduct& p) {
  const std::int64_t k_parts = std::clamp<std::int64_t>(p.k / 256, 1, 64);
  for (const int tile : {128, 64}) {
    if (std::min(p.m, p.n) > tile / 2 && tiles_of(p, tile) * k_parts >= kBlocks / 2) return tile;
  }
  return 32;
}

}  // namespace

MatmulPlan plan_matmul(const MatrixProduct& product) {
  MatmulPlan plan{.product = product, .engine = "no output"};
  const auto [least, most] = std::minmax(product.m, product.n);
  if (least == 0) return plan;
  if (!product.transpose_a && product.transpose_b && least <= kThin) {
    plan.kind = MatmulPlan::Kind::dots;
    const std::int64_t warps = parts(product.m, 4) * parts(product.n, 4);
    plan.block_dots = warps <= 4 * kBlocks && product.k >= (warps <= kBlocks ? 256 : 1024);
    plan.engine = plan.block_dots ? "dots by blocks" : "dots by warps";
  } else if (product.transpose_a && !product.transpose_b && least <= kThin) {
    plan.kind = MatmulPlan::Kind::thin_sums;
    plan.engine = "thin sums";
    split(plan, parts(most, thin_block_columns(least)), 64, 8);
  } else {
    plan.kind = MatmulPlan::Kind::tiles;
    plan.tile = choose_tile(product);
    plan.engine = fmt::format("tiles {0}x{0}", plan.tile);
    split(plan, tiles_of(product, plan.tile), 128, 32);
  }
  return plan;
}

}  // namespace linnet::cuda
