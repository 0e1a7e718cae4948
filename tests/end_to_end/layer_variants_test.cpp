// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>

#include "fixtures.h"
#include "ops/bin_mean2d/bin_mean2d.h"
#include "ops/conv2d/conv2d.h"
#include "ops/conv_transpose2d/conv_transpose2d.h"
#include "ops/group_norm/group_norm.h"
#include "ops/pool2d/pool2d.h"
#include "ops/unary/unary.h"
#include "temporary_folder.h"

namespace linnet::testing {
namespace {

std::string network_error(Shape sample, std::vector<Layer> layers) {
  try {
    Network(std::move(sample), std::move(layers));
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

Shape output(Shape sample, Layer layer) {
  return Network(std::move(sample), {std::move(layer)}).output_shape();
}

template <class O>
auto settings(const Network& network, std::size_t node = 0) {
  return dynamic_cast<const O&>(*network.definition().graph.nodes().at(node).op).attrs();
}

TEST(LayerVariants, HandOnEverySetting) {
  const auto unary = [](Layer layer) {
    return settings<UnaryOp>(Network({3}, {std::move(layer)}));
  };
  EXPECT_EQ(unary(LeakyReLU{.slope = 0.25}), (UnaryAttrs{Unary::leaky_relu, 0.25}));
  EXPECT_EQ(unary(ELU{.alpha = 0.5}), (UnaryAttrs{Unary::elu, 0.5}));
  EXPECT_EQ(unary(SELU{}), (UnaryAttrs{Unary::selu}));
  EXPECT_EQ(unary(SiLU{}), (UnaryAttrs{Unary::silu}));
  EXPECT_EQ(unary(Softplus{.beta = 3}), (UnaryAttrs{Unary::softplus, 3}));
  EXPECT_EQ(unary(HardSigmoid{}), (UnaryAttrs{Unary::hard_sigmoid}));
  EXPECT_EQ(unary(HardSwish{}), (UnaryAttrs{Unary::hard_swish}));
  EXPECT_EQ(unary(HardTanh{.low = -2, .high = 3}), (UnaryAttrs{Unary::clip, -2, 3}));
  EXPECT_EQ(unary(GELU{.tanh_form = true}), (UnaryAttrs{Unary::gelu_tanh}));

  const Network steps({5, 4, 6}, {LayerNorm{.epsilon = 0.5, .axes = 2}, LayerNorm{},
                                  GroupNorm{.groups = 3, .epsilon = 0.25}});
  EXPECT_EQ(settings<GroupNormOp>(steps, 0),
            (GroupNormAttrs{.epsilon = 0.5, .rows = 2, .channels = 2}));
  EXPECT_EQ(settings<GroupNormOp>(steps, 1), (GroupNormAttrs{.rows = 3}));
  EXPECT_EQ(settings<GroupNormOp>(steps, 2), (GroupNormAttrs{.epsilon = 0.25, .groups = 3}));
  EXPECT_EQ(steps.parameters(), 2 * (24 + 6 + 6));

  const Padding2d fixed{Padding2d::Mode::fixed, 9, 9, 2, 1};
  const Network sequence(
      {12, 4},
      {Conv1d{.filters = 6, .kernel = 3, .stride = 2, .padding = fixed, .dilation = 2, .groups = 2},
       MaxPool1d{.size = 3, .stride = 1, .padding = {Padding2d::Mode::fixed, 9, 9, 1, 0}},
       AvgPool1d{}});
  EXPECT_EQ(
      settings<Conv2dOp>(sequence, 1),
      (Conv2dAttrs{.stride_w = 2, .dilation_w = 2, .groups = 2, .pad_left = 2, .pad_right = 1}));
  EXPECT_EQ(sequence.parameters(), 6 * 3 * 2 + 6);
  EXPECT_EQ(sequence.output_shape(), (Shape{2, 6}));

  const Network up({5, 6, 4}, {ConvTranspose2d{.filters = 6,
                                               .kernel = {3, 2},
                                               .stride = {2, 3},
                                               .padding = {Padding2d::Mode::fixed, 1, 0, 0, 1},
                                               .output_padding = {1, 2},
                                               .dilation = {2, 1},
                                               .groups = 2}});
  EXPECT_EQ(up.output_shape(), (Shape{13, 18, 6}));
  EXPECT_EQ(up.parameters(), 4 * 3 * 2 * 3 + 6);
  EXPECT_EQ(settings<ConvTranspose2dOp>(up), (Conv2dGradInputAttrs{{.stride_h = 2,
                                                                    .stride_w = 3,
                                                                    .dilation_h = 2,
                                                                    .groups = 2,
                                                                    .pad_top = 1,
                                                                    .pad_right = 1},
                                                                   13,
                                                                   18}));

  const Network separable({8, 8, 3}, {SeparableConv2d{.filters = 5,
                                                      .stride = 2,
                                                      .padding = Padding2d::same(),
                                                      .multiplier = 2,
                                                      .name = "s"}});
  EXPECT_EQ(separable.output_shape(), (Shape{4, 4, 5}));
  EXPECT_EQ(separable.parameters(), 6 * 9 + 6 * 5 + 5);
  EXPECT_EQ(Model(separable).parameter_names(),
            (std::vector<std::string>{"s.depthwise.weight", "s.pointwise.weight",
                                      "s.pointwise.bias"}));

  const Network bins({7, 9, 2}, {AdaptiveAvgPool2d{.output = {3, 4}},
                                 AvgPool2d{.size = {3, 2},
                                           .stride = 1,
                                           .padding = {Padding2d::Mode::fixed, 1, 2, 0, 1},
                                           .count_include_pad = false}});
  EXPECT_EQ(settings<BinMean2dOp>(bins, 0), (BinMean2dAttrs{.out_h = 3, .out_w = 4}));
  EXPECT_EQ(settings<BinMean2dOp>(bins, 1),
            (BinMean2dAttrs{.out_h = 4, .out_w = 4, .size_h = 3, .size_w = 2, .pad_top = 1}));
}

/// A dense layer on images is a convolution of one pixel: it applies to the last axis.
TEST(LayerVariants, DenseAppliesToTheLastAxis) {
  EXPECT_EQ(output({4, 6, 3}, Dense{.units = 5}), (Shape{4, 6, 5}));
  EXPECT_EQ(output({2, 4, 6, 3}, Dense{.units = 5}), (Shape{2, 4, 6, 5}));
  Model dense(Network({4, 6, 3}, {Dense{.units = 5}, Flatten{}, Dense{.units = 2}}),
              {.device = "cpu", .seed = 2});
  Model pixels(Network({4, 6, 3},
                       {Conv2d{.filters = 5, .kernel = 1}, Flatten{}, Dense{.units = 2}}),
               {.device = "cpu", .seed = 2});
  set_parameter(pixels, "conv2d_1.weight", parameter(dense, "dense_1.weight"));
  set_parameter(pixels, "dense_1.weight", parameter(dense, "dense_2.weight"));
  std::vector<float> x(std::size_t{10} * 4 * 6 * 3);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = std::sin(static_cast<float>(i));
  std::vector<std::int32_t> labels(10);
  for (std::size_t i = 0; i < labels.size(); ++i) labels[i] = static_cast<std::int32_t>(i % 2);
  const Dataset data = data_of(records(std::move(x), {4, 6, 3}), Tensor(std::move(labels)));
  Trainer(dense, {.optimizer = SGD{.learning_rate = 0.1}}).fit(data, {.epochs = 3, .batch = 5});
  Trainer(pixels, {.optimizer = SGD{.learning_rate = 0.1}}).fit(data, {.epochs = 3, .batch = 5});
  const std::vector<float> a = vector_of(dense.predict(data));
  const std::vector<float> b = vector_of(pixels.predict(data));
  for (std::size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i], b[i], 1e-5);
  const TemporaryFolder folder;
  const std::string file = (folder.path() / "m.safetensors").string();
  dense.save(file);
  EXPECT_EQ(vector_of(Model::load(file, {.device = "cpu"}).predict(data)), a);
}

TEST(LayerVariants, TransposedConvolutionsHavePyTorchsDims) {
  EXPECT_EQ(
      output({4, 4, 1},
             ConvTranspose2d{.filters = 2, .kernel = 4, .stride = 2, .padding = Padding2d::all(1)}),
      (Shape{8, 8, 2}));
  EXPECT_EQ(output({4, 4, 1}, ConvTranspose2d{.filters = 2,
                                              .stride = 2,
                                              .padding = Padding2d::all(1),
                                              .output_padding = 1}),
            (Shape{8, 8, 2}));
  EXPECT_EQ(output({4, 4, 1}, ConvTranspose2d{.filters = 2}), (Shape{6, 6, 2}));
  for (std::int64_t stride : {1, 2, 3}) {
    for (std::int64_t kernel : {1, 2, 3, 4}) {
      EXPECT_EQ(output({4, 5, 1}, ConvTranspose2d{.filters = 2,
                                                  .kernel = kernel,
                                                  .stride = stride,
                                                  .padding = Padding2d::same()}),
                (Shape{4 * stride, 5 * stride, 2}));
    }
  }
}

TEST(LayerVariants, ErrorsNameTheLayerAndTheShapes) {
  EXPECT_EQ(network_error({4, 3}, {GroupNorm{.groups = 2}}),
            "[group_norm 'group_norm_1'] expected groups that divide 3 channels; got 2");
  EXPECT_EQ(network_error({4, 3}, {LayerNorm{.axes = 3}}),
            "[layer_norm 'layer_norm_1'] expected 1 to 2 axes of (N, 4, 3); got 3");
  EXPECT_EQ(network_error({4, 3}, {LayerNorm{.epsilon = 0}}),
            "[layer_norm 'layer_norm_1'] expected epsilon to be above 0; got 0");
  EXPECT_EQ(network_error({4, 3}, {GroupNorm{.epsilon = -1}}),
            "[group_norm 'group_norm_1'] expected epsilon to be above 0; got -1");
  EXPECT_EQ(network_error({4, 4, 3}, {Conv1d{.filters = 2}}),
            "[conv1d 'conv1d_1'] expected sequences (N, T, C); got (N, 4, 4, 3)");
  EXPECT_EQ(network_error({4, 3}, {Conv1d{.filters = 2, .groups = 2}}),
            "[conv1d 'conv1d_1'] expected groups that divide 3 channels and 2 filters; got 2");
  EXPECT_EQ(network_error({4}, {MaxPool1d{}}),
            "[max_pool1d 'max_pool1d_1'] expected sequences (N, T, C); got (N, 4)");
  EXPECT_EQ(network_error({4, 3}, {ConvTranspose2d{.filters = 2}}),
            "[conv_transpose2d 'conv_transpose2d_1'] expected images (N, H, W, C); got (N, 4, 3)");
  EXPECT_EQ(network_error({4, 4, 3},
                          {ConvTranspose2d{.filters = 2, .stride = 2, .output_padding = 2}}),
            "[conv_transpose2d 'conv_transpose2d_1'] expected an output padding below the strides "
            "(2, 2), and none with padding \"same\"; got (2, 2)");
  EXPECT_EQ(network_error({1, 4, 3}, {ConvTranspose2d{
                                         .filters = 2, .kernel = 2, .padding = Padding2d::all(1)}}),
            "[conv_transpose2d 'conv_transpose2d_1'] expected padding smaller than the output of "
            "(N, 1, 4, 3); got top 1, bottom 1, left 1, right 1");
  EXPECT_EQ(network_error({4, 4, 3}, {SeparableConv2d{.filters = 2, .multiplier = 0}}),
            "[separable_conv2d 'separable_conv2d_1'] expected multiplier to be at least 1; got 0");
  EXPECT_EQ(network_error({4, 4, 3}, {AdaptiveAvgPool2d{.output = 0}}),
            "[adaptive_avg_pool2d 'adaptive_avg_pool2d_1'] expected output to be at least 1; "
            "got 0");
  EXPECT_EQ(network_error({4, 4, 3}, {AvgPool2d{.size = 2,
                                                .padding = Padding2d::all(2),
                                                .count_include_pad = false}}),
            "[avg_pool2d 'avg_pool2d_1'] expected padding smaller than the window and a window "
            "that fits; got a window of 2, padding 2 and 2, an input of 4");
  EXPECT_EQ(network_error({4}, {Softplus{.beta = -1}}),
            "[softplus 'softplus_1'] expected beta to be above 0; got -1");
  EXPECT_EQ(network_error({4}, {HardTanh{.low = 1, .high = 0}}),
            "[hard_tanh 'hard_tanh_1'] expected a low bound not above the high one; got 1 and 0");
}

/// Every layer of this file that trains or that gradients go through.
Network every_variant() {
  return Network(
      {8, 8, 1},
      {Rescale{},
       ConvTranspose2d{.filters = 4, .kernel = 4, .stride = 2, .padding = Padding2d::all(1)},
       GroupNorm{.groups = 2}, LeakyReLU{},
       SeparableConv2d{.filters = 6, .stride = 2, .padding = Padding2d::same()}, SiLU{},
       LayerNorm{},
       AvgPool2d{.size = 3, .stride = 2, .padding = Padding2d::all(1), .count_include_pad = false},
       AdaptiveAvgPool2d{.output = 3}, GELU{.tanh_form = true}, Reshape{.sample = {9, 6}},
       Conv1d{.filters = 8, .padding = Padding2d::same()}, HardSwish{}, MaxPool1d{}, ELU{},
       AvgPool1d{}, Softplus{}, Flatten{}, Dense{.units = 10}});
}

TEST(LayerVariants, TrainToTheSameBitsOnAnyThreads) {
  const Dataset digits = datasets::digits(60, 0, 5).train;
  const auto pixels = first_input(digits).as<std::uint8_t>().first(60 * 64);
  const Dataset data = data_of(Tensor::borrow(pixels, {60, 8, 8, 1}), first_target(digits));
  const std::vector<float> weights = weights_after(every_variant(), data, {.threads = 1});
  EXPECT_EQ(weights, weights_after(every_variant(), data, {.threads = 2}));
  EXPECT_EQ(weights, weights_after(every_variant(), data, {.threads = 2, .checked = true}));
  for (float weight : weights) ASSERT_TRUE(std::isfinite(weight));
}

TEST(LayerVariants, JsonKeepsEverything) {
  const Network network = every_variant();
  EXPECT_EQ(Network::from_json(network.to_json()).to_json(), network.to_json());
}

}  // namespace
}  // namespace linnet::testing
