// SPDX-License-Identifier: Apache-2.0
// What the pass takes, and what a simulated GPU then launches.
#include <gtest/gtest.h>

#include "cuda_backend/simulated_model.h"
#include "end_to_end/needed_passes.h"
#include "fusions/fusions.h"
#include "fusions/small_cnn/small_cnn.h"
#include "networks/networks.h"
#include "ops/arithmetic/arithmetic.h"
#include "ops/cross_entropy/cross_entropy.h"
#include "ops/dense/dense.h"
#include "ops/metrics/metrics.h"
#include "ops/reshape/reshape.h"

namespace linnet::testing {
namespace {

TEST(FusedSmallCnn, GathersInItsKernels) {
  LINNET_NEEDS_PASSES("fuse_epilogue", "fuse_gather_scale", "fuse_softmax_cross_entropy");
  const MachineGuard machine;
  Model model = cuda_model(workloads::mnist_cnn(), {}, 5);
  cuda::sim::device().record_launches = true;
  const Splits digits = datasets::digits(20, 6, 3);
  train(model, digits.train, {.epochs = 1, .batch = 8}, &digits.test);
  EXPECT_FALSE(cuda::sim::launches().empty());
  for (const cuda::sim::Launch& launch : cuda::sim::launches()) {
    EXPECT_NE(launch.name, "gather_batch");
  }
}

TEST(FusedSmallCnn, MeansTheSameAsItsParts) {
  LINNET_NEEDS_PASSES("fuse_epilogue", "fuse_gather_scale", "fuse_softmax_cross_entropy");
  const MachineGuard machine;
  const Dataset digits = datasets::digits(20, 0, 3).train;
  cuda::sim::device().record_launches = true;
  struct Run {
    bool fused = false;
    std::vector<float> weights = {};
  };
  const auto run = [&](const std::vector<std::string>& disabled) {
    cuda::sim::clear();
    Model model = cuda_model(workloads::mnist_cnn(), {}, 5);
    TrainingOptions options;
    options.epochs = 2;
    options.batch = 8;
    options.optimizer = Adam{.learning_rate = 1e-2};
    options.disabled_passes = disabled;
    train(model, digits, options);
    Run result;
    for (const cuda::sim::Launch& launch : cuda::sim::launches()) {
      result.fused = result.fused || launch.name.starts_with("small_cnn");
    }
    result.weights = all_weights(model);
    return result;
  };
  const Run fused = run({});
  const Run parts = run({"fuse_small_cnn"});
  EXPECT_TRUE(fused.fused);
  EXPECT_FALSE(parts.fused);
  ASSERT_EQ(fused.weights.size(), parts.weights.size());
  for (std::size_t i = 0; i < fused.weights.size(); ++i) {
    ASSERT_NEAR(fused.weights[i], parts.weights[i], 1e-4) << i;
  }
}

/// The forward graph of a small network up to the metrics, ready for the pass.
struct Forward {
  Graph graph;
  Value samples, targets, x, labels, winner, pooled, flat, logits, loss, probabilities;
  Value w, b, v, c;

  explicit Forward(DenseAttrs dense = {.bias = true}, bool shuffled_targets = false,
                   std::int64_t batch = 4, std::int64_t classes = 10) {
    const auto parameter = [&](Shape shape) {
      return graph.add_value("p", {DType::f32, std::move(shape)}, Storage::parameter);
    };
    samples = graph.add_value("samples", {DType::u8, {1, 6, 6, 1}}, Storage::external, 0);
    targets = graph.add_value("targets", {DType::i32, {1}}, Storage::external, 1);
    w = parameter({4, 3, 3, 1});
    b = parameter({4});
    v = parameter({classes, 16});
    c = parameter({classes});
    x = graph.emit(GatherBatchOp({.batch = batch, .scale = 0.5}), {samples}, "samples");
    labels = graph.emit(GatherBatchOp({.batch = batch, .shuffle = shuffled_targets}), {targets},
                        "targets");
    const std::vector<Value> outputs =
        graph.add(std::make_shared<Conv2dPoolOp>(
                      Conv2dPoolAttrs{{.bias = true, .activation = Activation::relu}, {}}),
                  {x, w, b}, "conv");
    pooled = outputs[Conv2dPoolOp::Out::y];
    winner = outputs[Conv2dPoolOp::Out::winner];
    flat = flatten(graph, pooled, "flatten");
    logits = graph.emit(DenseOp(dense), dense.bias ? std::vector{flat, v, c} : std::vector{flat, v},
                        "dense");
    const std::vector<Value> losses =
        graph.add(std::make_shared<SoftmaxCrossEntropyOp>(), {logits, labels}, "loss");
    loss = losses[0];
    probabilities = losses[1];
  }

  void add_metrics(Value scores) {
    const Value counters = graph.add_value("counters", {DType::f64, {kCounters}}, Storage::state);
    graph.add(std::make_shared<MetricsOp>(MetricsAttrs{.batch = 4}),
              {counters, loss, scores, labels}, "metrics");
  }

