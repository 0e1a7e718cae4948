// SPDX-License-Identifier: Apache-2.0
#include "convert/layouts.h"

#include <gtest/gtest.h>
#include <linnet/layers.h>
#include <linnet/network.h>

#include <numeric>

namespace linnet {
namespace {

using Kind = WeightLayer::Kind;
using Floats = std::vector<float>;

constexpr NameRule kPlain{"a", "a", "a", "a"};

Tensor counted(const Shape& shape) {
  Floats values(static_cast<std::size_t>(shape.elements()));
  std::iota(values.begin(), values.end(), 0.0F);
  return {std::move(values), shape};
}

Floats values(const Tensor& tensor) {
  return {tensor.as<float>().begin(), tensor.as<float>().end()};
}

/// Theirs of ours, after the way back gave ours again.
Tensor there_and_back(const TheirTensor& tensor, const std::vector<Tensor>& ours) {
  const Tensor theirs = tensor.to_theirs(ours);
  EXPECT_EQ(theirs.shape().elements(), tensor.shape.elements());
  const std::vector<Tensor> back = tensor.to_ours(theirs);
  EXPECT_EQ(back.size(), ours.size());
  for (std::size_t i = 0; i < back.size(); ++i) EXPECT_EQ(values(back[i]), values(ours[i]));
  return theirs;
}

TEST(Layouts, ConvolutionsOfPyTorchAndKeras) {
  const WeightLayer layer{.name = "c",
                          .kind = Kind::conv,
                          .weights = {{"weight", {2, 1, 2, 3}}},
                          .roles = {"weight"},
                          .first_conv = true};
  const Tensor ours = counted({2, 1, 2, 3});  // filters, height, width, channels
  const TheirTensor torch = their_tensors(layer, WeightNames::torchvision, kPlain, false)[0];
  EXPECT_EQ(torch.role, "weight");
  EXPECT_EQ(torch.shape, (Shape{2, 3, 1, 2}));
  EXPECT_EQ(values(there_and_back(torch, {ours})), (Floats{0, 3, 1, 4, 2, 5, 6, 9, 7, 10, 8, 11}));
  const TheirTensor keras = their_tensors(layer, WeightNames::keras, kPlain, false)[0];
  EXPECT_EQ(keras.role, "kernel");
  EXPECT_EQ(keras.shape, (Shape{1, 2, 3, 2}));
  EXPECT_EQ(values(there_and_back(keras, {ours})), (Floats{0, 6, 1, 7, 2, 8, 3, 9, 4, 10, 5, 11}));
  const TheirTensor bgr = their_tensors(layer, WeightNames::keras, kPlain, true)[0];
  EXPECT_EQ(values(there_and_back(bgr, {ours})), (Floats{2, 8, 1, 7, 0, 6, 5, 11, 4, 10, 3, 9}));
}

/// Three filters over two planes of (1, 2) pixels with two channels, and what is flattened after.
TEST(Layouts, ConvolutionsOfVolumes) {
  const Network network({2, 1, 2, 2}, {Conv3d{.filters = 3, .kernel = {2, 1, 2}, .name = "c"},
                                       Conv3d{.filters = 2, .kernel = 1, .name = "e"}, Flatten{},
                                       Dense{.units = 1}});
  const std::vector<WeightLayer> layers = weight_layers(network.definition());
  EXPECT_EQ(layers.at(0).planes, 2);
  EXPECT_EQ(layers.at(1).planes, 1);
  EXPECT_EQ(layers.at(2).planes, 0);
  EXPECT_EQ(layers.at(2).flattened, (Shape{1, 1, 1, 2}));
  const Tensor ours = counted({3, 1, 2, 4});  // filters, height, width, planes and channels
  const TheirTensor torch = their_tensors(layers[0], WeightNames::torchvision, kPlain, false)[0];
  EXPECT_EQ(torch.shape, (Shape{3, 2, 2, 1, 2}));  // filters, channels, planes, height, width
  EXPECT_EQ(values(there_and_back(torch, {ours})),
            (Floats{0, 4,  2,  6,  1,  5,  3,  7,  8,  12, 10, 14,
                    9, 13, 11, 15, 16, 20, 18, 22, 17, 21, 19, 23}));
  const TheirTensor keras = their_tensors(layers[0], WeightNames::keras, kPlain, false)[0];
  EXPECT_EQ(keras.shape, (Shape{2, 1, 2, 2, 3}));  // planes, height, width, channels, filters
  EXPECT_EQ(values(there_and_back(keras, {ours})),
            (Floats{0, 8,  16, 1, 9,  17, 4, 12, 20, 5, 13, 21,
                    2, 10, 18, 3, 11, 19, 6, 14, 22, 7, 15, 23}));
  const WeightLayer dense{.name = "d",
                          .kind = Kind::dense,
                          .weights = {{"weight", {1, 12}}},
                          .roles = {"weight"},
                          .flattened = {1, 3, 2, 2}};
  EXPECT_EQ(values(there_and_back(their_tensors(dense, WeightNames::torchvision, kPlain, false)[0],
                                  {counted({1, 12})})),
            (Floats{0, 2, 4, 6, 8, 10, 1, 3, 5, 7, 9, 11}));
}

TEST(Layouts, DenseAfterFlatten) {
  WeightLayer layer{.name = "d",
                    .kind = Kind::dense,
                    .weights = {{"weight", {1, 12}}},
                    .roles = {"weight"},
                    .flattened = {2, 3, 2}};
  const Tensor ours = counted({1, 12});  // of (height, width, channels)
  const Floats by_channel{0, 2, 4, 6, 8, 10, 1, 3, 5, 7, 9, 11};
  const TheirTensor torch = their_tensors(layer, WeightNames::torchvision, kPlain, false)[0];
  EXPECT_EQ(torch.shape, (Shape{1, 12}));
  EXPECT_EQ(values(there_and_back(torch, {ours})), by_channel);
  NameRule conv = kPlain;
  conv.conv_in_timm = true;
  const TheirTensor timm = their_tensors(layer, WeightNames::timm, conv, false)[0];
  EXPECT_EQ(timm.shape, (Shape{1, 2, 2, 3}));
  EXPECT_EQ(values(there_and_back(timm, {ours})), by_channel);
  // Keras flattens as we do, and has the units last.
  layer.weights["weight"] = {3, 2};
  const TheirTensor keras = their_tensors(layer, WeightNames::keras, kPlain, false)[0];
  EXPECT_EQ(keras.shape, (Shape{2, 3}));
  EXPECT_EQ(values(there_and_back(keras, {counted({3, 2})})), (Floats{0, 2, 4, 1, 3, 5}));
  layer.flattened = {};
  const TheirTensor later = their_tensors(layer, WeightNames::timm, conv, false)[0];
  EXPECT_EQ(later.shape, (Shape{3, 2, 1, 1}));
  EXPECT_EQ(values(later.to_theirs(std::vector{counted({3, 2})})), (Floats{0, 1, 2, 3, 4, 5}));
}

WeightLayer recurrent(Kind kind, std::int64_t gates) {
  return {.name = "r",
          .kind = kind,
          .weights = {{"weight_ih_l0", {gates, 2}},
                      {"weight_hh_l0", {gates, 1}},
                      {"bias_ih_l0", {gates}},
                      {"bias_hh_l0", {gates}}},
          .roles = {"weight_ih_l0", "weight_hh_l0", "bias_ih_l0", "bias_hh_l0"}};
}

TEST(Layouts, GatesOfKerasGru) {
  const auto tensors = their_tensors(recurrent(Kind::gru, 3), WeightNames::keras, kPlain, false);
  ASSERT_EQ(tensors.size(), 3U);
  EXPECT_EQ(tensors[0].role, "kernel");
  EXPECT_EQ(tensors[0].shape, (Shape{2, 3}));
  // Ours: r (0, 1), z (2, 3), n (4, 5); theirs: columns z, r, n.
  EXPECT_EQ(values(there_and_back(tensors[0], {counted({3, 2})})), (Floats{2, 0, 4, 3, 1, 5}));
  EXPECT_EQ(values(there_and_back(tensors[1], {counted({3, 1})})), (Floats{1, 0, 2}));
  EXPECT_EQ(tensors[2].shape, (Shape{2, 3}));
  const Tensor hidden(Floats{10, 11, 12}, {3});
  EXPECT_EQ(values(there_and_back(tensors[2], {counted({3}), hidden})),
            (Floats{1, 0, 2, 11, 10, 12}));
}

TEST(Layouts, GatesOfKerasLstm) {
  const auto tensors = their_tensors(recurrent(Kind::lstm, 4), WeightNames::keras, kPlain, false);
  EXPECT_EQ(values(there_and_back(tensors[0], {counted({4, 2})})),
            (Floats{0, 2, 4, 6, 1, 3, 5, 7}));
  EXPECT_EQ(tensors[2].shape, Shape{4});
  EXPECT_EQ(values(tensors[2].to_theirs(std::vector{counted({4}), counted({4})})),
            (Floats{0, 2, 4, 6}));
  const std::vector<Tensor> ours = tensors[2].to_ours(counted({4}));
  EXPECT_EQ(values(ours[0]), (Floats{0, 1, 2, 3}));
  EXPECT_EQ(values(ours[1]), (Floats{0, 0, 0, 0}));
}

}  // namespace
}  // namespace linnet
