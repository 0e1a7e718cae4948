// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>

#include "graph/add.h"
#include "graph/differentiate.h"
#include "graph/interpreter.h"
#include "ops/batch_norm/batch_norm.h"
#include "ops/concat/concat.h"
#include "ops/conv2d/conv2d.h"
#include "plan/passes/passes.h"

namespace linnet {
namespace {

/// Convolutions with norms between, in training, with the gradients by all parameters.
class FuseNormConv2d : public ::testing::Test {
 protected:
  Value parameter(const std::string& name, const Shape& shape) {
    const Value value = graph_.add_value(name, {DType::f32, shape}, Storage::parameter, used_);
    used_ += static_cast<std::size_t>(shape.elements()) * sizeof(float);
    parameters_.push_back(value);
    return value;
  }
  Value statistic(const std::string& name, std::int64_t channels) {
    return graph_.add_value(name, {DType::f32, {channels}}, Storage::gradient, 0);
  }
  Value conv(Value x, const std::string& name, std::int64_t filters, std::int64_t kernel,
             const Conv2dAttrs& attrs = {}) {
    const Value w = parameter(name + " w", {filters, kernel, kernel, graph_.shape(x)[-1]});
    return graph_.emit(Conv2dOp(attrs), {x, w}, name);
  }
  Value norm(Value x, const std::string& name, const BatchNormAttrs& attrs) {
    const std::int64_t c = graph_.shape(x)[-1];
    return graph_.add(std::make_shared<BatchNormOp>(attrs),
                      {x, parameter(name + " gamma", {c}), parameter(name + " beta", {c}),
                       statistic(name + " mean", c), statistic(name + " var", c)},
                      name)[0];
  }
  /// Returns the graph with the gradients of all parameters.
  TrainingGraph trained(Value y) {
    const std::size_t backward = graph_.nodes().size();
    graph_.info(y).name = "y";
    const Value dy = graph_.add_value("dy", graph_.type(y), Storage::external, 1);
    const std::vector<Value> gradients =
        differentiate(graph_, std::vector{y}, std::vector{dy}, parameters_);
    for (std::size_t i = 0; i < gradients.size(); ++i) {
      graph_.info(gradients[i]).storage = Storage::gradient;
      graph_.info(gradients[i]).name = "d " + graph_.info(parameters_[i]).name;
    }
    return {graph_, backward, y};
  }