  std::vector<std::string> fused(const Supports& supports) {
    graph.info(loss).storage = Storage::external;
    graph.info(loss).offset = 2;
    all_passes().named("fuse_small_cnn").run(graph, supports);
    graph.verify();
    std::vector<std::string> names;
    for (const Node& node : graph.nodes()) names.emplace_back(node.op->name());
    return names;
  }
};

Supports always(bool answer) {
  return [=](const Op&, std::span<const ValueType>, std::span<const ValueType>) { return answer; };
}

const std::vector<std::string> kFused{"small_cnn", "metrics"};

TEST(FuseSmallCnn, HandsScoresAndLabelsToTheMetrics) {
  Forward logits;
  logits.add_metrics(logits.logits);
  EXPECT_EQ(logits.fused(always(true)), kFused);
  const Node& fused = logits.graph.nodes()[0];
  const auto& attrs = static_cast<const SmallCnnOp&>(*fused.op).attrs();
  EXPECT_FALSE(attrs.probabilities);
  EXPECT_EQ(attrs.gather, (GatherBatchAttrs{.batch = 4, .scale = 0.5}));
  EXPECT_EQ(fused.inputs, (std::vector<Value>{logits.samples, logits.targets, logits.w, logits.b,
                                              logits.v, logits.c}));
  const std::vector<Value>& read = logits.graph.nodes()[1].inputs;
  EXPECT_EQ(read[1], fused.outputs[SmallCnnOp::Out::loss]);
  EXPECT_EQ(read[2], fused.outputs[SmallCnnOp::Out::scores]);
  EXPECT_EQ(read[3], fused.outputs[SmallCnnOp::Out::labels]);

  Forward probabilities;
  probabilities.add_metrics(probabilities.probabilities);
  EXPECT_EQ(probabilities.fused(always(true)), kFused);
  EXPECT_TRUE(
      static_cast<const SmallCnnOp&>(*probabilities.graph.nodes()[0].op).attrs().probabilities);
}

TEST(FuseSmallCnn, SavesOperatorsAndBytesInThePlan) {
  LINNET_NEEDS_PASSES("fuse_epilogue", "fuse_gather_scale", "fuse_softmax_cross_entropy");
  for (std::int64_t batch : {1, 32, 128, 512}) {
    const Plan fused = plan_of(workloads::mnist_cnn(), batch, {});
    const Plan parts = plan_of(workloads::mnist_cnn(), batch, {"fuse_small_cnn"});
    EXPECT_EQ(fused.running + 11, parts.running) << batch;
    EXPECT_LT(fused.cost.bytes, parts.cost.bytes) << batch;
    EXPECT_EQ(dump(fused).find("gather_batch"), std::string::npos) << batch;
  }
}

TEST(FuseSmallCnn, ABackendWithoutItKeepsTheParts) {
  Forward forward;
  forward.add_metrics(forward.logits);
  EXPECT_EQ(forward.fused(always(false)).size(), 7U);
}

/// Whatever is between the samples and the loss must have no other reader.
TEST(FuseSmallCnn, WhatOthersReadStays) {
  for (Value Forward::*value :
       {&Forward::x, &Forward::pooled, &Forward::flat, &Forward::logits, &Forward::probabilities}) {
    Forward read;
    read.graph.info(read.graph.emit(ScaleOp({.alpha = 2}), {read.*value}, "reader")).storage =
        Storage::external;
    EXPECT_EQ(read.fused(always(true)).back(), "scale");
    EXPECT_NE(read.graph.nodes()[0].op->name(), SmallCnnOp::kName);
    Forward kept;
    kept.graph.info(kept.*value).storage = Storage::external;
    kept.graph.info(kept.*value).offset = 3;
    kept.fused(always(true));
    EXPECT_NE(kept.graph.nodes()[0].op->name(), SmallCnnOp::kName);
  }
  for (Value Forward::*value : {&Forward::labels, &Forward::winner}) {
    Forward kept;
    kept.graph.info(kept.*value).storage = Storage::external;
    kept.graph.info(kept.*value).offset = 3;
    kept.fused(always(true));
    EXPECT_NE(kept.graph.nodes()[0].op->name(), SmallCnnOp::kName);
  }
  Forward both;
  both.add_metrics(both.logits);
  both.add_metrics(both.probabilities);
  EXPECT_NE(both.fused(always(true)).front(), "small_cnn");
}

TEST(FuseSmallCnn, ADenseLayerOfAnotherKindStays) {
  Forward plain(DenseAttrs{});
  EXPECT_EQ(plain.fused(always(true)).back(), "softmax_cross_entropy");
  Forward activated({.bias = true, .activation = Activation::relu});
  EXPECT_EQ(activated.fused(always(true)).back(), "softmax_cross_entropy");
}

TEST(FuseSmallCnn, TargetsInAnotherOrderStay) {
  Forward forward({.bias = true}, true);
  EXPECT_EQ(forward.fused(always(true)).back(), "softmax_cross_entropy");
}

}  // namespace
}  // namespace linnet::testing
