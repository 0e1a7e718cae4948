// SPDX-License-Identifier: Apache-2.0
#include "config/layers.h"

#include <gtest/gtest.h>
#include <linnet/layers.h>
#include <linnet/network.h>

#include <algorithm>

namespace linnet::command {
namespace {

/// A network of the layers in an array of TOML tables, which may go over several lines here.
std::string described(const Shape& sample, std::string layers) {
  std::replace(layers.begin(), layers.end(), '\n', ' ');
  const toml::table file = toml::parse("layers = [" + layers + "]");
  std::vector<Layer> read;
  for (const toml::node& layer : *file["layers"].as_array()) {
    const LayerReader reader("test.toml", nullptr);
    read.push_back(reader.read(setting_from(layer, "test.toml"), "layers"));
  }
  return Network(sample, std::move(read)).to_json();
}

std::string built(const Shape& sample, std::vector<Layer> layers) {
  return Network(sample, std::move(layers)).to_json();
}

TEST(ConfigLayers, ActivationsTakeEveryKey) {
  EXPECT_EQ(described({3}, R"({type = "leaky_relu", slope = 0.25}, {type = "elu", alpha = 0.5},
                              {type = "selu"}, {type = "silu", name = "s"},
                              {type = "softplus", beta = 3},
                              {type = "hard_sigmoid"}, {type = "hard_swish"},
                              {type = "hard_tanh", low = -2, high = 3},
                              {type = "gelu"}, {type = "gelu", tanh_form = true})"),
            built({3}, {LeakyReLU{.slope = 0.25}, ELU{.alpha = 0.5}, SELU{}, SiLU{.name = "s"},
                        Softplus{.beta = 3}, HardSigmoid{}, HardSwish{},
                        HardTanh{.low = -2, .high = 3}, GELU{}, GELU{.tanh_form = true}}));
}

TEST(ConfigLayers, NormalisationsTakeEveryKey) {
  EXPECT_EQ(described({5, 4}, R"({type = "layer_norm", epsilon = 0.5, axes = 2, name = "n"},
                                 {type = "group_norm", groups = 2, epsilon = 0.25})"),
            built({5, 4}, {LayerNorm{.epsilon = 0.5, .axes = 2, .name = "n"},
                           GroupNorm{.groups = 2, .epsilon = 0.25}}));
}

TEST(ConfigLayers, ConvolutionsTakeEveryKey) {
  EXPECT_EQ(described({9, 7, 4},
                      R"({type = "conv_transpose2d", filters = 6, kernel = [3, 2], stride = [2, 3],
                                     padding = 1, output_padding = [1, 2], dilation = [2, 1],
                                     groups = 2, bias = false,
                                     weight_init = "he_normal"},
                                    {type = "separable_conv2d", filters = 4, kernel = 2, stride = 2,
                                     padding = "same",
                                     multiplier = 2, bias_init = 0.5})"),
            built({9, 7, 4}, {ConvTranspose2d{.filters = 6,
                                              .kernel = {3, 2},
                                              .stride = {2, 3},
                                              .padding = Padding2d::all(1),
                                              .output_padding = {1, 2},
                                              .dilation = {2, 1},
                                              .groups = 2,
                                              .bias = false,
                                              .weight_init = {Initializer::Kind::he_normal, 0}},
                              SeparableConv2d{.filters = 4,
                                              .kernel = 2,
                                              .stride = 2,
                                              .padding = Padding2d::same(),
                                              .multiplier = 2,
                                              .bias_init = {Initializer::Kind::constant, 0.5}}}));
}

TEST(ConfigLayers, SequencesAndPoolsTakeEveryKey) {
  EXPECT_EQ(described({20, 4},
                      R"({type = "conv1d", filters = 6, kernel = 2, stride = 2, padding = 1,
                                   dilation = 3, groups = 2, bias = false},
                                  {type = "max_pool1d", size = 3, stride = 1, padding = "same"},
                                  {type = "avg_pool1d", size = 3})"),
            built({20, 4}, {Conv1d{.filters = 6,
                                   .kernel = 2,
                                   .stride = 2,
                                   .padding = Padding2d::all(1),
                                   .dilation = 3,
                                   .groups = 2,
                                   .bias = false},
                            MaxPool1d{.size = 3, .stride = 1, .padding = Padding2d::same()},
                            AvgPool1d{.size = 3}}));
  EXPECT_EQ(described({9, 9, 2}, R"({type = "adaptive_avg_pool2d", output = [5, 7]},
                                    {type = "avg_pool2d", size = 3, stride = 2, padding = 1,
                                     count_include_pad = false})"),
            built({9, 9, 2},
                  {AdaptiveAvgPool2d{.output = {5, 7}}, AvgPool2d{.size = 3,
                                                                  .stride = 2,
                                                                  .padding = Padding2d::all(1),
                                                                  .count_include_pad = false}}));
}

}  // namespace
}  // namespace linnet::command
