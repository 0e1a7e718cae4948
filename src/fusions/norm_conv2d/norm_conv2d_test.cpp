// SPDX-License-Identifier: Apache-2.0
#include "fusions/norm_conv2d/norm_conv2d.h"

#include <gtest/gtest.h>

#include <array>

#include "backend/cpu/products/row_product.h"
#include "op_harness.h"
#include "ops/batch_norm/statistics.h"

namespace linnet::testing {
namespace {

const std::vector<Fill> kFills{{-2, 3}, {-1, 1}, {0.5, 1.5}, {-1, 1}, {-1, 1}, {0.5, 1}};

void check_on_cpu(const std::string& name, OpPtr op, std::vector<ValueType> inputs) {
  check({.name = name,
         .op = std::move(op),
         .inputs = std::move(inputs),
         .fills = kFills,
         .gradient = false,
         .devices = {"CPU"}});
}

/// Images; channels, those of the wider rows, filters.
struct Case {
  std::int64_t n, h, w, c, wide, co;
};

/// Few pixels, blocks of the gradient, rows of less than a vector, columns in groups, many tasks.
const std::vector<Case> kCases{{1, 1, 1, 3, 3, 2},      {2, 3, 5, 21, 40, 13},
                               {3, 7, 7, 64, 96, 128},  {16, 2, 2, 160, 160, 200},
                               {4, 20, 21, 48, 80, 32}, {2, 9, 4, 1100, 1104, 64}};

TEST(NormConv2d, AgreesWithTheReference) {
  for (const auto& [n, h, w, c, wide, co] : kCases) {
    for (const Activation activation : {Activation::none, Activation::relu}) {
      const std::string name = "norm_conv2d " + std::to_string(c) + "-" + std::to_string(co);
      const ValueType x = f32({n, h, w, wide});
      const ValueType channels = f32({c});
      check_on_cpu(name, make_op(NormConv2dOp({activation})),
                   {x, f32({co, 1, 1, c}), channels, channels, channels, channels});
      if (!cpu::row_product_pays(co)) continue;
      check_on_cpu(name + " weights", make_op(NormConv2dGradWeightOp({activation})),
                   {x, f32({n, h, w, co}), channels, channels, channels, channels});
    }
  }
}

TEST(NormConv2d, FindsTheStatisticsAlone) {
  for (const auto& [rows, channels, wide, known] : std::vector<std::array<std::int64_t, 4>>{
           {7, 6, 9, 0}, {3000, 64, 96, 0}, {1, 4, 4, 0}, {3000, 40, 64, 24}, {5, 4, 4, 4}}) {
    const ValueType c = f32({channels});
    std::vector<ValueType> inputs{f32({rows, wide}), c, c, c, c};
    if (known > 0) inputs.insert(inputs.end(), 2, f32({known}));
    check({.name = "batch_norm_statistics " + std::to_string(rows),
           .op = make_op(
               BatchNormStatisticsOp({.norm = {.epsilon = 1e-3, .momentum = 0.3}, .known = known})),
           .inputs = inputs,
           .fills = {{-2, 3}, {0.5, 1.5}, {-1, 1}, {-1, 1}, {0.5, 2}, {-1, 1}, {0.5, 2}},
           .gradient = false,
           .devices = {"CPU"}});
  }
}

TEST(NormConv2d, NamesTheShapes) {
  const ValueType c = f32({4});
  EXPECT_NE(inference_error(make_op(NormConv2dOp()),
                            {f32({2, 3, 3, 4}), f32({5, 3, 3, 4}), c, c, c, c})
                .find("expected w (C_out, 1, 1, C); got (5, 3, 3, 4)"),
            std::string::npos);
  EXPECT_NE(inference_error(make_op(NormConv2dGradWeightOp()),
                            {f32({2, 3, 3, 4}), f32({2, 3, 2, 5}), c, c, c, c})
                .find("expected dz=(2, 3, 3, 5)"),
            std::string::npos);
}

}  // namespace
}  // namespace linnet::testing
