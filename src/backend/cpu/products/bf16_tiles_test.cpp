// SPDX-License-Identifier: Apache-2.0
#include "backend/cpu/products/bf16_tiles.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <random>
#include <vector>

#include "backend/cpu/bf16.h"
#include "backend/cpu/products/amx_emulated.h"
#include "backend/cpu/products/amx_product.h"
#include "backend/cpu/products/amx_tiles.h"

namespace linnet::cpu {
namespace {

constexpr float kUntouched = -77.0F;
/// Of the sum of the products' magnitudes.
constexpr double kBound = 1e-6;

/// Rows of floats, each `stride` long, of which `columns` hold numbers.
struct Numbers {
  Numbers(std::int64_t rows, std::int64_t columns, unsigned seed) : columns(columns) {
    std::mt19937 random(seed);
    std::uniform_real_distribution<float> uniform(-1.0F, 1.0F);
    values.resize(static_cast<std::size_t>(rows * columns));
    for (float& x : values) x = uniform(random);
  }
  double rounded(std::int64_t row, std::int64_t column) const {
    float result = 0;
    round_to_bf16(&values[static_cast<std::size_t>(row * columns + column)], 1, &result);
    return result;
  }

  std::int64_t columns;
  std::vector<float> values;
};

/// c (rows, columns) with a column more that nothing may write.
struct Result {
  Result(std::int64_t rows, std::int64_t columns)
      : stride(columns + 1), values(static_cast<std::size_t>(rows * stride), kUntouched) {}
  float at(std::int64_t row, std::int64_t column) const {
    return values[static_cast<std::size_t>(row * stride + column)];
  }

  std::int64_t stride;
  std::vector<float> values;
};

/// `factor(t)` gives both factors of term t.
template <class F>
void expect_sum(const Result& c, std::int64_t i, std::int64_t j, std::int64_t terms, F factors,
                double start = 0) {
  double sum = start;
  double magnitude = std::abs(start);
  for (std::int64_t t = 0; t < terms; ++t) {
    const auto [a, b] = factors(t);
    sum += a * b;
    magnitude += std::abs(a * b);
  }
  ASSERT_NEAR(c.at(i, j), sum, kBound * magnitude) << i << ", " << j << " of " << terms;
}

constexpr std::int64_t kRowCounts[] = {1, 12, 25, 33};
constexpr std::int64_t kColumnCounts[] = {1, 17, 50};
constexpr std::int64_t kTermCounts[] = {1, 2, 33, 64, 385};
constexpr std::int64_t kManyTerms = 1100;

std::vector<std::uint16_t> halves(std::size_t bytes) {
  return std::vector<std::uint16_t>(bytes / sizeof(std::uint16_t) + 1, 0x7FC0);  // NaN
}

/// The products as kernels call them, or by AMX's definition.
struct Unit {
  void (*panel_product)(const Bf16Rows& a, std::int64_t rows, const std::uint16_t* panels,
                        std::int64_t columns, float* c, std::int64_t c_stride);
  void (*pack_tiles)(const float* a, std::int64_t a_stride, std::int64_t terms, std::int64_t rows,
                     std::uint16_t* tiles);
  void (*tile_product)(std::int64_t pairs, std::int64_t rows, std::int64_t columns,
                       const std::uint16_t* tiles, const std::uint16_t* panels, bool accumulate,
                       float* c, std::int64_t c_stride);
};

const Unit kOwn{bf16_panel_product, pack_bf16_tiles, bf16_tile_product};

const Unit kEmulatedAmx{
    [](const Bf16Rows& a, std::int64_t rows, const std::uint16_t* panels, std::int64_t columns,
       float* c, std::int64_t c_stride) {
      EmulatedAmx unit;
      amx_panel_product(unit, a, rows, panels, columns, c, c_stride);
    },
    [](const float* a, std::int64_t a_stride, std::int64_t terms, std::int64_t rows,
       std::uint16_t* tiles) {
      pack_amx_tiles(a, a_stride, terms, rows, reinterpret_cast<std::uint32_t*>(tiles));
    },
    [](std::int64_t pairs, std::int64_t rows, std::int64_t columns, const std::uint16_t* tiles,
       const std::uint16_t* panels, bool accumulate, float* c, std::int64_t c_stride) {
      EmulatedAmx unit;
      amx_tile_product(unit, pairs, rows, columns, reinterpret_cast<const std::uint32_t*>(tiles),
                       panels, accumulate, c, c_stride);
    }};

/// Both ways to pack, and rows that are two segments with a gap.
void check_panels(const Unit& unit, std::int64_t rows, std::int64_t columns, std::int64_t terms,
                  bool transposed) {
  constexpr std::int64_t kSegments = 2;
  constexpr std::int64_t kGap = 3;
  const std::int64_t stride = terms + kGap;
  const Numbers a(rows, kSegments * stride, 1);
  const Numbers b(transposed ? columns : kSegments * terms,
                  transposed ? kSegments * terms : columns, 2);
  std::vector<std::uint16_t> left(a.values.size() + 1);
  round_rows_to_bf16(a.values.data(), a.columns, rows, a.columns, left.data(), a.columns);
  std::vector<const std::uint16_t*> addresses;
  for (std::int64_t i = 0; i < rows; ++i) addresses.push_back(left.data() + i * a.columns);
  const std::int64_t pairs = kSegments * pairs_of(terms);
  std::vector<std::uint16_t> panels = halves(bf16_panel_bytes(pairs, columns));
  for (std::int64_t s = 0; s < kSegments; ++s) {
    const float* from = b.values.data() + s * terms * (transposed ? 1 : b.columns);
    const StridedMatrix part =
        transposed ? StridedMatrix{from, 1, b.columns} : StridedMatrix{from, b.columns, 1};
    pack_bf16_panels(part, terms, s * pairs_of(terms), pairs, columns, panels.data());
  }
  Result c(rows, columns);
  unit.panel_product({addresses.data(), kSegments, terms, stride}, rows, panels.data(), columns,
                     c.values.data(), c.stride);
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t j = 0; j < columns; ++j) {
      expect_sum(c, i, j, kSegments * terms, [&](std::int64_t t) {
        const std::int64_t place = t / terms * stride + t % terms;
        return std::pair(a.rounded(i, place), transposed ? b.rounded(j, t) : b.rounded(t, j));
      });
    }
    EXPECT_EQ(c.at(i, columns), kUntouched);
  }
}

