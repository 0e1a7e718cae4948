// SPDX-License-Identifier: Apache-2.0
#include "fusions/conv2d_pool/conv2d_pool.h"

#include <gtest/gtest.h>

#include <cmath>

#include "backend/cpu/cpu_backend.h"
#include "fusions/conv2d_pool/conv2d_pool_cpu.h"
#include "op_backends.h"
#include "op_harness.h"
#include "ops/cpu_kernels.h"

namespace linnet::testing {
namespace {

struct Case {
  std::string name;
  Shape x, w;
  std::int64_t pad = 0;
};

const std::vector<Case> kCases{
    {"1 to 8 3x3", {2, 6, 8, 1}, {8, 3, 3, 1}, 1},
    {"1 to 16 3x3 odd", {3, 7, 9, 1}, {16, 3, 3, 1}, 1},
    {"3 to 8 3x3", {2, 6, 6, 3}, {8, 3, 3, 3}, 1},
    {"1 to 8 3x9", {2, 6, 14, 1}, {8, 3, 9, 1}, 1},
    {"1 to 24 5x5", {1, 8, 9, 1}, {24, 5, 5, 1}, 0},
    {"3 to 8 5x5", {1, 7, 8, 3}, {8, 5, 5, 3}, 1},
    {"1 to 16 5x5 odd", {2, 9, 8, 1}, {16, 5, 5, 1}, 1},
    {"3 to 16 3x3", {2, 6, 8, 3}, {16, 3, 3, 3}, 1},
    {"3 to 32 5x5", {2, 8, 11, 3}, {32, 5, 5, 3}, 0},
    {"3 to 16 5x5 one window", {2, 7, 6, 3}, {16, 5, 5, 3}, 0},
};

OpPtr conv_pool(std::int64_t pad, bool bias, Activation activation) {
  return make_op(Conv2dPoolOp({{.pad_top = pad,
                                .pad_bottom = pad,
                                .pad_left = pad,
                                .pad_right = pad,
                                .bias = bias,
                                .activation = activation},
                               {}}));
}

TEST(Conv2dPool, AgreesWithTheReference) {
  for (const auto& [name, x, w, pad] : kCases) {
    check({"conv2d_pool " + name,
           conv_pool(pad, true, Activation::relu),
           {f32(x), f32(w), f32({w[0]})}});
    check({"conv2d_pool by weights " + name,
           conv_pool(pad, true, Activation::relu),
           {f32(x), f32(w), f32({w[0]})},
           {},
           true,
           {false, true, true}});
    check({"conv2d_pool plain " + name,
           conv_pool(pad, false, Activation::none),
           {f32(x), f32(w)},
           {},
           true,
           {false, true}});
    check({"conv2d_pool no sample " + name,
           conv_pool(pad, true, Activation::relu),
           {f32(x.with_batch(0)), f32(w), f32({w[0]})},
           {},
           false});
  }
}

TEST(Conv2dPool, UnevenPaddingAgreesWithTheReference) {
  for (std::int64_t left : {0, 1}) {
    const OpPtr op = make_op(Conv2dPoolOp({{.pad_top = 1 + left,
                                            .pad_bottom = 2 - left,
                                            .pad_left = left,
                                            .pad_right = 2 - 2 * left,
                                            .bias = true,
                                            .activation = Activation::relu},
                                           {}}));
    check({"conv2d_pool uneven", op, {f32({2, 5, 9, 1}), f32({8, 3, 3, 1}), f32({8})}});
    check({"conv2d_pool uneven by weights",
           op,
           {f32({2, 5, 9, 1}), f32({8, 3, 3, 1}), f32({8})},
           {},
           true,
           {false, true, true}});
  }
}

/// Passes ask before they fuse: a yes to what the loops don't compute would be a wrong result.
TEST(Conv2dPool, TheLoopsRefuseWhatTheyDoNotCompute) {
  cpu::Registry registry;
  cpu::register_cpu_kernels(registry);
  cpu::CpuBackend backend(std::move(registry), std::make_shared<ThreadTeam>(1));
  const auto supported = [&](Conv2dPoolAttrs attrs, std::int64_t filters = 8,
                             std::int64_t kernel = 3, std::int64_t channels = 1) {
    const std::vector<ValueType> in{f32({2, 12, 12, channels}),
                                    f32({filters, kernel, kernel, channels / attrs.conv.groups})};
    const Conv2dPoolOp op(attrs);
    return backend.supports(op, in, op.infer(in));
  };
  EXPECT_TRUE(supported({}));
  EXPECT_TRUE(supported({{.activation = Activation::relu}, {}}));
  EXPECT_FALSE(supported({{.activation = Activation::tanh}, {}}));
  EXPECT_FALSE(supported({{.stride_h = 2}, {}}));
  EXPECT_FALSE(supported({{.stride_w = 2}, {}}));
  EXPECT_FALSE(supported({{.dilation_h = 2}, {}}));
  EXPECT_FALSE(supported({{.dilation_w = 2}, {}}));
  EXPECT_FALSE(supported({{.groups = 3}, {}}, 24, 3, 3));
  EXPECT_FALSE(supported({{}, {.size_h = 3}}));
  EXPECT_FALSE(supported({{}, {.stride_w = 1}}));
  EXPECT_FALSE(supported({}, 12));
  EXPECT_FALSE(supported({}, 8, 7));
  EXPECT_FALSE(supported({}, 8, 3, 2));
  EXPECT_FALSE(supported({}, 8, 3, 16));
  EXPECT_FALSE(supported({}, 64, 5, 64));  // more weights than parts of a batch may have sums of
}

/// As recurrent layers it rounds no operand: the bits of fp32.
TEST(Conv2dPool, ComputesInFp32AtEveryPrecision) {
  Graph graph;
  const Value x = graph.add_value("x", f32({2, 12, 12, 1}), Storage::external, 0);
  const Value w = graph.add_value("w", f32({8, 3, 3, 1}), Storage::external, 1);
  const Value y = graph.add(conv_pool(1, false, Activation::relu), {x, w}, "stem")[0];
  std::vector<std::vector<double>> data{std::vector<double>(288), std::vector<double>(72)};
  for (std::vector<double>& values : data) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      values[i] = static_cast<float>(i * 7919 % 2001) / 1000 - 1;
    }
  }
  const auto result = [&](const TestedDevice& device) {
    return run(*device.backends[0], graph, {x, w}, data, {y}, {}, false)[0];
  };
  for (const TestedDevice& device : tested_cpus_in_bf16()) {
    EXPECT_EQ(result(device), result(tested_cpu())) << device.name;
  }
}

