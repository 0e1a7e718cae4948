// SPDX-License-Identifier: Apache-2.0
#include "fusions/int8/conv2d_int8.h"

#include <gtest/gtest.h>

#include "op_harness.h"

namespace linnet::testing {
namespace {

struct Options {
  std::int64_t stride = 1;
  std::int64_t pad = 0;
  bool bias = false;
  bool norm = false;
  Activation f = Activation::none;
  int residual = 0;  ///< 1: f32, 2: levels
  bool to_levels = false;
};

void check_conv(const std::string& name, const Shape& x, const Shape& w, const Options& o) {
  Conv2dInt8Attrs attrs;
  attrs.conv = {.stride_h = o.stride,
                .stride_w = o.stride,
                .pad_top = o.pad,
                .pad_bottom = o.pad,
                .pad_left = o.pad,
                .pad_right = o.pad,
                .bias = o.bias,
                .activation = o.f};
  attrs.x = {.scale = 0.01, .zero = 37};
  attrs.norm = o.norm;
  attrs.epsilon = 1e-3;
  attrs.residual = o.residual != 0;
  attrs.residual_u8 = o.residual == 2;
  attrs.residual_levels = {.scale = 0.02, .zero = 99};
  attrs.to_levels = o.to_levels;
  attrs.y = {.scale = 0.05, .zero = 60};
  const Conv2dInt8Op op(attrs);
  const ConvShape s = op.shape(x, w);
  const Shape y = x.rank() == 2 ? Shape{s.n, s.co} : Shape{s.n, s.oh, s.ow, s.co};
  std::vector<ValueType> inputs{u8(x), f32(w)};
  std::vector<Fill> fills{{0, 256}, {-0.2, 0.2}};
  const auto add = [&](ValueType type, Fill fill) {
    inputs.push_back(std::move(type));
    fills.push_back(fill);
  };
  if (o.bias) add(f32({s.co}), {-1, 1});
  for (int i = 0; o.norm && i < Conv2dInt8Op::kNormOperands; ++i) {
    add(f32({s.co}), i == Conv2dInt8Op::running_var ? Fill{0.5, 2} : Fill{-1, 1});
  }
  if (o.residual == 1) add(f32(y), {-1, 1});
  if (o.residual == 2) add(u8(y), {0, 256});
  // A sum near the middle between two levels may go either way.
  const double tolerance = o.to_levels ? 1.001 / 255 : 2e-5;
  check({.name = name,
         .op = make_op(op),
         .inputs = inputs,
         .fills = fills,
         .gradient = false,
         .tolerance = tolerance,
         .devices = {"CPU"}});
}

TEST(Conv2dInt8, AgreesWithTheReference) {
  check_conv("int8 3x3", {2, 9, 7, 5}, {6, 3, 3, 5}, {.pad = 1});
  check_conv("int8 3x3 of 16", {3, 8, 8, 16}, {16, 3, 3, 16}, {.pad = 1, .norm = true});
  check_conv("int8 stem", {2, 33, 31, 3}, {40, 7, 7, 3},
             {.stride = 2, .pad = 3, .bias = true, .f = Activation::relu, .to_levels = true});
  check_conv("int8 1x1", {2, 7, 7, 64}, {96, 1, 1, 64}, {.norm = true, .residual = 1});
  check_conv("int8 1x1/2", {2, 8, 8, 32}, {64, 1, 1, 32},
             {.stride = 2, .norm = true, .to_levels = true});
  check_conv("int8 block", {4, 8, 8, 64}, {64, 3, 3, 64},
             {.pad = 1, .norm = true, .f = Activation::relu, .residual = 2, .to_levels = true});
  check_conv("int8 on one pixel", {5, 1, 1, 33}, {50, 3, 3, 33}, {.pad = 1, .bias = true});
  check_conv("int8 gelu", {2, 9, 7, 5}, {6, 3, 3, 5},
             {.pad = 1, .norm = true, .f = Activation::gelu, .residual = 1});
  check_conv("int8 wide", {1, 7, 7, 256}, {512, 3, 3, 256}, {.pad = 1, .norm = true});
}

TEST(Conv2dInt8, DenseAgreesWithTheReference) {
  check_conv("int8 dense", {9, 30}, {10, 30}, {.bias = true});
  check_conv("int8 dense of one", {1, 1000}, {1000, 1000}, {.bias = true, .f = Activation::relu});
  check_conv("int8 dense tanh", {200, 70}, {130, 70}, {.bias = true, .f = Activation::tanh});
  check_conv("int8 dense levels", {300, 129}, {65, 129}, {.bias = true, .to_levels = true});
}

TEST(Conv2dInt8, NamesTheLayerAndTheShapes) {
  EXPECT_EQ(inference_error(make_op(Conv2dInt8Op()), {u8({1, 4, 4, 3}), f32({8, 3, 3, 5})}, "stem"),
            "[conv2d_int8 'stem'] expected 5 input channels; got x=(1, 4, 4, 3), w=(8, 3, 3, 5)");
  EXPECT_EQ(
      inference_error(make_op(Conv2dInt8Op()), {f32({1, 4, 4, 3}), f32({8, 3, 3, 3})}, "stem"),
      "[conv2d_int8 'stem'] expected x of u8 and w of f32; got x=(1, 4, 4, 3), w=(8, 3, 3, 3)");
}

}  // namespace
}  // namespace linnet::testing
