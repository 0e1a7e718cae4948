// SPDX-License-Identifier: Apache-2.0
// What training steps launch: mnist-cnn with the whole network fused and without, ResNet-50,
// DenseNet-121, the perceptron and the GRU (recorded without computing). They stand in
// *_launches.txt beside this file;
// LINNET_WRITE_GOLDEN=1 before the test writes them anew.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <array>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "end_to_end/needed_passes.h"
#include "networks/networks.h"
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
         fmt::format("# planned: {}\n", to_text(plan_of(workloads::mnist_cnn(), 128, {}))) +
         launches_of_a_step(workloads::mnist_cnn(), digits) +
         fmt::format("\n# without fuse_small_cnn\n# planned: {}\n",
                     to_text(plan_of(workloads::mnist_cnn(), 128, unfused.disabled_passes))) +
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
  LINNET_NEEDS_PASSES("fuse_batch_norm", "fuse_bias_grad", "join_norms", "fuse_conv2d_pool",
                      "fuse_epilogue", "fuse_gather_scale", "fuse_softmax_cross_entropy",
                      "fuse_small_cnn");
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

}  // namespace
}  // namespace linnet::testing
