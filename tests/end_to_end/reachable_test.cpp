// SPDX-License-Identifier: Apache-2.0
// Every operator that networks may hold is reached by a function on expressions or by a layer.
#include <gtest/gtest.h>
#include <linnet/linnet.h>

#include <set>

#include "fixtures.h"
#include "graph/registry.h"
#include "networks/networks.h"
#include "nn/definition.h"
#include "ops/ops.h"

namespace linnet::testing {
namespace {

void collect(std::set<std::string>& names, const Network& network) {
  for (const Node& node : network.definition().graph.nodes()) names.emplace(node.op->name());
}

/// Returns what the library's layers come to.
std::set<std::string> reached_by_layers() {
  std::set<std::string> names;
  collect(names, every_layer());
  collect(names, Network({12, 12, 2}, {Normalize{{0, 1}, {1, 2}}, GroupNorm{.groups = 2},
                                       ConvTranspose2d{.filters = 2}, AvgPool2d{},
                                       AdaptiveAvgPool2d{.output = 3}, GlobalMaxPool2d{}}));
  collect(names, Network({5, 6}, {Lengths{}, MultiHeadAttention{.heads = 2, .causal = true},
                                  GlobalAvgPool1d{}, Dropout{}, LeakyReLU{}, LogSoftmax{}}));
  collect(names, Network({5, 6}, {Lengths{}, Bidirectional{GRU{.units = 4}}}));
  collect(names, Network({2, 2, 3}, {GlobalAvgPool2d{}}));
  FunctionalNetwork ids;
  const Expression x = ids.input("x", {4}, DType::i32);
  collect(names, ids.build({{"y", x | Embedding{.vocabulary = 5, .features = 3} | Flatten{}}}));
  return names;
}

/// Returns what functions with operands of every kind come to.
std::set<std::string> reached_by_functions() {
  std::set<std::string> names;
  FunctionalNetwork f;
  const Expression x = f.input("x", {4, 4});
  const Expression image = f.input("image", {4, 4, 2});
  const Expression ids = f.input("ids", {3}, DType::i32);
  const Layer weighted = CustomLayer{"weighted", [](const Expression& v, LayerWeights& weights) {
                                       const Expression w = weights.add("w", {4, 4});
                                       const Expression k = weights.add("k", {2, 3, 3, 2});
                                       return conv2d(v, k) + sum(linear(w, w)) + w;
                                     }};
  const std::vector<Expression> all{x * x + 1,
                                    tanh(exp(x)),
                                    where(x < 0, x, 0),
                                    softmax(log_softmax(x)),
                                    cumsum(x, 0),
                                    flip(x, 0),
                                    concat({slice(x, 0, 1), pad(x, 0, 1, 1)}, 0),
                                    gather(x, ids),
                                    one_hot(argmax(x), 3),
                                    one_hot(to_ids(x), 3),
                                    matmul(x, transpose(x, {1, 0})),
                                    causal_mask(x),
                                    dropout(x, 0.5),
                                    expand(x, {2, 4, 4}),
                                    max_pool2d(image, 2),
                                    avg_pool2d(image, 2),
                                    resize2d(image, 8),
                                    f.normal({2}),
                                    f.uniform({2}),
                                    reshape(sum(x, {0}), {2, 2})};
  std::vector<std::pair<std::string, Expression>> outputs;
  for (const Expression& y : all) outputs.emplace_back(std::to_string(outputs.size()), y);
  collect(names, f.build(outputs));
  return names;
}

std::set<std::string> reached_by_derivatives() {
  std::set<std::string> names;
  FunctionalNetwork f;
  const Expression x = f.input("x", {4});
  const Expression steps = f.input("steps", {5, 4});
  const Expression image = f.input("image", {4, 4, 2});
  const Expression ids = f.input("ids", {3}, DType::i32);
  const Expression pooled = image | Conv2d{.filters = 2, .kernel = 1} | AvgPool2d{};
  const std::vector<std::pair<Expression, Expression>> all{
      {tanh(x) + exp(x) + softmax(x) + log_softmax(x), x},
      {x | Dense{.units = 2}, x},
      {sum(steps, {0}) * max(steps, {0}) + slice(steps, 0, 1, 2), steps},
      {slice(steps, 0, 0, 5, 2), steps},
      {gather(steps, ids), steps},
      {resize2d(pooled, 5) | GlobalAvgPool2d{}, image},
      {image | AdaptiveAvgPool2d{.output = 3}, image}};
  std::vector<std::pair<std::string, Expression>> outputs;
  for (const auto& [y, by] : all) {
    outputs.emplace_back(std::to_string(outputs.size()), gradient(y, by));
  }
  collect(names, f.build(outputs));
  return names;
}

std::set<std::string> reached_by_quantize() {
  std::set<std::string> names;
  const Model model(workloads::mnist_cnn(), {.device = "cpu"});
  collect(names, quantize(model, datasets::digits(20, 0, 4).train).network());
  return names;
}

TEST(Operators, OfNetworksAreReachedByAFunctionOrALayer) {
  const std::set<std::string> layers = reached_by_layers();
  const std::set<std::string> functions = reached_by_functions();
  const std::set<std::string> quantized = reached_by_quantize();
  const std::set<std::string> derived = reached_by_derivatives();
  const std::set<std::string> imported{"arc", "power"};  // of ONNX files alone
  EXPECT_GT(all_ops().names_of_networks().size(), 30U);
  for (const std::string& name : all_ops().names_of_networks()) {
    EXPECT_TRUE(layers.contains(name) || functions.contains(name) || quantized.contains(name) ||
                derived.contains(name) || imported.contains(name))
        << "networks may hold the operator '" << name
        << "', which no function on expressions, no layer of this test, no quantize() and no "
           "gradient() makes";
  }
}

}  // namespace
}  // namespace linnet::testing
