// SPDX-License-Identifier: Apache-2.0
#include "ops/bin_mean2d/bin_mean2d.h"

#include <gtest/gtest.h>

#include "op_harness.h"
#include "ops/bin_mean2d/bins.h"

namespace linnet::testing {
namespace {

OpPtr adaptive(std::int64_t height, std::int64_t width) {
  return make_op(BinMean2dOp({.out_h = height, .out_w = width}));
}

TEST(BinMean2d, AgreesWithTheReference) {
  check({"one bin", adaptive(1, 1), {f32({2, 5, 4, 3})}});
  check({"even bins", adaptive(2, 3), {f32({2, 4, 6, 3})}});
  check({"uneven bins", adaptive(3, 4), {f32({2, 7, 5, 3})}});
  check({"more bins than pixels", adaptive(5, 7), {f32({1, 3, 4, 2})}});
  check({"no sample", adaptive(2, 2), {f32({0, 5, 4, 3})}, {}, false});
  check({"many tasks", adaptive(7, 7), {f32({9, 31, 33, 17})}, {}, false});
  const BinMean2dAttrs windows{.out_h = 3,
                               .out_w = 4,
                               .size_h = 3,
                               .size_w = 2,
                               .stride_h = 2,
                               .stride_w = 1,
                               .pad_top = 1,
                               .pad_left = 1};
  check({"windows", make_op(BinMean2dOp(windows)), {f32({2, 5, 3, 3})}});
  check({"windows, pixels left out",
         make_op(BinMean2dOp(
             {.out_h = 2, .out_w = 2, .size_h = 2, .size_w = 2, .stride_h = 3, .stride_w = 3})),
         {f32({2, 6, 6, 2})}});
}

TEST(BinMean2d, EveryPixelFindsItsBins) {
  for (const Bins& bins :
       {Bins{7, 3}, Bins{3, 7}, Bins{12, 4}, Bins{9, 4, 3, 2, 1}, Bins{10, 3, 2, 4}}) {
    for (std::int64_t pixel = 0; pixel < bins.dim; ++pixel) {
      const BinRange over = bins.over(pixel);
      for (std::int64_t i = 0; i < bins.count; ++i) {
        const BinRange pixels = bins.pixels(i);
        const bool holds = pixels.begin <= pixel && pixel < pixels.end;
        EXPECT_EQ(holds, over.begin <= i && i < over.end) << bins.dim << " " << bins.count;
      }
    }
  }
}

TEST(BinMean2d, NamesTheLayerAndTheShapes) {
  EXPECT_EQ(inference_error(adaptive(0, 1), {f32({2, 5, 4, 3})}, "pool"),
            "[bin_mean2d 'pool'] expected bins that all hold a pixel; got (0, 1) bins of (0, 0), "
            "strides (1, 1), padding (0, 0) for x=(2, 5, 4, 3)");
  EXPECT_EQ(inference_error(adaptive(1, 1), {f32({2, 5})}, "pool"),
            "[bin_mean2d 'pool'] expected images (N, H, W, C); got x=(2, 5)");
  const OpPtr beyond = make_op(BinMean2dOp({.out_h = 4, .size_h = 2, .stride_h = 2}));
  EXPECT_NE(inference_error(beyond, {f32({2, 5, 4, 3})}), "");
}

}  // namespace
}  // namespace linnet::testing
