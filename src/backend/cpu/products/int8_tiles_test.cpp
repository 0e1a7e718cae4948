// SPDX-License-Identifier: Apache-2.0
#include "backend/cpu/products/int8_tiles.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>

namespace linnet::cpu {
namespace {

/// A product with all that may follow it.
struct Case {
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::int64_t segments = 1;
  std::int64_t length = 0;
};

class Product {
 public:
  explicit Product(const Case& of) : c_(of), groups_(of.segments * int8_groups(of.length)) {
    const auto whole = [&](int low, int high) {
      return std::uniform_int_distribution<int>(low, high)(random_);
    };
    const std::int64_t pitch = of.length + 5;
    image_.resize(static_cast<std::size_t>((of.rows + of.segments) * pitch));
    for (std::uint8_t& x : image_)
      x = static_cast<std::uint8_t>(whole(0, 9) > 7 ? 255 : whole(0, 255));
    for (std::int64_t r = 0; r < of.rows; ++r) addresses_.push_back(image_.data() + r * pitch);
    rows_ = {addresses_.data(), of.segments, of.length, pitch};
    weights_.resize(static_cast<std::size_t>(of.columns * of.segments * of.length));
    for (std::int8_t& w : weights_)
      w = static_cast<std::int8_t>(whole(0, 9) > 6 ? 127 : whole(-127, 127));
    panels_.resize(int8_panel_bytes(groups_, of.columns));
    for (std::int64_t o = 0; o < of.columns; ++o) {
      for (std::int64_t s = 0; s < of.segments; ++s) {
        for (std::int64_t g = 0; g < int8_groups(of.length); ++g) {
          pack_int8(weights_.data() + (o * of.segments + s) * of.length + 4 * g,
                    std::min<std::int64_t>(of.length - 4 * g, 4), s * int8_groups(of.length) + g, o,
                    groups_, of.columns, panels_.data());
        }
      }
      start_.push_back(whole(-1000, 1000));
      factor_.push_back(1e-4F * static_cast<float>(whole(-99, 99)));
      bias_.push_back(0.1F * static_cast<float>(whole(-99, 99)));
    }
    for (std::int64_t i = 0; i < of.rows * of.columns; ++i) {
      residual_.push_back(0.01F * static_cast<float>(whole(-999, 999)));
      levels_.push_back(static_cast<std::uint8_t>(whole(0, 255)));
    }
  }

  /// Returns the sum of a row and a column, by its definition.
  std::int32_t sum(std::int64_t row, std::int64_t column) const {
    std::int32_t sum = start_[static_cast<std::size_t>(column)];
    for (std::int64_t s = 0; s < c_.segments; ++s) {
      for (std::int64_t i = 0; i < c_.length; ++i) {
        sum += addresses_[static_cast<std::size_t>(row)][s * rows_.stride + i] *
               weights_[static_cast<std::size_t>((column * c_.segments + s) * c_.length + i)];
      }
    }
    return sum;
  }
  Int8Tail tail() const {
    return {.start = start_.data(),
            .factor = factor_.data(),
            .bias = bias_.data(),
            .scale = {.scale = 0.07F, .zero = 31},
            .stride = c_.columns};
  }
  std::vector<float> values(Int8Unit unit, Int8Tail tail) const {
    std::vector<float> y(static_cast<std::size_t>(c_.rows * c_.columns),
                         std::numeric_limits<float>::quiet_NaN());
    tail.y = y.data();
    int8_product(unit, rows_, c_.rows, panels_.data(), c_.columns, tail);
    return y;
  }
  std::vector<std::uint8_t> levels(Int8Unit unit, Int8Tail tail) const {
    std::vector<std::uint8_t> y(static_cast<std::size_t>(c_.rows * c_.columns));
    tail.levels = y.data();
    int8_product(unit, rows_, c_.rows, panels_.data(), c_.columns, tail);
    return y;
  }
  const Case& shape() const { return c_; }
  const std::vector<float>& residual() const { return residual_; }
  const std::vector<std::uint8_t>& residual_levels() const { return levels_; }
  float factor(std::int64_t column) const { return factor_[static_cast<std::size_t>(column)]; }
  float bias(std::int64_t column) const { return bias_[static_cast<std::size_t>(column)]; }

 private:
  Case c_;
  std::int64_t groups_;
  std::mt19937 random_{7};
  std::vector<std::uint8_t> image_;
  std::vector<const std::uint8_t*> addresses_;
  Int8Rows rows_;
  std::vector<std::int8_t> weights_;
  std::vector<std::int8_t> panels_;
  std::vector<std::int32_t> start_;
  std::vector<float> factor_;
  std::vector<float> bias_;
  std::vector<float> residual_;
  std::vector<std::uint8_t> levels_;
};

const std::vector<Case>& cases() {
  static const std::vector<Case> all{{1, 1, 1, 1},    {13, 16, 1, 4},   {12, 32, 3, 9},
                                     {25, 33, 3, 12}, {7, 48, 2, 70},   {5, 49, 1, 1023},
                                     {30, 95, 5, 3},  {24, 64, 3, 192}, {3, 10, 1, 2500}};
  return all;
}

TEST(Int8Tiles, EveryUnitSumsExactly) {
  for (const Case& c : cases()) {
    const Product product(c);
    for (const Int8Unit unit : int8_units()) {
      const std::vector<float> y = product.values(unit, product.tail());
      for (std::int64_t i = 0; i < c.rows * c.columns; ++i) {
        const std::int64_t column = i % c.columns;
        const float scaled =
            static_cast<float>(product.sum(i / c.columns, column)) * product.factor(column);
        ASSERT_EQ(y[static_cast<std::size_t>(i)], scaled + product.bias(column))
            << to_string(unit) << ", " << c.rows << " rows, " << c.columns << " columns, " << i;
      }
    }
  }
}

TEST(Int8Tiles, EveryUnitFinishesToTheSameBits) {
  for (const Case& c : cases()) {
    const Product product(c);
    for (const bool relu : {false, true}) {
      for (const int residual : {0, 1, 2}) {
        Int8Tail tail = product.tail();
        tail.relu = relu;
        if (residual == 1) tail.residual = product.residual().data();
        if (residual == 2) {
          tail.residual_levels = product.residual_levels().data();
          tail.residual_scale = {.scale = 0.03F, .zero = 100};
        }
        const auto values = product.values(Int8Unit::plain, tail);
        const auto levels = product.levels(Int8Unit::plain, tail);
        for (std::size_t i = 0; i < values.size(); ++i) {
          std::uint8_t level = 0;
          to_levels(&values[i], 1, tail.scale, &level);
          ASSERT_EQ(levels[i], level);
        }
        for (const Int8Unit unit : int8_units()) {
          EXPECT_EQ(product.values(unit, tail), values) << to_string(unit);
          EXPECT_EQ(product.levels(unit, tail), levels) << to_string(unit);
        }
      }
    }
  }
}

TEST(Int8Tiles, LevelsAreTheNearest) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const std::vector<float> x{0,         0.25F,      0.75F,
                             1,         -0.5F,      -20,
                             1000,      1e30F,      -1e30F,
                             kInfinity, -kInfinity, std::numeric_limits<float>::quiet_NaN()};
  std::vector<std::uint8_t> levels(x.size());
  to_levels(x.data(), static_cast<std::int64_t>(x.size()), {.scale = 0.5F, .zero = 10},
            levels.data());
  EXPECT_EQ(levels, (std::vector<std::uint8_t>{10, 10, 12, 12, 9, 0, 255, 255, 0, 255, 0, 0}));
}

}  // namespace
}  // namespace linnet::cpu