/// The first of equal pixels wins, and where nothing is positive the first of all.
TEST(Conv2dPool, EqualPixelsHaveTheWinnerOfTheComposition) {
  Graph graph;
  const Value x = graph.add_value("x", f32({1, 2, 2, 1}), Storage::external, 0);
  const Value w = graph.add_value("w", f32({8, 3, 3, 1}), Storage::external, 1);
  const std::vector<Value> outputs =
      graph.add(conv_pool(1, false, Activation::relu), {x, w}, "stem");
  std::vector<double> kernel(72, 0.0);
  for (std::size_t o = 0; o < 8; ++o) kernel[o * 9 + 4] = 1;  // the identity
  for (const auto& pixels : std::vector<std::vector<double>>{
           {2, 2, 2, 2}, {1, 2, 2, 1}, {-1, 0, -2, -3}, {-4, -3, -2, -1}}) {
    compare_with_reference(graph, {x, w}, {pixels, kernel}, outputs, 0);
  }
}

TEST(Conv2dPool, ManyTasks) {
  const OpPtr op = conv_pool(1, true, Activation::relu);
  check({"conv2d_pool many tasks",
         op,
         {f32({37, 28, 28, 1}), f32({16, 3, 3, 1}), f32({16})},
         {},
         false});
  const auto& attrs = static_cast<const Conv2dPoolOp&>(*op).attrs();
  const Shape y{37, 14, 14, 16};
  check({"conv2d_pool_grad many tasks",
         make_op(Conv2dPoolGradOp({attrs, 3, 3})),
         {f32({37, 28, 28, 1}), f32(y), f32(y), u8(y)},
         {{-1, 1}, {-1, 1}, {-1, 1}, {0, 4}},
         false});
}

/// The CPU alone has loops for many channels, and only with vectors of 16.
void check_wide(const std::string& name, OpPtr op, std::vector<ValueType> inputs,
                std::vector<Fill> fills = {}, bool gradient = false) {
  check({.name = "conv2d_pool of many channels " + name,
         .op = std::move(op),
         .inputs = std::move(inputs),
         .fills = std::move(fills),
         .gradient = gradient,
         .devices = {"CPU"}});
}