void check_panels(const Unit& unit) {
  for (const std::int64_t rows : kRowCounts) {
    for (const std::int64_t columns : kColumnCounts) {
      for (const std::int64_t terms : kTermCounts) {
        check_panels(unit, rows, columns, terms, true);
        check_panels(unit, rows, columns, terms, false);
      }
    }
  }
  check_panels(unit, 3, 18, kManyTerms, true);
}

TEST(Bf16Tiles, PanelsGiveSumsOfRoundedProducts) {
  if (!has_bf16_tiles()) GTEST_SKIP() << "no AVX512_BF16 here";
  check_panels(kOwn);
}

TEST(AmxTiles, PanelsGiveSumsOfRoundedProducts) {
  if (!has_bf16_tiles()) GTEST_SKIP() << "no AVX512_BF16 here, which packs";
  check_panels(kEmulatedAmx);
}

void check_tiles(const Unit& unit, std::int64_t rows, std::int64_t columns, std::int64_t terms,
                 bool accumulate) {
  const Numbers a(terms, rows, 3);
  const Numbers b(terms, columns, 4);
  const std::int64_t pairs = pairs_of(terms);
  std::vector<std::uint16_t> tiles = halves(bf16_tile_bytes(pairs, rows));
  std::vector<std::uint16_t> panels = halves(bf16_panel_bytes(pairs, columns));
  unit.pack_tiles(a.values.data(), rows, terms, rows, tiles.data());
  std::vector<std::uint16_t> right(b.values.size());
  round_rows_to_bf16(b.values.data(), columns, terms, columns, right.data(), columns);
  std::vector<const std::uint16_t*> addresses;
  for (std::int64_t t = 0; t < terms; ++t) addresses.push_back(right.data() + t * columns);
  pack_bf16_row_panels(addresses.data(), 0, terms, columns, panels.data());
  Result c(rows, columns);
  unit.tile_product(pairs, rows, columns, tiles.data(), panels.data(), accumulate, c.values.data(),
                    c.stride);
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t j = 0; j < columns; ++j) {
      expect_sum(
          c, i, j, terms,
          [&](std::int64_t t) { return std::pair(a.rounded(t, i), b.rounded(t, j)); },
          accumulate ? kUntouched : 0);
    }
    EXPECT_EQ(c.at(i, columns), kUntouched);
  }
}

