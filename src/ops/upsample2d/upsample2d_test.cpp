// SPDX-License-Identifier: Apache-2.0
#include "ops/upsample2d/upsample2d.h"

#include <gtest/gtest.h>

#include "op_harness.h"

namespace linnet::testing {
namespace {

OpPtr upsample(Upsampling mode, std::int64_t h, std::int64_t w) {
  return make_op(Upsample2dOp({.mode = mode, .out_h = h, .out_w = w}));
}

TEST(Upsample2d, AgreesWithTheReference) {
  for (const Upsampling mode : {Upsampling::nearest, Upsampling::bilinear}) {
    check({"upsample twice", upsample(mode, 4, 6), {f32({2, 2, 3, 2})}});
    check({"upsample unevenly", upsample(mode, 7, 5), {f32({1, 3, 2, 1})}});
    check({"upsample one pixel", upsample(mode, 3, 2), {f32({2, 1, 1, 3})}});
    check({"upsample to fewer", upsample(mode, 2, 3), {f32({1, 5, 4, 2})}});
    check({"upsample nothing", upsample(mode, 3, 4), {f32({1, 3, 4, 2})}});
    check({"upsample no sample", upsample(mode, 4, 4), {f32({0, 2, 2, 3})}, {}, false});
    check({"upsample many tasks", upsample(mode, 64, 48), {f32({4, 32, 24, 19})}, {}, false});
    const OpPtr gradient = make_op(Upsample2dGradOp({.mode = mode, .in_h = 21, .in_w = 32}));
    check({"upsample gradient, many tasks", gradient, {f32({4, 64, 48, 19})}, {}, false});
  }
}

std::vector<double> resampled(Upsampling mode, const std::vector<double>& row, std::int64_t w) {
  Graph graph;
  const auto width = static_cast<std::int64_t>(row.size());
  const Value x = graph.add_value("x", f32({1, 1, width, 1}), Storage::external, 0);
  const Value y = graph.emit(Upsample2dOp({.mode = mode, .out_h = 1, .out_w = w}), {x}, "up");
  return run(graph, {x}, {row}, {y})[0];
}

// torch.nn.functional.interpolate(x, size=(1, w), mode=..., align_corners=False)
TEST(Upsample2d, HasPyTorchsPixelCentres) {
  EXPECT_EQ(resampled(Upsampling::nearest, {1, 2}, 4), (std::vector<double>{1, 1, 2, 2}));
  EXPECT_EQ(resampled(Upsampling::nearest, {1, 2}, 3), (std::vector<double>{1, 1, 2}));
  EXPECT_EQ(resampled(Upsampling::bilinear, {1, 3}, 4), (std::vector<double>{1, 1.5, 2.5, 3}));
  EXPECT_EQ(resampled(Upsampling::bilinear, {0, 4, 8}, 6), (std::vector<double>{0, 1, 3, 5, 7, 8}));
}

TEST(Upsample2d, NamesTheLayerAndTheShape) {
  EXPECT_EQ(inference_error(upsample(Upsampling::nearest, 4, 4), {f32({2, 3})}, "up"),
            "[upsample2d 'up'] expected f32 images (N, H, W, C); got x=(2, 3)");
  EXPECT_EQ(inference_error(upsample(Upsampling::nearest, 0, 4), {f32({2, 3, 3, 1})}, "up"),
            "[upsample2d 'up'] expected a size of 1 to 16777216 pixels; got (0, 4)");
}

}  // namespace
}  // namespace linnet::testing