TEST(Conv2dPool, ManyChannelsAgreeWithTheReference) {
  if (!cpu::wide_conv_pool_has(5, 5, 16)) GTEST_SKIP();
  for (Activation activation : {Activation::relu, Activation::none}) {
    check_wide("forward", conv_pool(0, true, activation),
               {f32({2, 9, 14, 16}), f32({8, 5, 5, 16}), f32({8})});
    check_wide("odd", conv_pool(1, false, activation), {f32({2, 5, 8, 32}), f32({16, 5, 5, 32})});
    check_wide("with gradients", conv_pool(1, true, activation),
               {f32({1, 6, 4, 16}), f32({8, 5, 5, 16}), f32({8})}, {}, true);
    // More windows than are listed at once, and more samples than a part has.
    for (std::int64_t samples : {0, 1, 19}) {
      const Conv2dPoolAttrs forward{{.pad_top = 2,
                                     .pad_bottom = 1,
                                     .pad_left = 1,
                                     .pad_right = 2,
                                     .bias = true,
                                     .activation = activation},
                                    {}};
      const Shape x{samples, 24, 26, 16};
      const Shape y{samples, 11, 12, 8};
      check_wide("by input", make_op(Conv2dPoolGradInputOp({forward, 24, 26})),
                 {f32(y), f32(y), u8(y), f32({8, 5, 5, 16})}, {{-1, 1}, {-1, 1}, {0, 4}, {-1, 1}});
      check_wide("by weights", make_op(Conv2dPoolGradOp({forward, 5, 5})),
                 {f32(x), f32(y), f32(y), u8(y)}, {{-1, 1}, {-1, 1}, {-1, 1}, {0, 4}});
    }
  }
}

TEST(Conv2dPool, NaNWins) {
  Graph graph;
  const Value x = graph.add_value("x", f32({1, 2, 2, 1}), Storage::external, 0);
  const Value w = graph.add_value("w", f32({8, 3, 3, 1}), Storage::external, 1);
  const OpPtr op = conv_pool(1, false, Activation::relu);
  const Value y = graph.add(op, {x, w}, "stem")[0];
  std::vector<double> kernel(72, 0.0);
  for (std::size_t o = 0; o < 8; ++o) kernel[o * 9 + 4] = 1;  // the identity
  for (std::size_t at = 0; at < 4; ++at) {
    std::vector<double> pixels{4, 3, 2, 1};
    pixels[at] = std::nan("");
    EXPECT_TRUE(std::isnan(run(graph, {x, w}, {pixels, kernel}, {y})[0][0])) << at;
  }
}

/// A corner of a 4x4 image reaches one of the window's four results alone.
TEST(Conv2dPool, OneNaNOfAWindowWins) {
  Graph graph;
  const Value x = graph.add_value("x", f32({1, 4, 4, 1}), Storage::external, 0);
  const Value w = graph.add_value("w", f32({8, 3, 3, 1}), Storage::external, 1);
  const Value y = graph.add(conv_pool(0, false, Activation::relu), {x, w}, "stem")[0];
  for (std::size_t corner : {0, 3, 12, 15}) {
    std::vector<double> pixels(16, 1.0);
    pixels[corner] = std::nan("");
    EXPECT_TRUE(std::isnan(run(graph, {x, w}, {pixels, std::vector<double>(72, 1.0)}, {y})[0][0]))
        << corner;
  }
}

TEST(Conv2dPool, NamesTheLayerAndTheShapes) {
  EXPECT_EQ(inference_error(conv_pool(0, false, Activation::relu),
                            {f32({1, 8, 8, 2}), f32({8, 3, 3, 1})}, "stem"),
            "[conv2d_pool 'stem'] expected 1 input channels; got x=(1, 8, 8, 2), w=(8, 3, 3, 1)");
  const OpPtr gradient = make_op(Conv2dPoolGradInputOp({{}, 14, 14}));
  const ValueType dy = f32({1, 5, 5, 8});
  EXPECT_EQ(inference_error(gradient, {dy, dy, u8({1, 5, 4, 8}), f32({8, 5, 5, 16})}, "stem"),
            "[conv2d_pool_grad_input 'stem'] expected dy=(1, 5, 5, 8); got dy=(1, 5, 5, 8), "
            "y=(1, 5, 5, 8), winner=(1, 5, 4, 8), w=(8, 5, 5, 16)");
}

}  // namespace
}  // namespace linnet::testing
