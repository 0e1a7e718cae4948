// SPDX-License-Identifier: Apache-2.0
#include <linnet/expression.h>
#include <linnet/layers.h>
#include <linnet/zoo.h>

#include "fuzz/seeds.h"
#include "networks/networks.h"

namespace linnet::fuzz {
namespace {

Network two_of_each() {
  FunctionalNetwork functional;
  const Expression image = functional.input("image", {4, 4, 2});
  const Expression age = functional.input("age", {3});
  const Expression features = image | Conv2d{.filters = 3} | ReLU{} | Flatten{} | Dense{.units = 4};
  const Expression all = concat({features, age}, 0);
  return functional.build({{"class", all | Dense{.units = 3}}, {"features", features}});
}

Network operators() {
  FunctionalNetwork functional;
  const Expression x = functional.input("x", {2, 3});
  const Expression turned = transpose(x, {1, 0}) | Reshape{{2, 3}};
  const Expression parts = concat({slice(x, 1, 0, 2), slice(turned, 1, 1, 3)}, 1);
  const Expression y = square(parts) + exp(clip(parts, -1, 1)) * 0.5 - log(abs(parts) + 1);
  const Expression z = maximum(sqrt(y), sin(parts)) / (cos(parts) + 2) + pow(abs(parts), 1.5);
  return functional.build({{"y", sum(z, {1}) + mean(z, {1}) - max(z, {1}) * min(z, {1})}});
}

}  // namespace

std::vector<std::pair<std::string, Network>> seed_networks() {
  const std::vector<Layer> activations{Dense{4},    LeakyReLU{}, ELU{},    SELU{},
                                       SiLU{},      Softplus{},  GELU{},   HardSigmoid{},
                                       HardSwish{}, HardTanh{},  Tanh{},   Sigmoid{},
                                       Dropout{},   Dense{3},    Softmax{}};
  return {
      {"dense", Network({4}, {Dense{.units = 6}, ReLU{}, Dense{.units = 3}})},
      {"image", workloads::mnist_cnn({.sample = {8, 8, 1}, .classes = 3})},
      {"batch_norm",
       Network({6, 6, 3}, {Rescale{}, Conv2d{.filters = 4, .bias = false}, BatchNorm{}, ReLU{},
                           MaxPool2d{}, Flatten{}, Dense{.units = 3}})},
      {"pools",
       Network({9, 8, 2}, {AvgPool2d{.size = 3, .stride = 1}, AdaptiveAvgPool2d{.output = 4},
                           MaxPool2d{.padding = Padding2d::same()}, GlobalAvgPool2d{}})},
      {"convolutions", Network({6, 5, 4}, {ConvTranspose2d{.filters = 4, .stride = 2, .groups = 2},
                                           SeparableConv2d{.filters = 3}, GroupNorm{.groups = 3},
                                           GlobalMaxPool2d{}})},
      {"branches",
       Network({5, 5, 3},
               {Normalize{{0.4, 0.5, 0.6}, {0.2, 0.3, 0.4}},
                Residual{{Conv2d{.filters = 3, .padding = Padding2d::same()}, BatchNorm{}, ReLU{}}},
                Concat{{{}, {Conv2d{.filters = 2, .padding = Padding2d::same()}}}}, Flatten{},
                Dense{.units = 2}})},
      {"activations", Network({5}, activations)},
      {"sequence",
       Network({8, 3}, {Conv1d{.filters = 4}, MaxPool1d{}, AvgPool1d{},
                        LSTM{.units = 3, .return_sequences = true}, SimpleRNN{.units = 2}})},
      {"texts", zoo::gru_text({.steps = 6, .vocabulary = 9, .features = 3, .units = 4})},
      {"both_ways", Network({5},
                            {Embedding{.vocabulary = 8, .features = 3},
                             Bidirectional{LSTM{.units = 2}}, LogSoftmax{}},
                            DType::i32)},
      {"attention",
       Network({4, 6}, {PositionalEmbedding{}, LayerNorm{},
                        TransformerEncoderLayer{.heads = 2, .feed_forward = 5, .causal = true},
                        Flatten{}, Dense{.units = 1}})},
      {"two_of_each", two_of_each()},
      {"operators", operators()},
  };
}

}  // namespace linnet::fuzz
