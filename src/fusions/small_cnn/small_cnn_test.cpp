// SPDX-License-Identifier: Apache-2.0
#include "fusions/small_cnn/small_cnn.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "backend/cpu/kernel.h"
#include "backend/cuda/kernel.h"
#include "fusions/small_cnn/small_cnn_cpu.h"
#include "graph/differentiate.h"
#include "op_harness.h"
#include "ops/cpu_kernels.h"
#include "ops/cuda_kernels.h"
#include "ops/metrics/metrics.h"

namespace linnet::testing {
namespace {

constexpr std::int64_t kRecords = 20;

struct Network {
  std::int64_t batch = 3;
  Shape image{8, 10, 1};
  std::int64_t filters = 8;
  std::int64_t kernel_h = 3;
  std::int64_t kernel_w = 3;
  std::int64_t pad = 1;
  std::int64_t classes = 10;
  Activation activation = Activation::relu;
  DType samples = DType::u8;
  bool shuffle = true;
  bool probabilities = false;
};

SmallCnnAttrs attributes(const Network& n) {
  return {.gather = {.batch = n.batch, .shuffle = n.shuffle, .scale = 1.0 / 64, .shift = -0.25},
          .conv_pool = {{.pad_top = n.pad,
                         .pad_bottom = n.pad,
                         .pad_left = n.pad,
                         .pad_right = n.pad,
                         .bias = true,
                         .activation = n.activation},
                        {}},
          .probabilities = n.probabilities};
}

std::vector<ValueType> operands(const Network& n) {
  const std::int64_t pooled_h = (n.image[0] + 2 * n.pad - n.kernel_h + 1) / 2;
  const std::int64_t pooled_w = (n.image[1] + 2 * n.pad - n.kernel_w + 1) / 2;
  return {{n.samples, n.image.batched(1)},
          i32({1}),
          f32({n.filters, n.kernel_h, n.kernel_w, n.image[2]}),
          f32({n.filters}),
          f32({n.classes, pooled_h * pooled_w * n.filters}),
          f32({n.classes})};
}

/// The CPU has loops for 3x3 kernels over one channel, where it has vectors of 16 floats.
bool runs_on_cpu(const Network& n) {
  return cpu::small_cnn_has() && n.kernel_h == 3 && n.kernel_w == 3 && n.image[2] == 1 &&
         n.filters % 16 == 0;
}

std::vector<std::string> devices(const Network& n) {
  return runs_on_cpu(n) ? std::vector<std::string>{} : std::vector<std::string>{"CUDA"};
}

OpCase op_case(const std::string& name, const Network& n, bool gradient = true) {
  return {.name = "small_cnn " + name,
          .op = make_op(SmallCnnOp(attributes(n))),
          .inputs = operands(n),
          .fills = {{0, 128}, {0, static_cast<double>(n.classes)}, {-0.5, 0.5}},
          .gradient = gradient,
          .differentiable = {false, false, true, true, true, true},
          .roots = {true, false, false, false, false, false, false},
          .step = {.seed = 7, .step = 3, .epoch = 1, .position = 2, .samples = kRecords},
          .records = {kRecords, kRecords},
          .devices = devices(n)};
}

TEST(SmallCnn, AgreesWithTheReference) {
  check(op_case("3x3", {}));
  check(op_case("f32 in order", {.samples = DType::f32, .shuffle = false}));
  check(op_case("probabilities", {.probabilities = true}));
  check(op_case("no activation", {.activation = Activation::none}));
  check(op_case("odd image", {.image = {7, 9, 1}, .filters = 12}));
  check(op_case("3 classes", {.batch = 1, .classes = 3}));
  check(op_case("32 filters, 32 classes", {.image = {4, 4, 1}, .filters = 32, .classes = 32}));
  check(op_case("5x5", {.image = {8, 7, 1}, .filters = 4, .kernel_h = 5, .kernel_w = 5}));
  check(op_case("3 channels", {.image = {6, 6, 3}, .filters = 20}));
  check(op_case("2x4 of 4 channels", {.image = {6, 7, 4}, .kernel_h = 2, .kernel_w = 4}));
  check(op_case("no sample", {.batch = 0}, false));
}

/// Counters, losses of steps (the case's is step 3) and what stops a training.
OpCase finishing(const std::string& name, const Network& n) {
  OpCase c = op_case(name, n, false);
  SmallCnnAttrs attrs = attributes(n);
  attrs.finish = true;
  attrs.history = 2;
  c.op = make_op(SmallCnnOp(attrs));
  c.inputs.push_back({DType::f64, Shape{kCounters + attrs.history}});
  c.inputs.push_back({DType::f64, Shape{}});
  c.fills.resize(c.inputs.size(), c.fills.back());
  c.fills[SmallCnnOp::In::counters] = {1, 5};
  c.fills[SmallCnnOp::In::stopped] = {0, 0};
  return c;
}

TEST(SmallCnn, FinishesAStep) {
  check(finishing("3x3", {}));
  check(finishing("probabilities", {.batch = 7, .probabilities = true}));
  check(finishing("32 classes", {.image = {4, 4, 1}, .filters = 32, .classes = 32}));
  OpCase stopped = finishing("stopped before", {});
  stopped.fills[SmallCnnOp::In::stopped] = {2, 3};
  check(stopped);
}

TEST(SmallCnn, AgreesWithTheReferenceAtSize) {
  check(op_case("mnist", {.batch = 5, .image = {28, 28, 1}, .filters = 16}, false));
  check(op_case("32x32", {.batch = 2, .image = {32, 32, 1}, .filters = 32}, false));
  // 16 filters of 3x3 stay in registers.
  check(op_case("tiles", {.filters = 16}));
  check(op_case("tiles, odd image", {.image = {7, 9, 1}, .filters = 16, .samples = DType::f32}));
  check(op_case("tiles, no padding", {.image = {9, 6, 1}, .filters = 16, .pad = 0}));
  check(op_case("tiles, no activation", {.filters = 16, .activation = Activation::none}));
  check(finishing("tiles, probabilities", {.filters = 16, .probabilities = true}));
  OpCase rounds =
      op_case("tiles, rounds", {.batch = 300, .image = {4, 4, 1}, .filters = 16}, false);
  rounds.records = {310, 310};
  rounds.step.samples = 310;
  check(rounds);
  // More samples than blocks, and than slopes that are staged at once.
  OpCase many = op_case("many", {.batch = 530, .image = {4, 4, 1}, .filters = 4}, false);
  many.records = {600, 600};
  many.step.samples = 600;
  check(many);
}

/// Operands and results of a graph of one operator in front of a loss of its own.
struct OneStep {
  Graph graph;
  std::vector<Value> inputs;
  std::vector<Value> outputs;

