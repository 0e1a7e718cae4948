// SPDX-License-Identifier: Apache-2.0
// What training steps launch: mnist-cnn with the whole network fused and without, ResNet-50,
// DenseNet-121, the perceptron and the GRU (recorded without computing), and what the pass that
// fuses mnist-cnn takes. The launches stand in *_launches.txt beside this file;
// LINNET_WRITE_GOLDEN=1 before the test writes them anew.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <array>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "model/step_graph.h"
#include "model/update_options.h"
#include "networks/networks.h"
#include "ops/arithmetic/arithmetic.h"
#include "ops/cross_entropy/cross_entropy.h"
#include "ops/dense/dense.h"
#include "ops/metrics/metrics.h"
#include "ops/reshape/reshape.h"
#include "ops/small_cnn/small_cnn.h"
#include "plan/passes/passes.h"
#include "simulated_model.h"

namespace linnet::testing {
namespace {

std::string to_text(dim3 d) { return fmt::format("({}, {}, {})", d.x, d.y, d.z); }

/// Samples without content, all of class 0.
Dataset zeros(std::int64_t count, const Shape& sample, DType dtype = DType::u8) {
  return data_of(Tensor(dtype, sample.batched(count)), Tensor(DType::i32, {count}));
}
Dataset zero_points(std::int64_t count) {
  return data_of(Tensor(DType::f32, {count, 1000}), Tensor(DType::f32, {count, 1}));
}

/// The launches of one step on the whole data set as a batch, one a line.
std::string launches_of_a_step(const Network& network, const Dataset& data,
                               TrainingOptions options = {}) {
  const MachineGuard machine;
  Model model = cuda_model(network, {.graph_steps = 0});
  cuda::sim::device().record_launches = true;
  cuda::sim::device().compute = false;
  cuda::sim::clear();
  options.epochs = 1;
  options.batch = data.size();
  train(model, data, options);
  std::string text;
  for (const cuda::sim::Launch& launch : cuda::sim::launches()) {
    text += fmt::format("{}: grid {}, block {}, {} bytes shared\n", launch.name,
                        to_text(launch.grid), to_text(launch.block), launch.shared_bytes);
  }
  return text;
}

/// The plan of a training step of mnist-cnn on the simulated device.
Plan plan_of_mnist_cnn(std::int64_t batch, std::vector<std::string> disabled) {
  const MachineGuard machine;
  Model model = cuda_model(workloads::mnist_cnn());
  Backend& backend = *model.state().backend;
  const NetworkDefinition& network = model.network().definition();
  Graph graph = training_step(network, assumed_data(network, Loss::automatic),
                              {.batch = batch,
                               .shuffle = true,
                               .optimizer = resolve(TrainingOptions{}, network, 1),
                               .disabled_passes = std::move(disabled)},
                              supports_of(backend));
  return backend.prepare(std::move(graph), {})->plan();
}

/// "5 operators, 1234 FLOP, 5678 bytes"
std::string to_text(const Plan& plan) {
  return fmt::format("{} operators, {:.0f} FLOP, {:.0f} bytes", plan.running, plan.cost.flops,
                     plan.cost.bytes);
}

std::string launches_of_mnist_cnn() {
  const Dataset digits = datasets::digits(128, 0, 3).train;
  TrainingOptions unfused;
  unfused.disabled_passes = {"fuse_small_cnn"};
  return "# A training step of mnist-cnn, batch 128, Adam; see launches_simulated_test.cpp.\n" +
         fmt::format("# planned: {}\n", to_text(plan_of_mnist_cnn(128, {}))) +
         launches_of_a_step(workloads::mnist_cnn(), digits) +
         fmt::format("\n# without fuse_small_cnn\n# planned: {}\n",
                     to_text(plan_of_mnist_cnn(128, unfused.disabled_passes))) +
         launches_of_a_step(workloads::mnist_cnn(), digits, unfused);
}

std::string launches_of_resnet50() {
  return "# A training step of resnet50-cifar10, batch 32, Adam; own kernels alone.\n" +
         launches_of_a_step(zoo::resnet50(), zeros(32, {32, 32, 3}));
}

std::string launches_of_rosenbrock_mlp() {
  return "# A training step of rosenbrock-mlp, batch 512, Adam; own kernels alone.\n" +
         launches_of_a_step(workloads::rosenbrock_mlp(), zero_points(512));
}

std::string launches_of_densenet121_xray() {
  const Dataset images = data_of(Tensor(DType::u8, {2, 224, 224, 3}), Tensor(DType::f32, {2, 14}));
  TrainingOptions options;
  options.loss = Loss::binary_cross_entropy;
  options.augment.resized_crop = true;
  options.augment.flip = 0.5;
  const Network network =
      zoo::densenet121({.sample = {224, 224, 3}, .classes = 14, .pixels = imagenet_pixels()});
  return "# A training step of densenet121-xray, batch 2, Adam; own kernels alone.\n" +
         launches_of_a_step(network, images, options);
}

std::string launches_of_gru_imdb() {
  return "# A training step of gru-imdb, batch 64, Adam; own kernels alone.\n" +
         launches_of_a_step(workloads::gru_imdb(), zeros(64, {150}, DType::i32));
}

struct Golden {
  const char* workload;
  std::string (*launches)();

