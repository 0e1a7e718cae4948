// SPDX-License-Identifier: Apache-2.0
#include "ops/pool2d/pool2d.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/random.h"
#include "op_harness.h"
#include "ops/arithmetic/unaligned_cuda_test.h"
#include "ops/pool2d/window.h"
#include "ops/reduce/same_on_cuda_test.h"

namespace linnet::testing {
namespace {

const std::vector<std::pair<std::string, Pool2dAttrs>> kWindows{
    {"2x2", {}},
    {"3x3 overlapping", {.size_h = 3, .size_w = 3}},
    {"3x3 at every pixel",
     {.size_h = 3,
      .size_w = 3,
      .stride_h = 1,
      .stride_w = 1,
      .pad_top = 1,
      .pad_bottom = 1,
      .pad_left = 1,
      .pad_right = 1}},
    {"stride 1", {.stride_h = 1, .stride_w = 1}},
    {"stride beyond the window", {.stride_h = 3, .stride_w = 4}},
    {"1x3", {.size_h = 1, .size_w = 3, .stride_h = 1, .stride_w = 2}},
    {"2x3 side by side", {.size_h = 2, .size_w = 3, .stride_h = 2, .stride_w = 3}},
    {"side by side past the end",
     {.size_h = 3, .size_w = 2, .stride_h = 3, .stride_w = 2, .pad_bottom = 2}},
    {"padded",
     {.size_h = 3, .size_w = 3, .pad_top = 1, .pad_bottom = 1, .pad_left = 1, .pad_right = 1}},
    {"padded at the start", {.size_h = 3, .size_w = 4, .pad_top = 2, .pad_left = 1}},
    {"padded unevenly", {.size_h = 3, .size_w = 2, .pad_bottom = 2, .pad_right = 1}},
    {"padded and apart",
     {.size_h = 2, .size_w = 3, .stride_h = 3, .stride_w = 4, .pad_top = 1, .pad_left = 2}},
    {"wide and overlapping",
     {.size_h = 7, .size_w = 7, .pad_top = 3, .pad_bottom = 3, .pad_left = 3, .pad_right = 3}},
};

TEST(Pool2d, AgreesWithTheReference) {
  for (const auto& [name, attrs] : kWindows) {
    for (const OpPtr& op : {make_op(MaxPool2dOp(attrs)), make_op(AvgPool2dOp(attrs))}) {
      check({"pool2d " + name, op, {f32({2, 6, 8, 3})}});
      check({"pool2d odd " + name, op, {f32({1, 7, 5, 1})}});
      check({"pool2d whole packs " + name, op, {f32({3, 9, 7, 8})}});
      check({"pool2d no sample " + name, op, {f32({0, 6, 8, 3})}, {}, false});
      check({"pool2d many tasks " + name, op, {f32({20, 33, 31, 17})}, {}, false});
      check({"pool2d equal pixels " + name, op, {f32({2, 6, 8, 3})}, {{1, 1}}, false});
      check({"pool2d extreme " + name, op, {f32({2, 6, 8, 3})}, {{-1e30, 1e30}}, false});
    }
  }
}

TEST(Pool2d, GradientsAtManyTasks) {
  const Pool2dGradAttrs attrs{{.size_h = 3, .size_w = 3}, 33, 31};
  check({"avg_pool2d_grad", make_op(AvgPool2dGradOp(attrs)), {f32({70, 16, 15, 9})}, {}, false});
  check({"max_pool2d_grad",
         make_op(MaxPool2dGradOp(attrs)),
         {f32({70, 16, 15, 9}), u8({70, 16, 15, 9})},
         {{-1, 1}, {0, 9}},
         false});
}

/// Whole vectors of channels, overlapping ones, fewer channels than lanes; equal pixels everywhere.
TEST(Pool2d, AnyNumberOfChannelsAndEqualPixels) {
  for (const auto& [name, attrs] : kWindows) {
    for (std::int64_t channels : {1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 31, 50}) {
      SCOPED_TRACE(name + ", channels " + std::to_string(channels));
      const ValueType image = f32({2, 7, 9, channels});
      Graph graph;
      const Value x = graph.add_value("x", image, Storage::external, 0);
      const std::vector<Value> y = graph.add(make_op(MaxPool2dOp(attrs)), {x}, "max");
      const Value average = graph.emit(AvgPool2dOp(attrs), {x}, "average");
      const Value dy = graph.add_value("dy", {DType::f32, graph.shape(y[0])}, Storage::external, 1);
      const Pool2dGradAttrs grad{attrs, 7, 9};
      const Value dx = graph.emit(MaxPool2dGradOp(grad), {dy, y[1]}, "max_grad");
      const Value dx_average = graph.emit(AvgPool2dGradOp(grad), {dy}, "average_grad");
      std::vector<double> pixels(static_cast<std::size_t>(image.shape.elements()));
      for (std::size_t i = 0; i < pixels.size(); ++i) {
        pixels[i] = static_cast<double>(mix_bits(i) % 4) - 2;
      }
      std::vector<double> gradients(static_cast<std::size_t>(graph.shape(dy).elements()));
      for (std::size_t i = 0; i < gradients.size(); ++i) {
        gradients[i] = static_cast<double>(i % 101) + 1;
      }
      compare_with_reference(graph, {x, dy}, {pixels, gradients},
                             {y[0], y[1], average, dx, dx_average});
    }
  }
}

TEST(Pool2d, WindowsBeyondAByteAgreeWithTheReference) {
  const Pool2dAttrs attrs{.size_h = 17, .size_w = 18, .stride_h = 2, .stride_w = 3};
  check({"max_pool2d 17x18", make_op(MaxPool2dOp(attrs)), {f32({2, 20, 22, 2})}});
  check({"max_pool2d 17x18 packs", make_op(MaxPool2dOp(attrs)), {f32({1, 20, 22, 4})}});
}

/// Numbers worked out by hand: reference and kernel share the geometry of windows.
TEST(Pool2d, WindowsLieWhereTheyShould) {
  const Pool2dAttrs attrs{
      .size_h = 2, .size_w = 3, .stride_h = 3, .stride_w = 2, .pad_top = 1, .pad_left = 2};
  Graph graph;
  const Value x = graph.add_value("x", f32({1, 4, 5, 1}), Storage::external, 0);
  const Value average = graph.emit(AvgPool2dOp(attrs), {x}, "average");
  const Value largest = graph.add(make_op(MaxPool2dOp(attrs)), {x}, "largest")[0];
  std::vector<double> pixels(20);
  for (std::size_t i = 0; i < 20; ++i) pixels[i] = static_cast<double>(6 * i);
  // Of rows {-1, 0} and {2, 3}; of columns {-2, -1, 0}, {0, 1, 2} and {2, 3, 4}.
  EXPECT_EQ(run(graph, {x}, {pixels}, {largest})[0],
            (std::vector<double>{0, 12, 24, 90, 102, 114}));
  const std::vector<double> means = run(graph, {x}, {pixels}, {average})[0];
  const std::vector<double> expected{0, 3, 9, 25, 81, 93};
  ASSERT_EQ(means.size(), expected.size());
  for (std::size_t i = 0; i < means.size(); ++i) EXPECT_NEAR(means[i], expected[i], 1e-5) << i;
}

TEST(Pool2d, ShapesAreTheirFormulas) {
  const PoolShape s = pool_shape(
      {.size_h = 2, .size_w = 3, .stride_h = 1, .stride_w = 2, .pad_bottom = 1, .pad_right = 2},
      {5, 4, 4, 7});
  EXPECT_EQ(s.oh, 4);  // windows at rows 0, 1, 2, 3 of 4 + 1
  EXPECT_EQ(s.ow, 2);  // columns 0, 2 of 4 + 2
}

TEST(Pool2d, EveryWindowOverAPixelIsKnown) {
  for (std::int64_t size = 1; size <= 4; ++size) {
    for (std::int64_t stride = 1; stride <= 5; ++stride) {
      for (std::int64_t pad = 0; pad < size; ++pad) {
        constexpr std::int64_t kPixels = 9;
        const std::int64_t windows = (kPixels + pad - size) / stride + 1;
        WindowRange<std::int64_t> walked;
        for (std::int64_t pixel = 0; pixel < kPixels; ++pixel) {
          const auto range = windows_over(pixel, windows, size, stride, pad);
          advance(walked, pixel, windows, size, stride, pad);
          for (std::int64_t i = 0; i < windows; ++i) {
            const Window w = window(i, kPixels, size, stride, pad);
            const bool holds = w.begin <= pixel && pixel < w.begin + w.size;
            EXPECT_EQ(range.begin <= i && i < range.end, holds)
                << size << " " << stride << " " << pad << ": window " << i << ", pixel " << pixel;
            EXPECT_EQ(walked.begin <= i && i < walked.end, holds)
                << size << " " << stride << " " << pad << ": window " << i << ", pixel " << pixel;
          }
        }
      }
    }
  }
}

TEST(Pool2d, MayLieAnywhere) {
  const Pool2dAttrs large{.size_h = 17, .size_w = 18, .stride_h = 2, .stride_w = 3};
  check_unaligned(make_op(MaxPool2dOp()), {f32({2, 5, 6, 8})});
  check_unaligned(make_op(AvgPool2dOp()), {f32({2, 5, 6, 8})});
  check_unaligned(make_op(MaxPool2dGradOp({large, 20, 22})),
                  {f32({1, 2, 2, 8}), i32({1, 2, 2, 8})});
  check_unaligned(make_op(AvgPool2dGradOp({{}, 5, 6})), {f32({2, 2, 3, 8})});
}

/// In each place of a window, in two places, in one of several channels.
TEST(MaxPool2d, TheFirstNaNWinsOnCuda) {
  for (std::size_t channels : {1U, 3U, 8U, 13U}) {
    const std::vector<ValueType> types = {f32({1, 4, 4, static_cast<std::int64_t>(channels)})};
    std::vector<float> x(16 * channels, -INFINITY);
    expect_same_on_cuda(make_op(MaxPool2dOp()), types, {x.data()});
    for (std::size_t at = 0; at < 15; ++at) {
      x.assign(16 * channels, 3.0F);
      x[at * channels + channels - 1] = std::nanf("");
      x[15 * channels + channels - 1] = std::nanf("");
      expect_same_on_cuda(make_op(MaxPool2dOp()), types, {x.data()});
      const Pool2dAttrs overlapping{.size_h = 3, .size_w = 3, .stride_h = 1, .stride_w = 1};
      expect_same_on_cuda(make_op(MaxPool2dOp(overlapping)), types, {x.data()});
    }
  }
}

TEST(MaxPool2d, NaNWins) {
  Graph graph;
  const Value x = graph.add_value("x", f32({1, 2, 2, 1}), Storage::external, 0);
  const Value y = graph.add(make_op(MaxPool2dOp()), {x}, "pool")[0];
  for (std::size_t at = 0; at < 4; ++at) {
    std::vector<double> pixels{4, 3, 2, 1};
    pixels[at] = std::nan("");
    EXPECT_TRUE(std::isnan(run(graph, {x}, {pixels}, {y})[0][0])) << at;
  }
}

TEST(Pool2d, NamesTheLayerAndTheShapes) {
  EXPECT_EQ(
      inference_error(make_op(MaxPool2dOp({.size_h = 5})), {f32({1, 4, 8, 3})}, "pool"),
      "[max_pool2d 'pool'] window (5, 2) is larger than the padded input (4, 8); got x=(1, 4, "
      "8, 3)");
  EXPECT_EQ(
      inference_error(make_op(AvgPool2dOp({.pad_top = 2})), {f32({1, 4, 8, 3})}, "pool"),
      "[avg_pool2d 'pool'] expected padding smaller than the window (2, 2); got top 2, bottom "
      "0, left 0, right 0");
  EXPECT_EQ(
      inference_error(make_op(AvgPool2dOp({.pad_right = 2})), {f32({1, 4, 8, 3})}, "pool"),
      "[avg_pool2d 'pool'] expected padding smaller than the window (2, 2); got top 0, bottom "
      "0, left 0, right 2");
  EXPECT_EQ(inference_error(make_op(AvgPool2dOp({.stride_w = 0})), {f32({1, 4, 8, 3})}, "pool"),
            "[avg_pool2d 'pool'] expected a window from 1 to 32768 and strides of at least 1; got "
            "(2, 2) and (2, 0)");
  EXPECT_EQ(inference_error(make_op(AvgPool2dOp()), {f32({4, 8})}, "pool"),
            "[avg_pool2d 'pool'] expected images (N, H, W, C); got x=(4, 8)");
}

}  // namespace
}  // namespace linnet::testing
