// SPDX-License-Identifier: Apache-2.0
// Whole numbers of all sizes, powers, inverse functions, and pools of norms.
#include <algorithm>
#include <cmath>

#include "onnx/byte_models.h"

namespace linnet {
namespace {

using B = testing::OnnxBytes;
using testing::floats;

constexpr std::int64_t kU8 = 2, kI8 = 3, kU16 = 4, kI16 = 5, kI32 = 6, kU32 = 12, kU64 = 13;

/// Two inputs of a type, (N, 3), and one operator.
B of_two(const std::string& op, std::int64_t type, std::vector<std::string> attributes = {}) {
  B model;
  model.opset = 18;
  model.type = type;
  model.dims = {0, 3};
  model.more_inputs = {B::value("b", {0, 3}, type)};
  model.nodes = {B::node(op, {"x", "b"}, {"y"}, "n", std::move(attributes))};
  return model;
}

void expect_result(const B& bytes, const std::vector<float>& x, const std::vector<float>& b,
                   const std::vector<float>& wanted) {
  Model model = testing::imported(bytes);
  const Dataset data({{"x", floats(x, {1, 3})}, {"b", floats(b, {1, 3})}}, {});
  testing::expect_near(model.predict(data), floats(wanted, {1, 3}), 0);
}

TEST(OnnxWholeNumbers, begin_anew_past_the_range_of_8_and_16_bits) {
  expect_result(of_two("Add", kU8), {200, 255, 3}, {100, 1, 4}, {44, 0, 7});
  expect_result(of_two("Sub", kU8), {3, 0, 9}, {5, 255, 4}, {254, 1, 5});
  expect_result(of_two("Mul", kU8), {200, 16, 15}, {100, 16, 17}, {32, 0, 255});
  expect_result(of_two("Add", kI8), {100, -100, 3}, {100, -100, 4}, {-56, 56, 7});
  expect_result(of_two("Mul", kI8), {-128, 127, -3}, {-1, 127, 4}, {-128, 1, -12});
  expect_result(of_two("Div", kI8), {-128, -7, 41}, {-1, 2, 41}, {-128, -3, 1});
  expect_result(of_two("Add", kU16), {65535, 40000, 1}, {1, 40000, 2}, {0, 14464, 3});
  expect_result(of_two("Mul", kU16), {65535, 300, 40001}, {65535, 300, 40001}, {1, 24464, 18561});
  expect_result(of_two("Mul", kI16), {-32768, 300, -181}, {-1, 300, 182}, {-32768, 24464, 32594});
  expect_result(of_two("Max", kI8), {-128, 5, 1}, {127, -5, 1}, {127, 5, 1});
}

TEST(OnnxWholeNumbers, without_a_sign_have_32_and_64_bits_too) {
  for (const std::int64_t type : {kU32, kU64}) {
    expect_result(of_two("Add", type), {7, 16000000, 0}, {5, 777215, 0}, {12, 16777215, 0});
    expect_result(of_two("Greater", type), {7, 2, 5}, {5, 3, 5}, {1, 0, 0});
    expect_result(of_two("Mod", type), {41, 16777215, 7}, {41, 4096, 9}, {0, 4095, 7});
  }
  const float below = 3 - 5 + 4294967296.0F;  // as UINT32 has it, in 24 bits
  expect_result(of_two("Sub", kU32), {3, 5, 9}, {5, 5, 4}, {below, 0, 5});
}

/// A product with 1 / 41 is below 1.
TEST(OnnxWholeNumbers, are_divided_exactly_by_constants_and_by_what_is_repeated) {
  B by_number = of_two("Div", kI32);
  const std::int32_t divisor = 41;
  by_number.more_inputs = {};
  by_number.initializers = {
      B::tensor("b", {}, kI32, {reinterpret_cast<const char*>(&divisor), sizeof(divisor)})};
  by_number.dims = {0, 5};
  Model model = testing::imported(by_number);
  const Tensor x = floats({41, 40, 82, 8692, -41}, {1, 5});
  testing::expect_near(model.predict(x), floats({1, 0, 2, 212, -1}, {1, 5}), 0);

  B repeated = of_two("Div", kI32);
  repeated.more_inputs = {B::value("b", {0, 2, 3}, kI32)};
  repeated.dims = {0, 1, 3};
  Model two = testing::imported(repeated);
  const Dataset data({{"x", floats({41, 40, 82}, {1, 1, 3})},
                      {"b", floats({41, 41, 41, 2, 3, 47}, {1, 2, 3})}},
                     {});
  testing::expect_near(two.predict(data), floats({1, 0, 2, 20, 13, 1}, {1, 2, 3}), 0);
}

TEST(OnnxWholeNumbers, are_cast_as_their_bits_are) {
  B model;
  model.type = kI32;
  model.dims = {0, 3};
  const auto to = [&](std::int64_t type) {
    model.nodes = {B::node("Cast", {"x"}, {"y"}, "n", {B::integer("to", type)})};
    Model made = testing::imported(model);
    return made.predict(floats({300, -1, 127}, {1, 3}));
  };
  testing::expect_near(to(kU8), floats({44, 255, 127}, {1, 3}), 0);
  testing::expect_near(to(kI8), floats({44, -1, 127}, {1, 3}), 0);
  testing::expect_near(to(kU16), floats({300, 65535, 127}, {1, 3}), 0);
}

TEST(OnnxPowers, of_two_values_are_the_librarys) {
  B floats_alone = of_two("Pow", 1);
  Model model = testing::imported(floats_alone);
  const Dataset data({{"x", floats({2, -2, 0.5F}, {1, 3})}, {"b", floats({3.5F, 3, -2}, {1, 3})}},
                     {});
  testing::expect_near(model.predict(data), floats({std::pow(2.0F, 3.5F), -8, 4}, {1, 3}), 1e-6F);
  expect_result(of_two("Pow", kI32), {3, 2, 7}, {6, 20, 0}, {729, 1048576, 1});
}

TEST(OnnxFunctions, have_their_inverses_and_small_sines) {
  B model;
  model.dims = {0, 2};
  const auto check = [&](const std::string& op, double (*f)(double), float from) {
    model.nodes = {B::node(op, {"x"}, {"y"}, "n")};
    Model made = testing::imported(model);
    const Tensor x = floats({from, from * 0.5F + 0.5F}, {1, 2});
    const Tensor y = made.predict(x);
    for (std::size_t i = 0; i < 2; ++i) {
      const double wanted = f(static_cast<double>(x.as<float>()[i]));
      EXPECT_NEAR(y.as<float>()[i], wanted, 4e-7 * std::abs(wanted)) << op;
    }
    const testing::TemporaryFolder folder;  // and written
    export_onnx(made, folder / "m.onnx");
    Model again = import_onnx(folder / "m.onnx", {}, {.device = "cpu", .threads = 1}).model;
    testing::expect_near(again.predict(x), y, 1e-6F);
  };
  check(
      "Asin", [](double v) { return std::asin(v); }, 0.3F);
  check(
      "Acos", [](double v) { return std::acos(v); }, 0.3F);
  check(
      "Atan", [](double v) { return std::atan(v); }, 3);
  check(
      "Asinh", [](double v) { return std::asinh(v); }, -30);
  check(
      "Acosh", [](double v) { return std::acosh(v); }, 1.3F);
  check(
      "Atanh", [](double v) { return std::atanh(v); }, 0.3F);
  check(
      "Sinh", [](double v) { return std::sinh(v); }, 1e-4F);
}

TEST(OnnxPools, of_norms_are_roots_of_sums) {
  B model;
  model.dims = {0, 1, 2, 3};
  const auto pooled = [&](std::int64_t p) {
    model.nodes = {B::node("LpPool", {"x"}, {"y"}, "n",
                           {B::integers("kernel_shape", {2, 2}), B::integers("pads", {0, 0, 1, 0}),
                            B::integer("p", p)})};
    Model made = testing::imported(model);
    return made.predict(floats({3, -4, 0, 0, 12, 2}, {1, 2, 3, 1}));
  };
  const auto root = [](double x) { return static_cast<float>(std::sqrt(x)); };
  testing::expect_near(pooled(2), floats({13, root(164), 12, root(148)}, {1, 2, 2, 1}), 1e-5F);
  testing::expect_near(pooled(1), floats({19, 18, 12, 14}, {1, 2, 2, 1}), 1e-5F);
  const auto cube = [](double x) { return static_cast<float>(std::cbrt(x)); };
  testing::expect_near(pooled(3), floats({cube(1819), cube(1800), 12, cube(1736)}, {1, 2, 2, 1}),
                       1e-4F);
}

TEST(OnnxPools, take_pixels_apart) {
  B model;
  model.dims = {0, 1, 3, 4};
  const auto pooled = [&](const std::string& op, std::vector<std::string> more) {
    more.push_back(B::integers("kernel_shape", {2, 2}));
    more.push_back(B::integers("dilations", {2, 3}));
    model.nodes = {B::node(op, {"x"}, {"y"}, "n", std::move(more))};
    Model made = testing::imported(model);
    return made.predict(floats({1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}, {1, 3, 4, 1}));
  };
  const std::string pads = B::integers("pads", {1, 0, 0, 0});  // a row of zeros above
  testing::expect_near(pooled("MaxPool", {}), floats({12}, {1, 1, 1, 1}), 0);
  testing::expect_near(pooled("MaxPool", {pads}), floats({8, 12}, {1, 2, 1, 1}), 0);
  testing::expect_near(pooled("AveragePool", {}), floats({6.5F}, {1, 1, 1, 1}), 1e-6F);
  testing::expect_near(pooled("AveragePool", {pads}), floats({6.5F, 6.5F}, {1, 2, 1, 1}), 1e-6F);
  testing::expect_near(pooled("AveragePool", {pads, B::integer("count_include_pad", 1)}),
                       floats({3.25F, 6.5F}, {1, 2, 1, 1}), 1e-6F);
  testing::expect_near(pooled("LpPool", {B::integer("p", 1)}), floats({26}, {1, 1, 1, 1}), 1e-6F);
}

TEST(OnnxInputs, without_elements_are_named) {
  B model;
  model.nodes = {B::node("Relu", {"x"}, {"y"}, "n")};
  std::string none;  // dim_value: 0, said
  protobuf::put_integer(none, 1, 0);
  model.dims = {0, 4};
  model.more_inputs = {B::value_of_dims("empty", {"", none})};
  EXPECT_NE(testing::refusal(model).find(
                "the dim 1 of the input 'empty' is 0: an input has at least one element"),
            std::string::npos)
      << testing::refusal(model);
}

}  // namespace
}  // namespace linnet
