// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <linnet/error.h>
#include <linnet/tensor.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>

#include "core/half.h"
#include "message_of.h"

namespace linnet {
namespace {

using testing::message_of;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

/// Returns what a number of `digits` bits of fraction and exponents from `least` on stands for, by
/// its definition in IEEE 754.
double value_of(std::uint16_t bits, int digits, int least) {
  const int exponent = (bits & 0x7FFF) >> digits;
  const int fraction = bits & ((1 << digits) - 1);
  const double sign = bits >> 15 != 0 ? -1 : 1;
  if (exponent == (1 << (15 - digits)) - 1) return fraction != 0 ? kNan : sign * kInfinity;
  if (exponent == 0) return sign * std::ldexp(fraction, least - digits);
  return sign * std::ldexp(fraction + (1 << digits), exponent - 1 + least - digits);
}
double value_of_f16(std::uint16_t bits) { return value_of(bits, 10, -14); }
double value_of_bf16(std::uint16_t bits) { return value_of(bits, 7, -126); }

/// The bits of one number in another type.
template <class T>
std::uint16_t bits_of(T x, DType dtype) {
  const Tensor converted = Tensor(std::vector<T>{x}, {}).to(dtype);
  std::uint16_t bits = 0;
  std::memcpy(&bits, converted.bytes().data(), sizeof(bits));
  return bits;
}

struct Half {
  DType dtype;
  double (*value)(std::uint16_t);
  std::uint16_t infinity;
};

class Halves : public ::testing::TestWithParam<Half> {};

TEST_P(Halves, EveryOneIsReadExactly) {
  std::vector<std::uint16_t> all(1 << 16);
  std::iota(all.begin(), all.end(), std::uint16_t{0});
  const Tensor tensor = Tensor::borrow(GetParam().dtype, {1 << 16}, std::as_bytes(std::span(all)));
  const Tensor floats = tensor.to(DType::f32);
  for (std::size_t i = 0; i < all.size(); ++i) {
    const double wanted = GetParam().value(all[i]);
    const double got = floats.as<float>()[i];
    if (std::isnan(wanted)) {
      ASSERT_TRUE(std::isnan(got)) << i;
    } else {
      ASSERT_EQ(got, wanted) << i;
      ASSERT_EQ(std::signbit(got), std::signbit(wanted)) << i;
    }
  }
  const Tensor again = floats.to(GetParam().dtype);
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (std::isnan(GetParam().value(all[i]))) continue;
    std::uint16_t bits = 0;
    std::memcpy(&bits, again.bytes().data() + 2 * i, sizeof(bits));
    ASSERT_EQ(bits, all[i]);
  }
}

// Between all neighbours: the middle goes to the even one, what is beside it to the nearer one.
TEST_P(Halves, RoundToNearestAndOfTwoTheEvenOne) {
  std::vector<double> numbers;
  std::vector<std::uint16_t> wanted;
  for (std::uint16_t low = 0; low + 1 < GetParam().infinity; ++low) {
    const auto high = static_cast<std::uint16_t>(low + 1);
    const double middle = (GetParam().value(low) + GetParam().value(high)) / 2;
    for (const double x : {std::nextafter(middle, 0), middle, std::nextafter(middle, kInfinity)}) {
      numbers.push_back(x);
      wanted.push_back(x < middle ? low : x > middle ? high : low % 2 == 0 ? low : high);
    }
  }
  const Tensor doubles(numbers);
  for (const bool floats : {false, true}) {
    // A float holds the middles, but not what is next to them; a double is rounded once all the
    // same.
    const Tensor converted = (floats ? doubles.to(DType::f32) : doubles).to(GetParam().dtype);
    for (std::size_t i = floats ? 1 : 0; i < numbers.size(); i += floats ? 3 : 1) {
      std::uint16_t bits = 0;
      std::memcpy(&bits, converted.bytes().data() + 2 * i, sizeof(bits));
      ASSERT_EQ(bits, wanted[i]) << numbers[i] << (floats ? " as a float" : "");
    }
  }
}

TEST_P(Halves, WhatIsTooLargeIsInfinite) {
  const DType dtype = GetParam().dtype;
  const std::uint16_t infinity = GetParam().infinity;
  const double largest = GetParam().value(static_cast<std::uint16_t>(infinity - 1));
  const double beyond = 2 * largest - GetParam().value(static_cast<std::uint16_t>(infinity - 2));
  const double middle = (largest + beyond) / 2;
  EXPECT_EQ(bits_of(std::nextafter(middle, 0), dtype), infinity - 1);
  EXPECT_EQ(bits_of(middle, dtype), infinity);
  EXPECT_EQ(bits_of(-middle, dtype), 0x8000U | infinity);
  EXPECT_EQ(bits_of(1e300, dtype), infinity);
  EXPECT_EQ(bits_of(kInfinity, dtype), infinity);
  EXPECT_EQ(bits_of(-std::numeric_limits<float>::infinity(), dtype), 0x8000U | infinity);
  EXPECT_EQ(bits_of(1e-300, dtype), 0);
  EXPECT_EQ(bits_of(-1e-300, dtype), 0x8000);
  EXPECT_TRUE(std::isnan(GetParam().value(bits_of(kNan, dtype))));
  EXPECT_TRUE(std::isnan(GetParam().value(bits_of(static_cast<float>(kNan), dtype))));
  // A NaN whose upper bits are all zero stays one.
  EXPECT_TRUE(std::isnan(GetParam().value(bits_of(std::bit_cast<float>(0x7F800001U), dtype))));
}

INSTANTIATE_TEST_SUITE_P(Of, Halves,
                         ::testing::Values(Half{DType::f16, value_of_f16, 0x7C00},
                                           Half{DType::bf16, value_of_bf16, 0x7F80}),
                         [](const auto& info) { return std::string(to_string(info.param.dtype)); });

TEST(TensorConvert, IntegersAreRoundedOnce) {
  // 257 * 2^54 + 1: above the middle of bf16's 256 and 258 by what neither float nor double keep.
  const std::int64_t above = (std::int64_t{257} << 54) + 1;
  EXPECT_EQ(value_of_bf16(bits_of(above, DType::bf16)), std::ldexp(258, 54));
  EXPECT_EQ(value_of_bf16(bits_of(above - 1, DType::bf16)), std::ldexp(256, 54));
  EXPECT_EQ(value_of_bf16(bits_of(above - 2, DType::bf16)), std::ldexp(256, 54));
  EXPECT_EQ(value_of_bf16(bits_of(-above, DType::bf16)), -std::ldexp(258, 54));
  EXPECT_EQ(value_of_bf16(bits_of(std::numeric_limits<std::int64_t>::min(), DType::bf16)), -0x1p63);
  EXPECT_EQ(value_of_bf16(bits_of(std::numeric_limits<std::int64_t>::max(), DType::bf16)), 0x1p63);
  EXPECT_EQ(bits_of(std::int32_t{65519}, DType::f16), 0x7BFF);
  EXPECT_EQ(bits_of(std::int32_t{65520}, DType::f16), 0x7C00);
  EXPECT_EQ(value_of_f16(bits_of(std::uint8_t{255}, DType::f16)), 255);
}

/// The message for one number that is converted; "" if it fits.
template <class T>
std::string refusal(T x, DType dtype) {
  try {
    static_cast<void>(Tensor(std::vector<T>{0, x}).to(dtype));
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(TensorConvert, NamesTheNumberThatAnIntegerTypeCannotHold) {
  EXPECT_EQ(refusal(std::int64_t{2147483648}, DType::i32),
            "element 1 is 2147483648, which i32 cannot hold");
  EXPECT_EQ(refusal(-2147483649.0, DType::i32), "element 1 is -2147483649, which i32 cannot hold");
  EXPECT_EQ(refusal(-1, DType::u8), "element 1 is -1, which u8 cannot hold");
  EXPECT_EQ(refusal(256.0F, DType::u8), "element 1 is 256, which u8 cannot hold");
  EXPECT_EQ(refusal(kNan, DType::i64), "element 1 is nan, which i64 cannot hold");
  EXPECT_EQ(refusal(-kInfinity, DType::i32), "element 1 is -inf, which i32 cannot hold");
  EXPECT_EQ(refusal(0x1p63, DType::i64),
            "element 1 is 9.223372036854776e+18, which i64 cannot hold");
  EXPECT_EQ(refusal(2147483648.0F, DType::i32), "element 1 is 2147483600, which i32 cannot hold");
}

TEST(TensorConvert, TakesAllThatAnIntegerTypeHolds) {
  const auto ends = [](DType dtype, auto low, auto high) {
    return Tensor(std::vector{low, high}).to(dtype);
  };
  EXPECT_EQ(to_string(ends(DType::i32, -2147483648.0, 2147483647.0)),
            "i32 (2) [-2147483648, 2147483647]");
  EXPECT_EQ(to_string(ends(DType::i64, -0x1p63, 0x1.fffffffffffffp62)),
            "i64 (2) [-9223372036854775808, 9223372036854774784]");
  EXPECT_EQ(to_string(ends(DType::u8, -0.9F, 255.9F)), "u8 (2) [0, 255]");
  EXPECT_EQ(to_string(ends(DType::i32, -1.9F, 1.9F)), "i32 (2) [-1, 1]");
  EXPECT_EQ(to_string(ends(DType::i32, -2147483648.9, 2147483647.9)),
            "i32 (2) [-2147483648, 2147483647]");
}

TEST(TensorConvert, BetweenAllTypes) {
  constexpr std::array kAll{DType::f32, DType::f64, DType::bf16, DType::u8,
                            DType::i32, DType::f16, DType::i64,  DType::boolean};
  const Tensor numbers(std::vector<float>{0, 1, 1, 0}, {2, 2});
  for (const DType from : kAll) {
    for (const DType to : kAll) {
      const Tensor converted = numbers.to(from).to(to);
      EXPECT_EQ(converted.dtype(), to);
      EXPECT_EQ(converted.shape(), (Shape{2, 2}));
      EXPECT_TRUE(same_bits(converted.to(DType::f32), numbers))
          << to_string(from) << " to " << to_string(to);
    }
  }
}

TEST(TensorConvert, TheSameTypeIsTheSameMemory) {
  const Tensor tensor(std::vector<float>{1, 2});
  EXPECT_EQ(tensor.to(DType::f32).bytes().data(), tensor.bytes().data());
}

TEST(TensorConvert, BoolIsWhetherANumberIsNotZero) {
  const Tensor numbers(std::vector<double>{0, -0.0, 1e-300, -3, kNan});
  EXPECT_EQ(to_string(numbers.to(DType::boolean)), "bool (5) [false, false, true, true, true]");
  const std::array<std::byte, 2> bytes{std::byte{2}, std::byte{0}};
  EXPECT_EQ(to_string(Tensor::borrow(DType::boolean, {2}, bytes).to(DType::i64)), "i64 (2) [1, 0]");
}

TEST(TensorConvert, DoublesRoundToFloats) {
  const Tensor floats = Tensor(std::vector<double>{0.1, 1e300, -1e-300, 16777217}).to(DType::f32);
  EXPECT_EQ(floats.as<float>()[0], 0.1F);
  EXPECT_EQ(floats.as<float>()[1], std::numeric_limits<float>::infinity());
  EXPECT_TRUE(floats.as<float>()[2] == 0 && std::signbit(floats.as<float>()[2]));
  EXPECT_EQ(floats.as<float>()[3], 16777216);
}

}  // namespace
}  // namespace linnet