void check_tiles(const Unit& unit) {
  for (const std::int64_t rows : kRowCounts) {
    for (const std::int64_t columns : kColumnCounts) {
      for (const std::int64_t terms : kTermCounts) {
        check_tiles(unit, rows, columns, terms, false);
        check_tiles(unit, rows, columns, terms, true);
      }
    }
  }
  check_tiles(unit, 3, 18, kManyTerms, true);
}

TEST(Bf16Tiles, TilesGiveSumsOverRows) {
  if (!has_bf16_tiles()) GTEST_SKIP() << "no AVX512_BF16 here";
  check_tiles(kOwn);
}

TEST(AmxTiles, TilesGiveSumsOverRows) {
  if (!has_bf16_tiles()) GTEST_SKIP() << "no AVX512_BF16 here, which packs";
  check_tiles(kEmulatedAmx);
}

/// 32 rows of `pairs` pairs and one panel of 32 columns, of which the processor's instruction, or
/// its definition, makes one tile after the other.
struct AmxProblem {
  explicit AmxProblem(std::int64_t pairs) : pairs(pairs), numbers(2, 32 * 2 * pairs, 7) {
    halves.resize(numbers.values.size());
    round_to_bf16(numbers.values.data(), std::ssize(numbers.values), halves.data());
    for (std::int64_t i = 0; i < 32; ++i) rows.push_back(&halves[2 * pairs * i]);
  }
  Bf16Rows left() const { return {rows.data(), 1, 2 * pairs, 0}; }
  const std::uint16_t* panel() const { return &halves[32 * 2 * pairs]; }
  float a(std::int64_t i, std::int64_t term) const {
    return std::bit_cast<float>(std::uint32_t{rows[i][term]} << 16U);
  }
  float b(std::int64_t term, std::int64_t j) const {
    return std::bit_cast<float>(std::uint32_t{panel()[2 * (term / 2 * 32 + j) + term % 2]} << 16U);
  }

  std::int64_t pairs;
  Numbers numbers;
  std::vector<std::uint16_t> halves;
  std::vector<const std::uint16_t*> rows;
};

/// Even and odd terms are summed apart over 16 pairs, then added to each other, then to c.
TEST(AmxTiles, AnElementIsWhatTheDefinitionSaysToTheBit) {
  const AmxProblem problem(40);
  Result c(32, 32);
  EmulatedAmx unit;
  amx_panel_product(unit, problem.left(), 32, problem.panel(), 32, c.values.data(), c.stride);
  for (std::int64_t i = 0; i < 32; ++i) {
    for (std::int64_t j = 0; j < 32; ++j) {
      float sum = 0;
      for (std::int64_t begin = 0; begin < problem.pairs; begin += 16) {
        float of[2] = {};
        for (std::int64_t t = 2 * begin; t < 2 * std::min(begin + 16, problem.pairs); ++t) {
          of[t % 2] = std::fma(problem.a(i, t), problem.b(t, j), of[t % 2]);
        }
        sum += of[0] + of[1];
      }
      ASSERT_EQ(c.at(i, j), sum) << i << ", " << j;
    }
  }
}

/// As AMX's products end, which leave their sums in memory.
TEST(Bf16Tiles, SumsInMemoryAreFinishedAsThoseInRegisters) {
  if (!has_bf16_tiles()) GTEST_SKIP() << "no AVX512_BF16 here";
  const AmxProblem problem(40);
  const std::vector<std::uint16_t>& residual = problem.halves;
  std::vector<float> line(32, 0.5F);
  std::vector<std::vector<std::uint16_t>> results;
  for (const auto then :
       {Bf16Result::Then::nothing, Bf16Result::Then::relu, Bf16Result::Then::tanh}) {
    std::vector<std::uint16_t> expected(32 * 32);
    std::vector<std::uint16_t> found(32 * 32);
    const auto result = [&](std::vector<std::uint16_t>& y) {
      return Bf16Result{y.data(), 32, line.data(), line.data(), residual.data(), then};
    };
    std::vector<float> sums(32 * 32);
    bf16_panel_product(problem.left(), 32, problem.panel(), 32, sums.data(), result(expected));
    bf16_panel_product(problem.left(), 32, problem.panel(), 32, sums.data(), 32);
    finish_sums(sums.data(), 32, 32, result(found));
    EXPECT_EQ(found, expected);
    for (const auto& other : results) EXPECT_NE(found, other);
    results.push_back(found);
  }
}