  std::string file() const {
    return fmt::format("{}/{}_launches.txt", LINNET_TEST_FOLDER, workload);
  }
};
constexpr std::array kGoldens{Golden{"mnist_cnn", launches_of_mnist_cnn},
                              Golden{"resnet50", launches_of_resnet50},
                              Golden{"densenet121_xray", launches_of_densenet121_xray},
                              Golden{"rosenbrock_mlp", launches_of_rosenbrock_mlp},
                              Golden{"gru_imdb", launches_of_gru_imdb}};

TEST(Launches, AreThoseOfTheFiles) {
  for (const Golden& golden : kGoldens) {
    const std::string found = golden.launches();
    if (std::getenv("LINNET_WRITE_GOLDEN") != nullptr) std::ofstream(golden.file()) << found;
    std::ifstream file(golden.file());
    std::stringstream expected;
    expected << file.rdbuf();
    EXPECT_EQ(found, expected.str()) << golden.workload;
  }
}

/// Every launch of a step is checked against the limits of a device.
void launch_a_large_step(const Network& network, const Dataset& data, const Augment& augment = {}) {
  const MachineGuard machine;
  cuda::sim::device().memory = std::size_t{1} << 42;
  cuda::sim::device().compute = false;
  Model model = cuda_model(network, {.graph_steps = 0});
  TrainingOptions options;
  options.epochs = 1;
  options.batch = data.size();
  options.augment = augment;
  EXPECT_NO_THROW(train(model, data, options));
  EXPECT_GT(cuda::sim::counters().launches, 0U);
}

TEST(Launches, OfLargeBatchesStayWithinLimits) {
  launch_a_large_step(workloads::mnist_cnn(), zeros(100'000, {28, 28, 1}));
  launch_a_large_step(workloads::flux_cnn(), zeros(20'000, {32, 32, 3}));
  launch_a_large_step(workloads::vgg_cifar10(), zeros(20'000, {32, 32, 3}));
  launch_a_large_step(zoo::resnet50(), zeros(12'000, {32, 32, 3}));
  launch_a_large_step(zoo::resnet18({.sample = {96, 96, 3}}), zeros(1000, {96, 96, 3}),
                      {.contrast = 0.2});  // its mean wants large blocks
  launch_a_large_step(workloads::rosenbrock_mlp(), zero_points(32'000));
  launch_a_large_step(workloads::gru_imdb(), zeros(20'000, {150}, DType::i32));
}

TEST(Launches, OfAFusedTrainingGatherInItsKernels) {
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
    pooled = outputs[0];
    winner = outputs[1];
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
    fuse_small_cnn(graph, supports);
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
  for (std::int64_t batch : {1, 32, 128, 512}) {
    const Plan fused = plan_of_mnist_cnn(batch, {});
    const Plan parts = plan_of_mnist_cnn(batch, {"fuse_small_cnn"});
    EXPECT_EQ(fused.running + 11, parts.running) << batch;
    EXPECT_LT(fused.cost.bytes, parts.cost.bytes) << batch;
    EXPECT_EQ(dump(fused).find("gather_batch"), std::string::npos) << batch;
  }
}

TEST(FuseSmallCnn, PartsStayWhereFusionSavesNothing) {
  const auto saves = [](std::int64_t batch, std::int64_t classes) {
    Forward forward({.bias = true}, false, batch, classes);
    forward.add_metrics(forward.logits);
    const bool fused = forward.fused(always(true)) == kFused;
    const SmallCnnOp op({.gather = {.batch = batch, .scale = 0.5},
                         .conv_pool = {{.bias = true, .activation = Activation::relu}, {}}});
    const std::vector<Value> operands{forward.samples, forward.targets, forward.w,
                                      forward.b,       forward.v,       forward.c};
    EXPECT_EQ(fused, op.saving(forward.graph.types(operands)).worth() > 0);
    return fused;
  };
  EXPECT_TRUE(saves(4, 10));
  EXPECT_TRUE(saves(4, 1000));
  EXPECT_TRUE(saves(1'000'000, 2));
  EXPECT_FALSE(saves(1'000'000, 4000));  // all samples read 256 kB of weights
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