  explicit OneStep(const Network& n) {
    for (const ValueType& type : operands(n)) {
      inputs.push_back(graph.add_value("operand", type, Storage::external, inputs.size()));
    }
    outputs = graph.add(make_op(SmallCnnOp(attributes(n))), inputs, "step");
  }
};

std::vector<std::vector<double>> ones(const OneStep& step, std::vector<double> labels) {
  std::vector<std::vector<double>> data;
  for (Value v : step.inputs) {
    data.emplace_back(static_cast<std::size_t>(step.graph.shape(v).elements()), 1.0);
  }
  data[SmallCnnOp::In::targets] = std::move(labels);
  return data;
}

/// Wider than CUDA's kernels take; and a batch in parts, of blocks of 8, 4, 2 and 1 samples.
TEST(SmallCnn, AgreesWithTheReferenceOnTheCpu) {
  if (!cpu::small_cnn_has()) GTEST_SKIP() << "no vectors of 16 floats";
  const auto check_cpu = [](const std::string& name, const Network& n, bool gradient) {
    OpCase c = op_case(name, n, gradient);
    c.records = {40, 40};
    c.step.samples = 40;
    c.devices = {"CPU"};
    check(c);
  };
  check_cpu("wide", {.batch = 15, .image = {6, 40, 1}, .filters = 16}, false);
  check_cpu("parts", {.batch = 37, .image = {6, 6, 1}, .filters = 48, .classes = 7}, true);
  check_cpu("no sample", {.batch = 0, .filters = 16}, false);
  OpCase finish =
      finishing("parts", {.batch = 70, .image = {4, 4, 1}, .filters = 16, .classes = 2});
  finish.records = {70, 70};
  finish.step.samples = 70;
  finish.devices = {"CPU"};
  check(finish);
}

TEST(SmallCnn, SomethingNotFiniteStopsTheTraining) {
  if (!cpu::small_cnn_has()) GTEST_SKIP() << "no vectors of 16 floats";
  const Network network{.batch = 40, .filters = 16};
  for (const double stopped : {0.0, 2.0}) {
    OpCase c = finishing("not finite", network);
    OneStep step(network);
    Graph graph;
    std::vector<Value> inputs;
    std::vector<std::vector<double>> data = ones(step, std::vector<double>(40, 1.0));
    data[SmallCnnOp::In::samples].resize(40 * data[SmallCnnOp::In::samples].size(), 3.0);
    data[SmallCnnOp::In::v][700] = std::numeric_limits<double>::infinity();
    for (const ValueType& type : c.inputs) {
      inputs.push_back(graph.add_value("operand", type, Storage::external, inputs.size()));
    }
    data.emplace_back(kCounters + 2, 1.0);
    data.emplace_back(1, stopped);
    const std::vector<Value> outputs = graph.add(c.op, inputs, "step");
    compare_with_reference(graph, inputs, data,
                           {outputs[SmallCnnOp::Out::loss], inputs[SmallCnnOp::In::stopped],
                            inputs[SmallCnnOp::In::counters]},
                           2e-5, {.step = 4, .samples = 40}, {"CPU"});
  }
}

TEST(SmallCnn, ALabelOutsideGivesNaN) {
  const Network network{.batch = 1, .filters = 16};
  const OneStep step(network);
  for (double label : {-1.0, 10.0, 2147483647.0, -2147483648.0}) {
    compare_with_reference(step.graph, step.inputs, ones(step, {label}), step.outputs, 2e-5, {},
                           devices(network));
  }
}

TEST(SmallCnn, ANaNWeightGivesNaN) {
  const Network network{.batch = 1, .filters = 16};
  const OneStep step(network);
  using In = SmallCnnOp::In;
  for (const std::size_t operand : {In::w, In::b, In::v, In::c}) {
    std::vector<std::vector<double>> data = ones(step, {3});
    data[operand][5] = std::nan("");
    compare_with_reference(step.graph, step.inputs, data, {step.outputs[SmallCnnOp::Out::loss]},
                           2e-5, {}, devices(network));
  }
}

/// A corner without padding reaches one of a window's results alone, which is the largest then.
TEST(SmallCnn, ANaNPixelGivesNaN) {
  const Network network{.batch = 1, .filters = 16, .pad = 0, .samples = DType::f32};
  const OneStep step(network);
  std::vector<std::vector<double>> data = ones(step, {3});
  data[SmallCnnOp::In::samples][0] = std::nan("");
  compare_with_reference(step.graph, step.inputs, data, {step.outputs[SmallCnnOp::Out::loss]}, 2e-5,
                         {}, devices(network));
}

/// An evaluation reads no gradient, and pays for none.
TEST(SmallCnn, GradientsThatNobodyReadsAreNotComputed) {
  const Network network{.filters = 16};
  const OneStep step(network);
  std::vector<std::vector<double>> data = ones(step, std::vector<double>(kRecords, 4.0));
  data[SmallCnnOp::In::samples].resize(kRecords * data[SmallCnnOp::In::samples].size(), 2.0);
  compare_with_reference(step.graph, step.inputs, data,
                         {step.outputs.begin(), step.outputs.begin() + SmallCnnOp::Out::dw}, 2e-5,
                         {.samples = kRecords}, devices(network));
}

/// The gradient of the loss itself is 1, so the saved gradients are the result.
TEST(SmallCnn, TheGradientOfALossAddsNoNode) {
  OneStep step({});
  const std::size_t nodes = step.graph.nodes().size();
  const std::vector<Value> parameters(step.inputs.begin() + SmallCnnOp::In::w, step.inputs.end());
  const std::vector<Value> gradients =
      differentiate(step.graph, step.outputs[SmallCnnOp::Out::loss], parameters);
  EXPECT_EQ(gradients,
            std::vector<Value>(step.outputs.begin() + SmallCnnOp::Out::dw, step.outputs.end()));
  EXPECT_EQ(step.graph.nodes().size(), nodes);
}

template <class Registry>
bool has_kernel(const Registry& registry, const Network& n, const auto& change) {
  SmallCnnAttrs attrs = attributes(n);
  change(attrs.conv_pool);
  std::vector<ValueType> in = operands(n);
  const Shape x = n.image.batched(n.batch);
  const Shape pooled =
      Conv2dPoolOp(attrs.conv_pool)
          .infer(std::vector<ValueType>{f32(x), in[SmallCnnOp::In::w], f32({n.filters})})[0]
          .shape;
  in[SmallCnnOp::In::v] = f32({n.classes, pooled.sample().elements()});
  const SmallCnnOp op(attrs);
  const std::vector<ValueType> out = op.infer(in);
  return registry.prepare({op, in, out, std::vector<bool>(out.size(), true)}, {}).has_value();
}

/// Passes ask before they fuse: a yes to what the kernels don't compute would be a wrong result.
TEST(SmallCnn, TheKernelsRefuseWhatTheyDoNotCompute) {
  cuda::Registry registry;
  cuda::register_cuda_kernels(registry);
  const auto supported = [&](const Network& n, const auto& change) {
    return has_kernel(registry, n, change);
  };
  const auto as_it_is = [](Conv2dPoolAttrs&) {};
  EXPECT_TRUE(supported({}, as_it_is));
  EXPECT_TRUE(supported({.image = {32, 32, 1}, .filters = 32}, as_it_is));
  EXPECT_TRUE(supported({.image = {28, 28, 1}, .filters = 32, .classes = 32}, as_it_is));
  EXPECT_FALSE(supported({.image = {33, 32, 1}}, as_it_is));
  EXPECT_FALSE(supported({.image = {32, 33, 1}}, as_it_is));
  EXPECT_FALSE(supported({.image = {32, 32, 4}, .filters = 32, .kernel_h = 2}, as_it_is))
      << "shared";
  EXPECT_FALSE(supported({.filters = 36}, as_it_is));
  EXPECT_FALSE(supported({.filters = 6}, as_it_is));
  EXPECT_FALSE(supported({.classes = 33}, as_it_is));
  EXPECT_FALSE(supported({.image = {8, 8, 4}}, as_it_is)) << "36 products";
  EXPECT_FALSE(supported({.activation = Activation::tanh}, as_it_is));
  EXPECT_FALSE(supported({}, [](Conv2dPoolAttrs& a) { a.conv.stride_h = 2; }));
  EXPECT_FALSE(supported({}, [](Conv2dPoolAttrs& a) { a.conv.stride_w = 2; }));
  EXPECT_FALSE(supported({}, [](Conv2dPoolAttrs& a) { a.conv.dilation_h = 2; }));
  EXPECT_FALSE(supported({}, [](Conv2dPoolAttrs& a) { a.conv.dilation_w = 2; }));
  EXPECT_FALSE(supported({}, [](Conv2dPoolAttrs& a) { a.pool.size_h = 3; }));
  EXPECT_FALSE(supported({}, [](Conv2dPoolAttrs& a) { a.pool.stride_w = 1; }));
}

TEST(SmallCnn, TheCpuRefusesWhatItDoesNotCompute) {
  if (!cpu::small_cnn_has()) GTEST_SKIP() << "no vectors of 16 floats";
  cpu::Registry registry;
  cpu::register_cpu_kernels(registry);
  const auto supported = [&](const Network& n, const auto& change) {
    return has_kernel(registry, n, change);
  };
  const auto as_it_is = [](Conv2dPoolAttrs&) {};
  const Network n{.filters = 16};
  EXPECT_TRUE(supported(n, as_it_is));
  EXPECT_FALSE(supported({.filters = 8}, as_it_is));
  EXPECT_FALSE(supported({.image = {8, 8, 3}, .filters = 16}, as_it_is));
  EXPECT_FALSE(supported({.filters = 16, .kernel_w = 5}, as_it_is));
  EXPECT_FALSE(supported({.filters = 16, .kernel_h = 5}, as_it_is));
  EXPECT_FALSE(supported({.filters = 16, .classes = 33}, as_it_is));
  EXPECT_FALSE(supported({.filters = 16, .activation = Activation::tanh}, as_it_is));
  EXPECT_FALSE(supported(n, [](Conv2dPoolAttrs& a) { a.conv.stride_h = 2; }));
  EXPECT_FALSE(supported(n, [](Conv2dPoolAttrs& a) { a.conv.stride_w = 2; }));
  EXPECT_FALSE(supported(n, [](Conv2dPoolAttrs& a) { a.conv.dilation_h = 2; }));
  EXPECT_FALSE(supported(n, [](Conv2dPoolAttrs& a) { a.conv.dilation_w = 2; }));
  EXPECT_FALSE(supported(n, [](Conv2dPoolAttrs& a) { a.pool.size_h = 3; }));
}

/// A GPU's samples read the dense layer's weights each, from farther away than a core does.
TEST(SmallCnn, EachDeviceSaysWhetherItGains) {
  cuda::Registry gpu;
  cuda::register_cuda_kernels(gpu);
  cpu::Registry cpu;
  cpu::register_cpu_kernels(cpu);
  const auto wants = [](const auto& registry, std::int64_t batch) {
    const Network n{.batch = batch, .image = {28, 28, 1}, .filters = 32};
    const SmallCnnOp op(attributes(n));
    const std::vector<ValueType> in = operands(n);
    return registry.wants({op, in, op.infer(in), {}});
  };
  for (const std::int64_t batch : {1, 4, 128, 300}) {
    EXPECT_TRUE(wants(gpu, batch)) << batch;
    EXPECT_TRUE(wants(cpu, batch)) << batch;
  }
  EXPECT_FALSE(wants(gpu, 100'000));
  EXPECT_TRUE(wants(cpu, 100'000));
}

TEST(SmallCnn, NamesTheLayerAndTheShapes) {
  std::vector<ValueType> in = operands({});
  in[SmallCnnOp::In::targets] = f32({1});
  EXPECT_EQ(inference_error(make_op(SmallCnnOp(attributes({}))), in, "loss"),
            "[small_cnn 'loss'] expected u8 or f32 samples and i32 targets; got u8 (1, 8, 10, 1) "
            "and f32 (1)");
}

}  // namespace
}  // namespace linnet::testing
