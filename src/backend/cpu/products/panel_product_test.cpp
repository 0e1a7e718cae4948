// SPDX-License-Identifier: Apache-2.0
#include "backend/cpu/products/panel_product.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "backend/cpu/products/dot_product.h"
#include "backend/cpu/products/row_product.h"

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

struct Segments {
  std::int64_t rows, segments, length;
};

TEST_P(PanelProduct, SumsRowsOfSegments) {
  const std::int64_t columns = GetParam();
  for (const auto& [row_count, segments, length] : std::vector<Segments>{
           {17, 1, 1}, {1, 3, 7}, {7, 3, 7}, {13, 3, 7}, {25, 3, 7}, {33, 1, 900}, {17, 4, 130}}) {
    const std::int64_t stride = length + 5;
    const std::int64_t terms = segments * length;
    const Data a = numbers(static_cast<std::size_t>(segments * stride + row_count * 3), 1);
    const Data b = numbers(static_cast<std::size_t>(terms * columns), 2);
    const Data start = numbers(static_cast<std::size_t>(columns), 3);
    const Data residual = numbers(static_cast<std::size_t>(row_count * (columns + 1)), 4);
    Data panels(panel_floats(terms, columns), -1.0F);
    pack_panels({b.data(), columns, 1}, 0, terms / 2, terms, columns, panels.data());
    pack_panels({b.data() + terms / 2 * columns, columns, 1}, terms / 2, terms, terms, columns,
                panels.data());
    Data c(static_cast<std::size_t>(row_count * (columns + 1)), kGuard);
    std::vector<const float*> rows;
    std::vector<float*> places;
    for (std::int64_t i = 0; i < row_count; ++i) {
      rows.push_back(a.data() + 3 * i);
      places.push_back(c.data() + i * (columns + 1));
    }
    const SegmentedRows left{rows.data(), segments, length, stride};
    panel_product(left, row_count, panels.data(), columns, start.data(), places.data(),
                  {.distant = true});
    Data finished(c.size(), kGuard);
    std::vector<float*> finished_places;
    for (const float* place : places) {
      finished_places.push_back(finished.data() + (place - c.data()));
    }
    panel_product(left, row_count, panels.data(), columns, start.data(), finished_places.data(),
                  {.residual = residual.data(), .of = finished.data(), .relu = true});
    for (std::int64_t i = 0; i < row_count; ++i) {
      for (std::int64_t j = 0; j < columns; ++j) {
        float sum = start[static_cast<std::size_t>(j)];
        for (std::int64_t t = 0; t < terms; ++t) {
          sum += rows[static_cast<std::size_t>(i)][t / length * stride + t % length] *
                 b[static_cast<std::size_t>(t * columns + j)];
        }
        const auto at = static_cast<std::size_t>(i * (columns + 1) + j);
        ASSERT_EQ(c[at], sum) << i << ", " << j << " of " << terms;
        ASSERT_EQ(finished[at], std::max(sum + residual[at], 0.0F)) << i << ", " << j;
      }
      ASSERT_EQ(places[static_cast<std::size_t>(i)][columns], kGuard) << i;
      ASSERT_EQ(finished_places[static_cast<std::size_t>(i)][columns], kGuard) << i;
    }
  }
}

TEST(DotProduct, SumsRowsOfSegments) {
  for (const std::int64_t columns : {1, 2, 3, 4}) {
    for (const auto& [row_count, segments, length] :
         std::vector<Segments>{{17, 1, 1}, {1, 3, 7}, {13, 3, 16}, {25, 3, 33}, {9, 2, 96}}) {
      const std::int64_t stride = length + 5;
      const std::int64_t terms = segments * length;
      // Nothing may be read after the last row.
      const Data a =
          numbers(static_cast<std::size_t>((segments - 1) * stride + length + row_count - 1), 1);
      const Data b = numbers(static_cast<std::size_t>(terms * columns), 2);
      const Data start = numbers(static_cast<std::size_t>(columns), 3);
      Data packed(dot_floats(segments, length, columns), kGuard);
      const std::int64_t half = terms / 2;
      pack_dots({b.data(), columns, 1}, 0, half, length, columns, packed.data());
      pack_dots({b.data() + half * columns, columns, 1}, half, terms, length, columns,
                packed.data());
      Data c(static_cast<std::size_t>(row_count * (columns + 1)), kGuard);
      std::vector<const float*> rows;
      std::vector<float*> places;
      for (std::int64_t i = 0; i < row_count; ++i) {
        rows.push_back(a.data() + i);
        places.push_back(c.data() + i * (columns + 1));
      }
      dot_product({rows.data(), segments, length, stride}, row_count, packed.data(), columns,
                  start.data(), places.data());
      for (std::int64_t i = 0; i < row_count; ++i) {
        for (std::int64_t j = 0; j < columns; ++j) {
          float sum = start[static_cast<std::size_t>(j)];
          for (std::int64_t t = 0; t < terms; ++t) {
            sum += rows[static_cast<std::size_t>(i)][t / length * stride + t % length] *
                   b[static_cast<std::size_t>(t * columns + j)];
          }
          ASSERT_EQ(places[static_cast<std::size_t>(i)][j], sum) << i << ", " << j;
        }
        ASSERT_EQ(places[static_cast<std::size_t>(i)][columns], kGuard) << i;
      }
    }
  }
}

TEST(StreamedProduct, HasTheBitsOfAStoredOne) {
  constexpr std::int64_t kRows = 29;
  for (const std::int64_t columns : {16, 48, 80, 256}) {
    for (const std::int64_t terms : {7, 1100}) {
      const auto results = static_cast<std::size_t>(kRows * columns);
      const Data a = numbers(static_cast<std::size_t>(kRows * terms), 1);
      const Data b = numbers(static_cast<std::size_t>(terms * columns), 2);
      const Data residual = numbers(results, 3);
      Data panels(panel_floats(terms, columns));
      pack_panels({b.data(), columns, 1}, 0, terms, terms, columns, panels.data());
      std::vector<const float*> rows;
      for (std::int64_t i = 0; i < kRows; ++i) rows.push_back(a.data() + i * terms);
      const auto product = [&](bool streams) {
        constexpr std::size_t kLine = 16;  // floats
        Data memory(results + 2 * kLine, kGuard);
        const auto address = reinterpret_cast<std::uintptr_t>(memory.data()) / sizeof(float);
        float* c = memory.data() + (kLine - address % kLine);
        std::vector<float*> places;
        for (std::int64_t i = 0; i < kRows; ++i) places.push_back(c + i * columns);
        panel_product({rows.data(), 1, terms, 0}, kRows, panels.data(), columns, nullptr,
                      places.data(),
                      {.residual = residual.data(), .of = c, .relu = true, .streams = streams});
        EXPECT_EQ(c[results], kGuard);
        return Data(c, c + results);
      };
      EXPECT_EQ(product(true), product(false)) << terms << " terms, " << columns << " columns";
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
  for (const std::int64_t rows : {1, 4, 8, 15}) {
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
                             .c_stride = columns + 1,
                             .ahead = {FetchedRows{a.data(), kTerms, rows, a_stride},
                                       FetchedRows{b.data(), kTerms, columns, columns}}};
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