TEST(Bf16Tiles, TanhOfSumsIsOffByLittleBeforeItIsRounded) {
  if (!has_bf16_tiles()) GTEST_SKIP() << "no AVX512_BF16 here";
  std::vector<float> sums;
  for (int i = -6000; i < 6000; ++i) sums.push_back(static_cast<float>(i) / 1000);
  for (const float x : {INFINITY, -INFINITY, NAN, 1e-30F, -1e-30F, 0.0F, 3e38F}) sums.push_back(x);
  const std::ptrdiff_t columns = std::ssize(sums);
  std::vector<std::uint16_t> y(sums.size());
  finish_sums(sums.data(), 1, columns,
              {.y = y.data(), .stride = columns, .then = Bf16Result::Then::tanh});
  constexpr double kOff = 7e-5;
  for (std::size_t i = 0; i < sums.size(); ++i) {
    const auto found = static_cast<double>(std::bit_cast<float>(std::uint32_t{y[i]} << 16U));
    const double exact = std::tanh(static_cast<double>(sums[i]));
    if (std::isnan(exact)) {
      EXPECT_TRUE(std::isnan(found));
    } else {
      const double half_unit = std::ldexp(0.5, std::max(std::ilogb(exact), -200) - 7);
      EXPECT_NEAR(found, exact, half_unit + kOff * std::abs(exact)) << sums[i];
    }
  }
}

TEST(AmxTiles, TheProcessorComputesWhatItsDefinitionSays) {
  if (!has_amx_tiles()) GTEST_SKIP() << "no AMX here: its instructions are not run";
  const AmxProblem problem(kManyTerms);
  Result defined(32, 32);
  EmulatedAmx unit;
  amx_panel_product(unit, problem.left(), 32, problem.panel(), 32, defined.values.data(),
                    defined.stride);
  Result own(32, 32);
  amx_panel_product(problem.left(), 32, problem.panel(), 32, own.values.data(), own.stride);
  EXPECT_EQ(own.values, defined.values);
}

/// An element's bits don't depend on how many rows and columns are computed with it.
TEST(Bf16Tiles, BlocksChangeNoBits) {
  if (!has_bf16_tiles()) GTEST_SKIP() << "no AVX512_BF16 here";
  constexpr std::int64_t kRows = 25;
  constexpr std::int64_t kColumns = 50;
  constexpr std::int64_t kTerms = 801;
  const Numbers a(kRows, kTerms + 1, 5);
  const Numbers b(kTerms, kColumns, 6);
  std::vector<std::uint16_t> left(a.values.size());
  round_rows_to_bf16(a.values.data(), a.columns, kRows, a.columns, left.data(), a.columns);
  const auto product = [&](std::int64_t first, std::int64_t rows, std::int64_t columns) {
    std::vector<const std::uint16_t*> addresses;
    for (std::int64_t i = 0; i < rows; ++i) addresses.push_back(&left[(first + i) * a.columns]);
    std::vector<std::uint16_t> panels = halves(bf16_panel_bytes(pairs_of(kTerms), columns));
    pack_bf16_panels({b.values.data(), kColumns, 1}, kTerms, 0, pairs_of(kTerms), columns,
                     panels.data());
    Result c(rows, columns);
    bf16_panel_product({addresses.data(), 1, kTerms, 0}, rows, panels.data(), columns,
                       c.values.data(), c.stride);
    return c;
  };
  const Result whole = product(0, kRows, kColumns);
  for (std::int64_t i = 0; i < kRows; ++i) {
    const Result one = product(i, 1, 3);
    for (std::int64_t j = 0; j < 3; ++j) EXPECT_EQ(one.at(0, j), whole.at(i, j)) << i << ", " << j;
  }
}

}  // namespace
}  // namespace linnet::cpu
