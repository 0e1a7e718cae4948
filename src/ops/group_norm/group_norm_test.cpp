// SPDX-License-Identifier: Apache-2.0
#include "ops/group_norm/group_norm.h"

#include <gtest/gtest.h>

#include <string>

#include "op_harness.h"
#include "ops/arithmetic/unaligned_cuda_test.h"

namespace linnet::testing {
namespace {

void check_norm(const std::string& name, GroupNormAttrs attrs, const Shape& x,
                bool gradient = true) {
  const Shape channels(x.dims().last(static_cast<std::size_t>(attrs.channels)));
  OpCase one{name,
             make_op(GroupNormOp(attrs)),
             {f32(x), f32(channels), f32(channels)},
             {{-2, 3}},
             gradient};
  one.roots = {true, false, false};
  check(one);
}

TEST(GroupNorm, AgreesWithTheReference) {
  check_norm("one group", {.groups = 1}, {3, 2, 2, 6});
  check_norm("two groups", {.groups = 2}, {3, 2, 2, 6});
  check_norm("a group a channel", {.groups = 6}, {2, 3, 2, 6});
  check_norm("a row", {.groups = 3}, {1, 5, 6});
  check_norm("matrix", {.groups = 2}, {4, 10});
  check_norm("no sample", {.groups = 2}, {0, 3, 4}, false);
  check_norm("many tasks", {.groups = 4}, {37, 9, 11, 20}, false);
  check_norm("a block a group", {.groups = 2}, {3, 41, 37, 10}, false);
  check_norm("chunks of rows", {.groups = 3}, {20, 17, 9}, false);
  check_norm("vectors beside each other", {.groups = 5}, {3, 70, 365}, false);
  check_norm("joined pixels, one channel", {.groups = 1}, {2, 1501, 1}, false);
  check_norm("joined pixels, three channels", {.groups = 3}, {2, 333, 3}, false);
  check_norm("joined pixels, whole vectors", {.groups = 2}, {2, 37, 32}, false);
}

TEST(LayerNorm, AgreesWithTheReference) {
  check_norm("layer norm", {}, {4, 7});
  check_norm("layer norm large epsilon", {.epsilon = 0.5}, {4, 7});
  check_norm("layer norm steps", {.rows = 2}, {2, 3, 33});
  check_norm("layer norm two axes", {.channels = 2}, {3, 4, 5});
  check_norm("layer norm short", {.rows = 2}, {3, 2, 3});
  check_norm("layer norm no sample", {.rows = 2}, {0, 3, 8}, false);
  check_norm("layer norm many tasks", {.rows = 2}, {40, 30, 125}, false);
  check_norm("layer norm long", {}, {5, 3001}, false);
}

TEST(GroupNorm, GradientAgreesWithTheReference) {
  for (std::int64_t groups : {1, 3, 9}) {
    const OpPtr op = make_op(GroupNormGradOp({{.groups = groups}}));
    const auto gradient = [&](const std::string& name, const Shape& x) {
      const ValueType statistics = f32({x[0], groups});
      check({name,
             op,
             {f32(x), f32(x), f32({x[-1]}), statistics, statistics},
             {{-1, 1}, {-1, 1}, {-2, 2}, {-0.1, 0.1}, {0.5, 2}},
             false});
    };
    gradient("small", {3, 5, 9});
    gradient("no sample", {0, 5, 9});
    gradient("chunks", {20, 17, 9});
    gradient("long", {3, 1100, 9});
    gradient("vectors beside each other", {3, 70, 369});
    gradient("rows", {30, 369});
  }
  for (const std::int64_t channels : {1, 3, 32}) {
    const OpPtr op = make_op(GroupNormGradOp({{.groups = 1}}));
    const ValueType x = f32({2, 341, channels});
    const ValueType statistics = f32({2, 1});
    check({"joined pixels of " + std::to_string(channels),
           op,
           {x, x, f32({channels}), statistics, statistics},
           {{-1, 1}, {-1, 1}, {-2, 2}, {-0.1, 0.1}, {0.5, 2}},
           false});
  }
}

TEST(GroupNorm, IsAccurateFarFromZero) {
  OpCase far{"far",
             make_op(GroupNormOp({.rows = 1})),
             {f32({5, 300}), f32({300}), f32({300})},
             {{1000, 1001}, {-1, 1}},
             false};
  far.tolerance = 5e-4;  // of the input's rounding, 6e-5 in 0.3
  check(far);
}

TEST(GroupNorm, MayLieAnywhere) {
  check_unaligned(make_op(GroupNormOp({.groups = 2})), {f32({3, 2, 8}), f32({8}), f32({8})});
  check_unaligned(make_op(GroupNormGradOp({{.groups = 2}})),
                  {f32({3, 2, 8}), f32({3, 2, 8}), f32({8}), f32({3, 2}), f32({3, 2})});
}

TEST(GroupNorm, NamesTheLayerAndTheShapes) {
  const OpPtr op = make_op(GroupNormOp({.groups = 4}));
  EXPECT_EQ(inference_error(op, {f32({2, 3, 6}), f32({6}), f32({6})}, "norm"),
            "[group_norm 'norm'] expected groups that divide 6 channels; got 4");
  EXPECT_EQ(inference_error(op, {f32({2, 3, 8}), f32({8}), f32({6})}, "norm"),
            "[group_norm 'norm'] expected a weight and a bias of (8); got x=(2, 3, 8), weight=(8), "
            "bias=(6)");
  EXPECT_EQ(inference_error(op, {f32({8}), f32({8}), f32({8})}, "norm"),
            "[group_norm 'norm'] expected at least 1 axes of rows and 1 of channels; got x=(8)");
  EXPECT_EQ(inference_error(op, {f32({2, 0, 8}), f32({8}), f32({8})}, "norm"),
            "[group_norm 'norm'] expected rows with elements; got x=(2, 0, 8)");
  EXPECT_EQ(inference_error(make_op(GroupNormOp({.epsilon = 0})), {f32({2, 8}), f32({8}), f32({8})},
                            "norm"),
            "[group_norm 'norm'] expected an epsilon above 0; got 0");
}

}  // namespace
}  // namespace linnet::testing
