// SPDX-License-Identifier: Apache-2.0
#include "train/levenberg_marquardt/normal_equations.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "backend/cpu/products/square_tiles.h"
#include "base/check.h"
#include "base/memory.h"

namespace linnet {
namespace {

using cpu::kTile;
using cpu::kTileElements;

/// Tiles in a row above which threads pay.
constexpr std::int64_t kFewTiles = 8;
/// Rows of a block that a task writes.
constexpr std::int64_t kRowsTogether = 32;

std::int64_t side_of(std::size_t unknowns) {
  return static_cast<std::int64_t>(unknowns) / kTile + 1;  // with the row of b
}

std::size_t triangle(std::int64_t side) {
  return static_cast<std::size_t>(side * (side + 1) / 2) * kTileElements;
}

std::size_t block_elements(std::int64_t side) {
  return static_cast<std::size_t>(side * kTile * NormalEquations::kBlockRows);
}

/// Returns where a tile of the lower triangle begins.
std::size_t place(std::int64_t row, std::int64_t column) {
  return static_cast<std::size_t>(row * (row + 1) / 2 + column) * kTileElements;
}

/// Returns the row and column of the n-th tile of a lower triangle.
std::array<std::int64_t, 2> tile_of(std::int64_t n) {
  auto row = static_cast<std::int64_t>((std::sqrt(8.0 * static_cast<double>(n) + 1) - 1) / 2);
  while (row * (row + 1) / 2 > n) --row;
  while ((row + 1) * (row + 2) / 2 <= n) ++row;
  return {row, n - row * (row + 1) / 2};
}

}  // namespace

std::size_t NormalEquations::bytes(std::size_t unknowns) {
  const std::int64_t side = side_of(unknowns);
  return (2 * triangle(side) + block_elements(side)) * sizeof(double);
}

NormalEquations::NormalEquations(std::size_t unknowns, ThreadTeam& team)
    : unknowns_(unknowns),
      side_(side_of(unknowns)),
      team_(team),
      products_(triangle(side_)),
      factor_(triangle(side_)),
      block_(block_elements(side_)) {}

template <class F>
void NormalEquations::for_each(std::int64_t count, const F& f) {
  run_tasks(team_, static_cast<std::uint32_t>(count),
            [&](std::uint32_t task) { f(static_cast<std::int64_t>(task)); });
}

double NormalEquations::at(std::size_t row, std::size_t column) const {
  const auto i = static_cast<std::int64_t>(row);
  const auto j = static_cast<std::int64_t>(column);
  const std::size_t within = static_cast<std::size_t>(i % kTile * kTile + j % kTile);
  return products_.data()[place(i / kTile, j / kTile) + within];
}

void NormalEquations::clear() { std::fill_n(products_.data(), products_.elements(), 0.0); }

void NormalEquations::add(std::int64_t count, const Row& row) {
  LINNET_ASSERT(count >= 0 && count <= kBlockRows);
  double* const block = block_.data();
  const std::int64_t tall = kBlockRows * kTile;  // elements of a panel of kTile columns
  for_each((count + kRowsTogether - 1) / kRowsTogether, [&](std::int64_t task) {
    std::vector<double> elements(static_cast<std::size_t>(side_ * kTile));
    const std::int64_t end = std::min(count, (task + 1) * kRowsTogether);
    for (std::int64_t r = task * kRowsTogether; r < end; ++r) {
      std::ranges::fill(elements, 0.0);
      row(r, std::span(elements).first(unknowns_ + 1));
      for (std::int64_t panel = 0; panel < side_; ++panel) {
        std::copy_n(elements.data() + panel * kTile, kTile, block + panel * tall + r * kTile);
      }
    }
  });
  for_each(side_ * (side_ + 1) / 2, [&](std::int64_t n) {
    const auto [i, j] = tile_of(n);
    cpu::add_tile_product(products_.data() + place(i, j), block + i * tall, block + j * tall, count,
                          1);
  });
}

bool NormalEquations::factorize_diagonal(std::int64_t tile, std::span<const double> added) {
  // Rows from b's on are those of a unit matrix.
  const std::int64_t rows = std::min(kTile, static_cast<std::int64_t>(unknowns_) - tile * kTile);
  alignas(64) std::array<double, kTileElements> a{};
  std::copy_n(products_.data() + place(tile, tile), kTileElements, a.data());
  for (std::int64_t k = 0; k < tile; ++k) {
    const double* l = factor_.data() + place(tile, k);
    cpu::add_tile_product(a.data(), l, l, kTile, -1);
  }
  double* const to = factor_.data() + place(tile, tile);
  std::fill_n(to, kTileElements, 0.0);
  for (std::int64_t i = 0; i < kTile; ++i) {
    for (std::int64_t j = 0; j <= i; ++j) {
      if (i >= rows) {
        to[j * kTile + i] = i == j ? 1 : 0;
        continue;
      }
      double sum = a[static_cast<std::size_t>(i * kTile + j)];
      if (i == j) sum += added[static_cast<std::size_t>(tile * kTile + i)];
      for (std::int64_t k = 0; k < j; ++k) sum -= to[k * kTile + i] * to[k * kTile + j];
      if (i == j && !(sum > 0)) return false;  // NaN, too
      to[j * kTile + i] = i == j ? std::sqrt(sum) : sum / to[j * kTile + j];
    }
  }
  return true;
}

void NormalEquations::factorize_below(std::int64_t row, std::int64_t column) {
  alignas(64) std::array<double, kTileElements> a{};
  std::copy_n(products_.data() + place(row, column), kTileElements, a.data());
  const std::int64_t rows = std::min(kTile, static_cast<std::int64_t>(unknowns_) - row * kTile);
  std::fill(a.begin() + rows * kTile, a.end(), 0.0);
  for (std::int64_t k = 0; k < column; ++k) {
    cpu::add_tile_product(a.data(), factor_.data() + place(row, k),
                          factor_.data() + place(column, k), kTile, -1);
  }
  const double* const l = factor_.data() + place(column, column);
  double* const x = factor_.data() + place(row, column);
  for (std::int64_t q = 0; q < kTile; ++q) {
    double* const to = x + q * kTile;
    for (std::int64_t i = 0; i < kTile; ++i) to[i] = a[static_cast<std::size_t>(i * kTile + q)];
    for (std::int64_t p = 0; p < q; ++p) {
      const double factor = l[p * kTile + q];
      for (std::int64_t i = 0; i < kTile; ++i) to[i] -= factor * x[p * kTile + i];
    }
    const double pivot = l[q * kTile + q];
    for (std::int64_t i = 0; i < kTile; ++i) to[i] /= pivot;
  }
}

bool NormalEquations::factorize(std::span<const double> added) {
  LINNET_ASSERT(added.size() == unknowns_);
  for (std::int64_t column = 0; column < side_; ++column) {
    if (!factorize_diagonal(column, added)) return false;
    const std::int64_t below = side_ - column - 1;
    if (side_ < kFewTiles) {
      for (std::int64_t i = 0; i < below; ++i) factorize_below(column + 1 + i, column);
    } else {
      for_each(below, [&](std::int64_t i) { factorize_below(column + 1 + i, column); });
    }
  }
  return true;
}

void NormalEquations::solve(std::span<double> x) const {
  LINNET_ASSERT(x.size() == unknowns_);
  const auto count = static_cast<std::int64_t>(unknowns_);
  const auto for_tile = [&](std::int64_t row, std::int64_t column, const auto& f) {
    const double* const l = factor_.data() + place(row, column);
    const std::int64_t columns = std::min(kTile, count - column * kTile);
    const std::int64_t rows = std::min(kTile, count - row * kTile);
    if (rows > 0) f(l, x.data() + row * kTile, rows, x.data() + column * kTile, columns);
  };
  for (std::int64_t i = 0; i < side_; ++i) {  // L y = x
    for (std::int64_t j = 0; j < i; ++j) {
      for_tile(i, j,
               [](const double* l, double* to, std::int64_t rows, const double* from,
                  std::int64_t columns) {
                 for (std::int64_t c = 0; c < columns; ++c) {
                   for (std::int64_t r = 0; r < rows; ++r) to[r] -= l[c * kTile + r] * from[c];
                 }
               });
    }
    for_tile(i, i, [](const double* l, double* to, std::int64_t rows, double*, std::int64_t) {
      for (std::int64_t c = 0; c < rows; ++c) {
        to[c] /= l[c * kTile + c];
        for (std::int64_t r = c + 1; r < rows; ++r) to[r] -= l[c * kTile + r] * to[c];
      }
    });
  }
  for (std::int64_t i = side_; i-- > 0;) {  // L^T x = y
    for (std::int64_t j = i + 1; j < side_; ++j) {
      for_tile(j, i,
               [](const double* l, const double* from, std::int64_t rows, double* to,
                  std::int64_t columns) {
                 for (std::int64_t c = 0; c < columns; ++c) {
                   for (std::int64_t r = 0; r < rows; ++r) to[c] -= l[c * kTile + r] * from[r];
                 }
               });
    }
    for_tile(i, i, [](const double* l, double* to, std::int64_t rows, double*, std::int64_t) {
      for (std::int64_t c = rows; c-- > 0;) {
        for (std::int64_t r = c + 1; r < rows; ++r) to[c] -= l[c * kTile + r] * to[r];
        to[c] /= l[c * kTile + c];
      }
    });
  }
}

}  // namespace linnet
