// SPDX-License-Identifier: Apache-2.0
#include "ops/batch_norm/from_sums.h"

#include <gtest/gtest.h>

#include <array>

#include "op_harness.h"

namespace linnet::testing {
namespace {

/// One block of rows, a cluster, and more rows than one launch takes.
TEST(BatchNormGradFromSums, AgreesWithTheReference) {
  for (const Activation activation : {Activation::none, Activation::relu}) {
    for (const auto& [rows, channels] : {std::pair<std::int64_t, std::int64_t>{7, 6},
                                         {300, 8},
                                         {1500, 64},
                                         {1100, 21},
                                         {9000, 12}}) {
      const ValueType c = f32({channels});
      const ValueType image = f32({rows, channels});
      const auto r = static_cast<double>(rows);
      check(
          {.name = "batch_norm_grad_from_sums " + std::to_string(rows),
           .op = make_op(BatchNormGradFromSumsOp({.epsilon = 1e-3, .activation = activation})),
           .inputs = {image, image, c, c, c, c, f32({2, channels})},
           .fills = {{-2, 3}, {-2, 3}, {0.5, 1.5}, {-1, 1}, {-1, 1}, {0.5, 2}, {0.3 * r, 0.5 * r}},
           .gradient = false,
           .devices = {"CUDA"}});
      const ValueType wide = f32({rows, channels + 12});
      check({.name = "batch_norm_grad_from_sums of a block " + std::to_string(rows),
             .op = make_op(BatchNormGradFromSumsOp(
                 {.epsilon = 1e-3, .activation = activation, .into = true, .piece = 4})),
             .inputs = {image, wide, c, c, c, c, f32({2, channels + 12}), wide},
             .fills = {{-2, 3},
                       {-2, 3},
                       {0.5, 1.5},
                       {-1, 1},
                       {-1, 1},
                       {0.5, 2},
                       {0.3 * r, 0.5 * r},
                       {-1, 1}},
             .gradient = false,
             .devices = {"CUDA"}});
    }
  }
}

/// 9,000 rows are more than one launch takes; fewer are left to the kernel that finds the sums too.
TEST(BatchNormGradFromSums, TakesTheSumsOfDy) {
  for (const std::int64_t channels : {12, 21}) {
    const ValueType c = f32({channels});
    const ValueType image = f32({9000, channels});
    const ValueType wide = f32({9000, channels + 12});
    for (const bool into : {false, true}) {
      BatchNormGradFromSumsAttrs attrs{.epsilon = 1e-3, .activation = Activation::relu};
      attrs.summed = true;
      attrs.into = into;
      std::vector<ValueType> inputs{
          image, wide, c, c, c, c, f32({2, channels + 12}), f32({2, channels})};
      if (into) inputs.push_back(wide);
      check({.name = "batch_norm_grad_from_sums of dy",
             .op = make_op(BatchNormGradFromSumsOp(attrs)),
             .inputs = std::move(inputs),
             .fills = {{-2, 3},
                       {-2, 3},
                       {0.5, 1.5},
                       {-1, 1},
                       {-1, 1},
                       {0.5, 2},
                       {2700, 4500},
                       {-900, 900},
                       {-1, 1}},
             .gradient = false,
             .devices = {"CUDA"}});
    }
  }
}

TEST(BatchNormFromSums, AgreesWithTheReference) {
  for (const bool residual : {false, true}) {
    for (const auto& [rows, channels] :
         {std::pair<std::int64_t, std::int64_t>{7, 6}, {1500, 64}, {1100, 21}, {9000, 12}}) {
      const ValueType c = f32({channels});
      const ValueType image = f32({rows, channels});
      std::vector<ValueType> inputs{image, c, c, c, c, f32({2, channels})};
      const auto r = static_cast<double>(rows);
      std::vector<Fill> fills{{-2, 3}, {0.5, 1.5}, {-1, 1}, {-1, 1}, {0.5, 2}};
      if (residual) inputs.insert(inputs.end() - 1, image);
      if (residual) fills.push_back({-2, 2});
      fills.push_back({0.3 * r, 0.5 * r});
      if (channels == 64) inputs.front() = f32({rows, 96});
      if (channels == 64) inputs.back() = f32({2, 96});
      check({.name = "batch_norm_from_sums " + std::to_string(rows),
             .op = make_op(BatchNormFromSumsOp({.epsilon = 1e-3,
                                                .momentum = residual ? 1 : 0.25,
                                                .residual = residual,
                                                .activation = Activation::relu})),
             .inputs = std::move(inputs),
             .fills = std::move(fills),
             .gradient = false,
             .devices = {"CUDA"}});
    }
  }
}

TEST(WidenWithSums, AgreesWithTheReference) {
  for (const auto& [rows, channels, wide] :
       {std::array<std::int64_t, 3>{7, 6, 9}, {300, 8, 24}, {9000, 64, 256}, {1100, 21, 33}}) {
    check({.name = "widen_with_sums " + std::to_string(rows),
           .op = make_op(WidenWithSumsOp({.channels = wide})),
           .inputs = {f32({rows, channels})},
           .fills = {{-2, 3}},
           .gradient = false,
           .devices = {"CUDA"}});
  }
}

TEST(BatchNormGradFromSums, NamesTheShapes) {
  const ValueType c = f32({4});
  const ValueType image = f32({6, 4});
  EXPECT_NE(inference_error(make_op(BatchNormGradFromSumsOp()), {image, image, c, c, c, c, c})
                .find("expected dy and x of one shape and two sums for each channel"),
            std::string::npos);
  EXPECT_NE(inference_error(make_op(BatchNormFromSumsOp()), {image, c, c, c, c, c})
                .find("expected two sums for each of 4 channels; got x=f32 (6, 4), f32 (4)"),
            std::string::npos);
  EXPECT_NE(inference_error(make_op(WidenWithSumsOp({.channels = 3})), {image})
                .find("expected f32 of at most 3 channels; got"),
            std::string::npos);
}

}  // namespace
}  // namespace linnet::testing
