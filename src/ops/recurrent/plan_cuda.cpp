// SPDX-License-Identifier: Apache-2.0
#include "ops/recurrent/plan_cuda.h"

#include <algorithm>
#include <iterator>

namespace linnet::cuda {
namespace {

RecurrentCut cut_of(const RecurrentShape& s, std::int64_t floats_of_one) {
  // As many blocks as fill a device, then fewer reads of w_hh, as long as there is room.
  constexpr std::int64_t kRoom = 48 * 1024 / sizeof(float);
  const int samples = s.n <= 256 || 4 * floats_of_one > kRoom ? 1 : 4;
  const std::int64_t blocks = (s.n + samples - 1) / samples;
  const std::int64_t floats = samples * floats_of_one;
  const bool shared = floats <= kRoom;
  return {.samples = samples,
          .floats = floats,
          .launch = {.grid = static_cast<unsigned>(blocks),
                     .block = static_cast<unsigned>(
                         std::min<std::int64_t>((s.columns() + 31) / 32 * 32, 1024)),
                     .shared_bytes = shared ? sizeof(float) * static_cast<std::size_t>(floats) : 0},
          .memory_bytes = shared ? 0 : float_bytes(blocks * floats)};
}

int up_to_multiple(int value, int of) { return (value + of - 1) / of * of; }

/// Of the sizes that fit, the one with the fewest products by all threads, padding included.
std::optional<HeldCut> held_cut(const RecurrentShape& s, std::int64_t sums, std::int64_t terms) {
  constexpr std::int64_t kFew = 128;    // samples, each of which has a multiprocessor
  constexpr std::int64_t kMost = 4096;  // sums or terms; the sizes below hold fewer
  std::optional<HeldCut> best;
  if (s.cell == Cell::gru_original || s.n == 0 || std::max(sums, terms) > kMost) return best;
  int least = 0;
  for (int size = 0; size < static_cast<int>(std::size(kHeldSizes)); ++size) {
    const auto [most, threads] = kHeldSizes[size];
    HeldCut cut{.size = size, .sums = static_cast<int>(sums)};
    cut.parts = (static_cast<int>(terms) + most - 1) / most;
    const int block = up_to_multiple(cut.sums * cut.parts, kWarp);
    if (block > threads) continue;
    cut.terms = up_to_multiple((static_cast<int>(terms) + cut.parts - 1) / cut.parts, 4);
    const int chunks = up_to_multiple(cut.terms, kHeldChunk);
    if (best && block * chunks >= least) continue;
    least = block * chunks;
    cut.samples = s.n > kFew && 2 * s.units <= block ? 2 : 1;
    cut.stride = (cut.parts - 1) * cut.terms + chunks;
    cut.launch = {.grid = static_cast<unsigned>((s.n + cut.samples - 1) / cut.samples),
                  .block = static_cast<unsigned>(block),
                  .shared_bytes =
                      sizeof(float) *
                      static_cast<std::size_t>(cut.samples * (cut.stride + cut.parts * cut.sums))};
    best = cut;
  }
  return best;
}

}  // namespace

std::optional<HeldCut> held_forward_cut(const RecurrentShape& s) {
  return held_cut(s, s.columns(), s.units);
}

std::optional<HeldCut> held_backward_cut(const RecurrentShape& s) {
  return held_cut(s, s.units, s.columns());
}

RecurrentCut forward_cut(const RecurrentShape& s) { return cut_of(s, 3 * s.units + s.columns()); }

RecurrentCut backward_cut(const RecurrentShape& s) {
  return cut_of(s, 2 * s.units + s.slopes() + s.columns());
}

std::vector<SlopeProduct> slope_products(const RecurrentShape& s, bool dx_read) {
  using In = RecurrentGradOp::In;
  using Out = RecurrentGradOp::Out;
  const std::int64_t u = s.units;
  const std::int64_t rows = s.n * s.steps;
  const std::int64_t width = s.slopes();
  const MatrixProduct dx{.m = rows, .n = s.features, .k = s.columns(), .lda = width};
  const MatrixProduct dw_ih{
      .m = s.columns(), .n = s.features, .k = rows, .transpose_a = true, .lda = width};
  std::vector<SlopeProduct> products;
  if (dx_read) {
    products.push_back(
        {.plan = plan_matmul(dx), .slope = s.input_slopes(), .input = In::w_ih, .output = Out::dx});
  }
  products.push_back({.plan = plan_matmul(dw_ih),
                      .slope = s.input_slopes(),
                      .input = In::x,
                      .output = Out::dw_ih});
  const auto add_w_hh = [&](std::int64_t slope, std::int64_t gate, std::int64_t gates,
                            std::int64_t column) {
    const MatrixProduct dw_hh{
        .m = gates * u, .n = u, .k = rows, .transpose_a = true, .lda = width, .ldb = s.saved()};
    products.push_back({.plan = plan_matmul(dw_hh),
                        .slope = slope,
                        .by_saved = true,
                        .column = column,
                        .output = Out::dw_hh,
                        .element = gate * u * u});
  };
  switch (s.cell) {
    case Cell::gru:
      add_w_hh(0, 2, 1, s.state());
      add_w_hh(u, 0, 2, s.state());
      break;
    case Cell::gru_original:
      add_w_hh(0, 0, 2, s.state());
      add_w_hh(2 * u, 2, 1, 3 * u);
      break;
    default: add_w_hh(0, 0, cell_gates(s.cell), s.state());
  }
  return products;
}

}  // namespace linnet::cuda