  Graph graph_;
  std::vector<Value> parameters_;
  std::size_t used_ = 0;
  Value x_ = graph_.add_value("x", {DType::f32, {3, 6, 5, 4}}, Storage::external);
  const BatchNormAttrs relu_{.epsilon = 0.01, .momentum = 1, .activation = Activation::relu};
  const BatchNormAttrs none_{.epsilon = 0.02, .momentum = 1};
};

std::map<std::string, int> operators(const Graph& graph) {
  std::map<std::string, int> counts;
  for (const Node& node : graph.nodes()) ++counts[std::string(node.op->name())];
  return counts;
}

/// What a graph computes of numbers that follow from the values' names: results, gradients and
/// statistics by their names.
std::map<std::string, std::vector<double>> results(const Graph& graph) {
  Interpreter interpreter(graph);
  std::vector<Value> values;
  for (std::size_t i = 0; i < graph.value_count(); ++i) values.push_back({static_cast<int>(i)});
  for (Value v : values) {
    if (graph.producer(v) != nullptr) continue;
    double next = static_cast<double>(graph.info(v).name.size());
    for (double& element : interpreter[v].data) element = std::sin(next += 1.7);
  }
  interpreter.run();
  std::map<std::string, std::vector<double>> all;
  for (Value v : values) {
    const ValueInfo& info = graph.info(v);
    if (info.storage == Storage::gradient || info.name == "y") all[info.name] = interpreter[v].data;
  }
  return all;
}

void expect_same(const std::map<std::string, std::vector<double>>& expected,
                 const std::map<std::string, std::vector<double>>& got) {
  ASSERT_EQ(got.size(), expected.size());
  for (const auto& [name, values] : expected) {
    const std::vector<double>& others = got.at(name);
    ASSERT_EQ(others.size(), values.size()) << name;
    for (std::size_t i = 0; i < values.size(); ++i) {
      ASSERT_NEAR(others[i], values[i], 1e-8 * std::max(1.0, std::abs(values[i]))) << name;
    }
  }
}

bool everything(const Op&, std::span<const ValueType>, std::span<const ValueType>) { return true; }

TEST_F(FuseNormConv2d, MeansTheSame) {
  Conv2dAttrs strided{.stride_h = 2, .pad_top = 1, .pad_left = 1, .pad_right = 1};
  Value y = norm(conv(x_, "first", 8, 1), "norm a", relu_);
  y = norm(conv(y, "second", 4, 3, strided), "norm b", none_);
  y = norm(conv(y, "third", 4, 1), "norm c", relu_);  // which no convolution reads
  const TrainingGraph before = trained(y);
  TrainingGraph after = before;
  fuse_norm_conv2d(after, everything);
  after.graph.verify();
  std::map<std::string, int> counts = operators(after.graph);
  EXPECT_EQ(counts["norm_conv2d"], 3);
  EXPECT_EQ(counts["batch_norm_from_sums"], 1);
  EXPECT_EQ(counts["batch_norm"], 0);
  EXPECT_EQ(counts["batch_norm_grad_from_sums"], 2);
  EXPECT_EQ(counts["norm_conv2d_grad_input"], 2) << "which leave the sums of these";
  EXPECT_EQ(counts["conv2d"], 0);
  EXPECT_EQ(after.graph.nodes().size(), before.graph.nodes().size() - 2);
  EXPECT_EQ(after.graph.nodes()[after.backward].op->name(), "batch_norm_grad");
  const auto expected = results(before.graph);
  ASSERT_EQ(expected.size(), 1U + 3 * 3 + 3 * 2) << "y, gradients, statistics";
  expect_same(expected, results(after.graph));
}

TEST_F(FuseNormConv2d, LeavesWhatOthersRead) {
  Value y = norm(conv(x_, "first", 4, 1), "norm a", relu_);  // read by a convolution and a sum
  y = graph_.emit(AddOp(), {conv(y, "second", 4, 1), y}, "sum");
  y = conv(norm(y, "norm b", relu_), "third", 4, 1);  // no convolution before it
  BatchNormAttrs running = relu_;
  running.momentum = 0.1;
  y = conv(norm(y, "norm c", running), "fourth", 4, 1);
  TrainingGraph training = trained(y);
  const std::string before = dump(training.graph);
  fuse_norm_conv2d(training,
                   [](const Op& op, auto, auto) { return op.name() != "batch_norm_from_sums"; });
  EXPECT_EQ(dump(training.graph), before);
  fuse_norm_conv2d(training, everything);
  std::map<std::string, int> counts = operators(training.graph);
  EXPECT_EQ(counts["batch_norm_from_sums"], 2) << "a and c";
  EXPECT_EQ(counts["batch_norm"], 1);
  EXPECT_EQ(counts["batch_norm_grad"], 3);
}

/// A block of concatenations: its norms are part of convolutions, which write their channels of it.
TEST_F(FuseNormConv2d, WritesBlocksOfConcatenations) {
  Value x = conv(x_, "first", 4, 1);
  for (const std::string layer : {"a", "b", "c"}) {
    const Value inner = conv(norm(x, "norm " + layer, relu_), "narrow " + layer, 8, 1);
    const Value grown = conv(norm(inner, "inner " + layer, none_), "grown " + layer, 4, 1);
    x = graph_.emit(ConcatOp({.axis = 3}), {x, grown}, "concat " + layer);
  }
  const TrainingGraph plain = trained(conv(norm(x, "norm d", relu_), "last", 4, 1));
  TrainingGraph before = plain;
  share_concats(before, everything);
  join_norms(before, everything);
  TrainingGraph after = before;
  fuse_norm_conv2d(after, everything);
  after.graph.verify();
  std::map<std::string, int> counts = operators(after.graph);
  EXPECT_EQ(counts["widen_with_sums"], 1);
  EXPECT_EQ(counts["norm_conv2d"], 7) << "all but the first";
  EXPECT_EQ(counts["batch_norm_grad_from_sums"], 7);
  for (const char* gone : {"batch_norm", "batch_norm_joined", "batch_norm_from_sums",
                           "update_channels", "slice_grad", "slice"}) {
    EXPECT_EQ(counts[gone], 0) << gone;
  }
  expect_same(results(plain.graph), results(after.graph));
  // Without a convolution after the last norm, and where no norm may precede a convolution.
  const auto fused = [&](const Supports& supports) {
    after = before;
    fuse_norm_conv2d(after, supports);
    after.graph.verify();
    expect_same(results(plain.graph), results(after.graph));
    return operators(after.graph);
  };
  counts = fused([](const Op& op, auto, auto) { return op.name() != "batch_norm_grad_from_sums"; });
  EXPECT_EQ(counts["widen_with_sums"], 1);
  EXPECT_EQ(counts["batch_norm_from_sums"], 7);
  counts = fused([](const Op& op, auto, auto) { return op.name() != "widen_with_sums"; });
  EXPECT_EQ(counts["batch_norm_joined"], 3);
  counts = fused([](const Op& op, auto, auto) { return op.name() != "batch_norm_from_sums"; });
  EXPECT_EQ(counts["batch_norm_joined"], 3);
}

/// A convolution that stands before what it would write into keeps a result of its own.
TEST_F(FuseNormConv2d, BlocksNeedTheirConvolutionsInOrder) {
  const Value start = conv(x_, "first", 4, 1);
  const Graph before = graph_;
  const std::vector<Value> parameters = parameters_;
  const auto expect_apart = [&](Value block) {
    const Value grown = conv(norm(block, "norm", relu_), "grown", 4, 1);
    const Value all = graph_.emit(ConcatOp({.axis = 3}), {block, grown}, "all");
    const TrainingGraph plain = trained(conv(norm(all, "norm of all", relu_), "last", 4, 1));
    TrainingGraph after = plain;
    share_concats(after, everything);
    join_norms(after, everything);
    fuse_norm_conv2d(after, everything);
    after.graph.verify();
    EXPECT_EQ(operators(after.graph)["widen_with_sums"], 0);
    expect_same(results(plain.graph), results(after.graph));
    graph_ = before;
    parameters_ = parameters;
  };
  const Value late = conv(start, "late", 4, 1);
  const Value early = conv(start, "early", 4, 1);
  expect_apart(graph_.emit(ConcatOp({.axis = 3}), {early, late}, "block"));
  const Value second = conv(start, "second", 4, 1);
  const Value first = conv(start, "one", 4, 1);
  expect_apart(graph_.emit(ConcatOp({.axis = 3}), {start, first, second}, "block"));
}

/// A convolution between two norms is asked for with both; where that is refused it keeps one.
TEST_F(FuseNormConv2d, AsksTheBackend) {
  Value y = norm(conv(x_, "first", 4, 1), "norm a", relu_);
  y = conv(norm(conv(y, "second", 4, 1), "norm b", relu_), "third", 4, 1);
  const TrainingGraph before = trained(y);
  const auto fused = [&](const std::function<bool(const Op&)>& takes) {
    TrainingGraph training = before;
    fuse_norm_conv2d(training, [&](const Op& op, auto, auto) { return takes(op); });
    training.graph.verify();
    return operators(training.graph)["batch_norm_grad_from_sums"];
  };
  EXPECT_EQ(fused([](const Op&) { return true; }), 2);
  EXPECT_EQ(fused([](const Op& op) { return op.name() != "batch_norm_grad_from_sums"; }), 0);
  EXPECT_EQ(fused([](const Op& op) { return op.name() != "norm_conv2d"; }), 0);
  EXPECT_EQ(fused([](const Op& op) {
              const std::string attributes = to_string(op.attributes());
              return attributes.find("norm=true") == std::string::npos ||
                     attributes.find("sums=true") == std::string::npos;
            }),
            1);
}

}  // namespace
}  // namespace linnet
