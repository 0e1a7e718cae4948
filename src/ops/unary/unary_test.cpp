// SPDX-License-Identifier: Apache-2.0
#include "ops/unary/unary.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "op_harness.h"
#include "ops/arithmetic/unaligned_cuda_test.h"

namespace linnet::testing {
namespace {

struct Kind {
  UnaryAttrs attrs;
  Fill fill = {-4, 4};
  double at = 0;  ///< a point and what PyTorch says there: f and its slope
  double value = 0;
  double slope = 0;
};

const std::vector<Kind>& kinds() {
  static const std::vector<Kind> all{
      {{Unary::exp}, {-4, 4}, 1, 2.718281746, 2.718281746},
      {{Unary::log}, {0.1, 4}, 2, 0.693147182, 0.5},
      {{Unary::log1p}, {-0.9, 4}, 2, 1.098612309, 0.333333343},
      {{Unary::sqrt}, {0.1, 4}, 4, 2, 0.25},
      {{Unary::rsqrt}, {0.1, 4}, 4, 0.5, -0.0625},
      {{Unary::square}, {-4, 4}, -3, 9, -6},
      {{Unary::abs}, {-4, 4}, 0, 0, 0},
      {{Unary::sign}, {-4, 4}, -2, -1, 0},
      {{Unary::sin}, {-4, 4}, 0, 0, 1},
      {{Unary::cos}, {-4, 4}, 0, 1, 0},
      {{Unary::reciprocal}, {0.2, 4}, -2, -0.5, -0.25},
      {{Unary::pow, 2.5}, {0.1, 4}, 4, 32, 20},
      {{Unary::pow, 0}, {0.1, 4}, 4, 1, 0},
      {{Unary::clip, -1, 2}, {-4, 4}, 2, 2, 0},
      {{Unary::leaky_relu, 0.1}, {-4, 4}, 0, 0, 0.1},
      {{Unary::elu, 1.5}, {-4, 4}, -1, -0.948180854, 0.551819146},
      {{Unary::selu}, {-4, 4}, -1, -1.111330748, 0.646768570},
      {{Unary::silu}, {-4, 4}, 1, 0.731058598, 0.927670538},
      {{Unary::softplus, 2}, {-4, 4}, 1, 1.063464046, 0.880797029},
      {{Unary::hard_sigmoid}, {-4, 4}, 3, 1, 0},
      {{Unary::hard_swish}, {-4, 4}, 3, 3, 1},
      {{Unary::gelu_tanh}, {-4, 4}, 1, 0.841191947, 1.082964301},
      {{Unary::expm1}, {-4, 4}, 1, 1.718281746, 2.718281746},
      {{Unary::erf}, {-4, 4}, 1, 0.842700779, 0.415107489},
      {{Unary::floor}, {-4, 4}, -1.5, -2, 0},
      {{Unary::ceil}, {-4, 4}, -1.5, -1, 0},
      {{Unary::round}, {-4, 4}, 2.5, 2, 0},
  };
  return all;
}

TEST(Unary, AgreesWithTheReference) {
  for (const Kind& kind : kinds()) {
    const OpPtr op = make_op(UnaryOp(kind.attrs));
    const bool sloped = !is_flat(kind.attrs.kind) && kind.attrs != UnaryAttrs{Unary::pow};
    const std::string name(enum_names(Unary{})[static_cast<std::size_t>(kind.attrs.kind)]);
    check({name + " small", op, {f32({3, 5})}, {kind.fill}, sloped});
    check({name + " one", op, {f32({1})}, {kind.fill}, sloped});
    check({name + " scalar", op, {f32({})}, {kind.fill}, sloped});
    check({name + " no sample", op, {f32({0, 4})}, {}, false});
    check({name + " many tasks", op, {f32({64, 33, 31})}, {kind.fill}, false});
    const OpPtr gradient = make_op(UnaryGradOp(kind.attrs));
    check({name + " gradient",
           gradient,
           {f32({64, 37}), f32({64, 37})},
           {{-1, 1}, kind.fill},
           false});
  }
}

TEST(Unary, SaturatesWithoutOverflow) {
  for (Unary kind : {Unary::elu, Unary::selu, Unary::silu, Unary::softplus, Unary::hard_sigmoid,
                     Unary::hard_swish, Unary::gelu_tanh}) {
    const UnaryAttrs attrs{kind, 1};
    check({"saturated", make_op(UnaryOp(attrs)), {f32({40})}, {{-200, 200}}, false});
    check({"saturated",
           make_op(UnaryGradOp(attrs)),
           {f32({40}), f32({40})},
           {{-1, 1}, {-200, 200}},
           false});
  }
}

TEST(Unary, HasPyTorchsValuesAndSlopes) {
  for (const Kind& kind : kinds()) {
    Graph graph;
    const Value x = graph.add_value("x", f32({1}), Storage::external, 0);
    const Value saved = graph.add_value("saved", f32({1}), Storage::external, 4);
    const Value y = graph.emit(UnaryOp(kind.attrs), {x}, "f");
    const Value dx =
        graph.emit(UnaryGradOp(kind.attrs), {graph.add_constant(f32({1}), 1), saved}, "g");
    const bool output = slope_from_output(kind.attrs.kind);
    const auto got = run(graph, {x, saved}, {{kind.at}, {output ? kind.value : kind.at}}, {y, dx});
    const auto name = enum_names(Unary{})[static_cast<std::size_t>(kind.attrs.kind)];
    EXPECT_NEAR(got[0][0], kind.value, 1e-6 * std::max(1.0, std::abs(kind.value))) << name;
    EXPECT_NEAR(got[1][0], kind.slope, 1e-6 * std::max(1.0, std::abs(kind.slope))) << name;
  }
}

TEST(Unary, KeepsNaN) {
  for (const Kind& kind : kinds()) {
    if (kind.attrs == UnaryAttrs{Unary::pow}) continue;  // x^0 is 1 for every x
    Graph graph;
    const Value x = graph.add_value("x", f32({5}), Storage::external, 0);
    const Value y = graph.emit(UnaryOp(kind.attrs), {x}, "f");
    const auto got = run(graph, {x}, {{1, 1, std::nan(""), 1, 1}}, {y});
    EXPECT_TRUE(std::isnan(got[0][2])) << static_cast<int>(kind.attrs.kind);
  }
}

/// Elements of whole vectors, and of the shorter one at the end.
TEST(Unary, AResultDoesNotDependOnItsPlace) {
  const ValueType type = f32({37});
  const auto all_equal = [](const std::vector<double>& values) {
    return std::ranges::count(values, values[0]) == std::ssize(values);
  };
  for (const Kind& kind : kinds()) {
    Graph graph;
    const Value x = graph.add_value("x", type, Storage::external, 0);
    const Value y = graph.emit(UnaryOp(kind.attrs), {x}, "f");
    const Value dx = graph.emit(UnaryGradOp(kind.attrs), {graph.add_constant(type, 1), x}, "g");
    const auto got = run(graph, {x}, {std::vector<double>(37, 0.7)}, {y, dx});
    EXPECT_TRUE(all_equal(got[0]) && all_equal(got[1])) << static_cast<int>(kind.attrs.kind);
  }
}

TEST(Unary, GatesAreClosedHoweverFarOut) {
  for (const Unary kind : {Unary::silu, Unary::gelu_tanh, Unary::hard_swish}) {
    Graph graph;
    const Value x = graph.add_value("x", f32({3}), Storage::external, 0);
    const Value y = graph.emit(UnaryOp({kind}), {x}, "f");
    EXPECT_EQ(run(graph, {x}, {{-1e3, -1e12, -1e30}}, {y})[0], std::vector<double>(3, 0));
  }
}

TEST(Unary, MayLieAnywhere) {
  check_unaligned(make_op(UnaryOp({Unary::silu})), {f32({3, 7})});
  check_unaligned(make_op(UnaryGradOp({Unary::silu})), {f32({3, 7}), f32({3, 7})});
}

TEST(Unary, NamesTheLayerAndWhatIsWrong) {
  EXPECT_EQ(inference_error(make_op(UnaryOp({Unary::clip, 1, 0})), {f32({8, 5})}, "c"),
            "[unary 'c'] expected a lower bound not above the upper one; got 1 and 0");
  EXPECT_EQ(inference_error(make_op(UnaryOp({Unary::softplus, 0})), {f32({8, 5})}, "s"),
            "[unary 's'] expected a softplus of beta above 0; got 0");
  EXPECT_EQ(inference_error(make_op(UnaryOp({Unary::exp})), {i32({8, 5})}, "e"),
            "[unary 'e'] expected one f32 operand; got x=(8, 5)");
  EXPECT_EQ(inference_error(make_op(UnaryGradOp({Unary::exp})), {f32({3, 4}), f32({4})}, "e"),
            "[unary_grad 'e'] expected two f32 operands of one shape; got dy=(3, 4), y=(4)");
}

}  // namespace
}  // namespace linnet::testing
