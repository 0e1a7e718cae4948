// SPDX-License-Identifier: Apache-2.0
#include "backend/cpu/panel_product.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "backend/cpu/row_product.h"

namespace linnet::cpu {
namespace {

using Data = std::vector<float>;

Data numbers(std::size_t count, std::uint32_t seed) {
  std::minstd_rand random(seed);
  Data data(count);
  for (float& x : data) x = static_cast<float>(random() % 257) / 16.0F - 8.0F;  // sums are exact
  return data;
}

/// Guards after every row must stay as they are.
constexpr float kGuard = 1234.5F;

class PanelProduct : public ::testing::TestWithParam<std::int64_t> {};  // columns

TEST_P(PanelProduct, SumsRowsOfSegments) {
  const std::int64_t columns = GetParam();
  for (const auto& [segments, length] :
       std::vector<std::pair<std::int64_t, std::int64_t>>{{1, 1}, {3, 7}, {1, 900}, {4, 130}}) {
    constexpr std::int64_t kRows = 17;
    const std::int64_t stride = length + 5;
    const std::int64_t terms = segments * length;
    const Data a = numbers(static_cast<std::size_t>(segments * stride + kRows * 3), 1);
    const Data b = numbers(static_cast<std::size_t>(terms * columns), 2);
    const Data start = numbers(static_cast<std::size_t>(columns), 3);
    Data panels(panel_floats(terms, columns), -1.0F);
    pack_panels({b.data(), columns, 1}, 0, terms / 2, terms, columns, panels.data());
    pack_panels({b.data() + terms / 2 * columns, columns, 1}, terms / 2, terms, terms, columns,
                panels.data());
    Data c(static_cast<std::size_t>(kRows * (columns + 1)), kGuard);
    std::vector<const float*> rows;
    std::vector<float*> places;
    for (std::int64_t i = 0; i < kRows; ++i) {
      rows.push_back(a.data() + 3 * i);
      places.push_back(c.data() + i * (columns + 1));
    }
    panel_product({rows.data(), segments, length, stride}, kRows, panels.data(), columns,
                  start.data(), places.data());
    for (std::int64_t i = 0; i < kRows; ++i) {
      for (std::int64_t j = 0; j < columns; ++j) {
        float sum = start[static_cast<std::size_t>(j)];
        for (std::int64_t t = 0; t < terms; ++t) {
          sum += rows[static_cast<std::size_t>(i)][t / length * stride + t % length] *
                 b[static_cast<std::size_t>(t * columns + j)];
        }
        ASSERT_EQ(places[static_cast<std::size_t>(i)][j], sum) << i << ", " << j << " of " << terms;
      }
      ASSERT_EQ(places[static_cast<std::size_t>(i)][columns], kGuard) << i;
    }
  }
}

TEST_P(PanelProduct, SumsTilesOverTerms) {
  const std::int64_t columns = GetParam();
  for (const std::int64_t rows : {1, 6, 12, 29}) {
    constexpr std::int64_t kTerms = 40;
    const Data a = numbers(static_cast<std::size_t>(kTerms * rows), 4);
    const Data b = numbers(static_cast<std::size_t>(kTerms * columns), 5);
    std::vector<const float*> left;
    std::vector<const float*> right;
    for (std::int64_t t = 0; t < kTerms; ++t) {
      left.push_back(a.data() + t * rows);
      right.push_back(b.data() + t * columns - 2);
    }
    Data tiles(tile_floats(kTerms, rows));
    Data panels(panel_floats(kTerms, columns));
    pack_tiles(left.data(), kTerms, rows, tiles.data());
    pack_row_panels(right.data(), 2, kTerms, columns, panels.data());
    Data c(static_cast<std::size_t>(rows * (columns + 1)), kGuard);
    const TileShape shape{kTerms, rows, columns};
    tile_product(shape, tiles.data(), panels.data(), false, c.data(), columns + 1);
    tile_product(shape, tiles.data(), panels.data(), true, c.data(), columns + 1);
    for (std::int64_t i = 0; i < rows; ++i) {
      for (std::int64_t j = 0; j < columns; ++j) {
        float sum = 0;
        for (std::int64_t t = 0; t < kTerms; ++t) {
          sum += 2 * a[static_cast<std::size_t>(t * rows + i)] *
                 b[static_cast<std::size_t>(t * columns + j)];
        }
        ASSERT_EQ(c[static_cast<std::size_t>(i * (columns + 1) + j)], sum) << i << ", " << j;
      }
      ASSERT_EQ(c[static_cast<std::size_t>(i * (columns + 1) + columns)], kGuard) << i;
    }
  }
}

TEST_P(PanelProduct, SumsRowsInPlace) {
  const std::int64_t columns = GetParam();
  for (const std::int64_t rows : {1, 4, 8, 11}) {
    constexpr std::int64_t kTerms = 19;
    const std::int64_t a_stride = rows + 3;
    const Data a = numbers(static_cast<std::size_t>(kTerms * a_stride), 6);
    const Data b = numbers(static_cast<std::size_t>(kTerms * columns), 7);
    std::vector<const float*> right;
    for (std::int64_t t = 0; t < kTerms; ++t) right.push_back(b.data() + t * columns - 5);
    Data c(static_cast<std::size_t>(rows * (columns + 1)), kGuard);
    const RowProduct product{.terms = kTerms,
                             .rows = rows,
                             .columns = columns,
                             .a = a.data(),
                             .a_stride = a_stride,
                             .b = right.data(),
                             .b_offset = 5,
                             .c = c.data(),
                             .c_stride = columns + 1};
    row_product(product, false);
    row_product(product, true);
    for (std::int64_t i = 0; i < rows; ++i) {
      for (std::int64_t j = 0; j < columns; ++j) {
        float sum = 0;
        for (std::int64_t t = 0; t < kTerms; ++t) {
          sum += 2 * a[static_cast<std::size_t>(t * a_stride + i)] *
                 b[static_cast<std::size_t>(t * columns + j)];
        }
        ASSERT_EQ(c[static_cast<std::size_t>(i * (columns + 1) + j)], sum) << i << ", " << j;
      }
      ASSERT_EQ(c[static_cast<std::size_t>(i * (columns + 1) + columns)], kGuard) << i;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Columns, PanelProduct,
                         ::testing::Values(1, 3, 8, 16, 17, 24, 31, 50, 64, 100));

}  // namespace
}  // namespace linnet::cpu
