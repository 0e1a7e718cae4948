// SPDX-License-Identifier: Apache-2.0
// What a plan says that a step launches, against what the simulated device records of one.
#include <algorithm>

#include "backend/cuda/cublaslt.h"
#include "backend/cuda/cuda_backend.h"
#include "backend/cuda/described_backend.h"
#include "end_to_end/needed_passes.h"
#include "model/step_graph.h"
#include "networks/networks.h"
#include "ops/cuda_kernels.h"
#include "simulated_model.h"
#include "train/memory_plan.h"

namespace linnet::testing {
namespace {

struct Case {
  const char* name;
  Network network;
  Loss loss = Loss::automatic;
};

std::vector<Case> networks() {
  return {{"mnist-cnn", workloads::mnist_cnn()},
          {"resnet50", zoo::resnet50()},
          {"densenet121",
           zoo::densenet121({.sample = {224, 224, 3}, .classes = 14, .pixels = imagenet_pixels()}),
           Loss::binary_cross_entropy},
          {"mlp", workloads::rosenbrock_mlp()},
          {"vgg", workloads::vgg_cifar10()},
          {"flux", workloads::flux_cnn()},
          {"gru", workloads::gru_imdb()}};
}

cuda::Registry registry(bool libraries) {
  cuda::Registry registry;
  cuda::register_cuda_kernels(registry);
  if (libraries) cuda::register_cuda_libraries(registry);
  return registry;
}

std::unique_ptr<Backend> simulated(const CudaOptions& options, bool libraries) {
  auto device = std::make_shared<cuda::Device>(cuda::find_device(""));
  cuda::Libraries found;
  if (libraries) found.cublaslt = std::make_shared<cuda::CublasLt>();
  return std::make_unique<cuda::CudaBackend>(registry(libraries), std::move(device), options,
                                             std::move(found));
}

std::unique_ptr<Program> prepared(Backend& backend, const Case& of) {
  const TrainingOptions options{.loss = of.loss};
  return backend.prepare(training_graph(of.network.definition(), 8, options, backend), {});
}

CudaDevice hopper() {
  CudaDevice device;
  device.compute_capability = 90;
  device.multiprocessors = 132;
  return device;
}

/// The names of what a program's step launches, a library's as such.
std::vector<std::string> planned(const Program& program) {
  const StepLaunches& step = *program.launches();
  std::vector<std::string> names;
  const auto add = [&](const std::vector<PlannedLaunch>& launches) {
    for (const PlannedLaunch& launch : launches) {
      names.push_back(launch.library.empty() ? launch.name : launch.library);
    }
  };
  for (const auto& launches : step.nodes) add(launches);
  add(step.ending);
  return names;
}

/// The nodes that one step of the program becomes when it is captured.
std::vector<std::string> captured(Backend& backend, Program& program) {
  Memory memory;
  for (std::size_t s = 0; s < kStorages; ++s) {
    memory.buffers[s] = backend.allocate(std::max<std::size_t>(program.plan().bytes[s], 1));
  }
  program.attach(memory);
  const std::unique_ptr<Buffer> external = backend.allocate(1 << 20);
  for (const Placement& place : program.plan().values) {
    if (place.storage == Storage::external) program.bind(place.offset, external->data());
  }
  cuda::sim::clear();
  program.run({}, 1);
  std::vector<std::string> names;
  for (const cuda::sim::Launch& launch : cuda::sim::launches()) {
    if (launch.issue == cuda::sim::Issue::kCaptured) names.push_back(launch.name);
  }
  const cuda::sim::Counters counters = cuda::sim::counters();
  EXPECT_EQ(counters.launches, names.size() + 1) << "the captured ones once, after start_loop";
  EXPECT_EQ(counters.memsets + counters.device_to_device.count, 0U);
  return names;
}

TEST(PlannedLaunches, AreTheNodesOfTheCapturedStep) {
  for (const Case& of : networks()) {
    const MachineGuard machine;
    cuda::sim::device().record_launches = true;
    cuda::sim::device().compute = false;
    cuda::sim::device().memory = std::size_t{1} << 42;
    // A loop would not end: nothing counts its steps.
    const auto backend = simulated({.graph_steps = 1}, false);
    const auto program = prepared(*backend, of);
    EXPECT_EQ(planned(*program), captured(*backend, *program)) << of.name;
  }
}

TEST(PlannedLaunches, OfADescribedGpuAreThoseOfTheDevice) {
  for (const Case& of : networks()) {
    const MachineGuard machine;
    cuda::sim::device().compute = false;
    const auto device = simulated({}, true);
    const std::vector<std::string> expected = planned(*prepared(*device, of));
    cuda::sim::device().count = 0;
    cuda::DescribedBackend described(registry(true), hopper(), {.cudnn = false},
                                     Precision::automatic);
    EXPECT_EQ(planned(*prepared(described, of)), expected) << of.name;
    cuda::sim::device().count = 1;
  }
}

TEST(PlannedLaunches, OfADescribedGpuNameTheLibraries) {
  cuda::DescribedBackend described(registry(true), hopper(), {}, Precision::automatic);
  const auto program = prepared(described, {"resnet50", zoo::resnet50()});
  std::size_t cudnn = 0;
  for (const auto& launches : program->launches()->nodes) {
    for (const PlannedLaunch& launch : launches) {
      if (launch.library != "cudnn") continue;
      ++cudnn;
      EXPECT_NE(launch.name.find("tf32"), std::string::npos) << launch.name;
    }
  }
  EXPECT_EQ(cudnn, 53U * 3 - 1) << "53 convolutions and their gradients, but the images' own";
}

/// Gradients of weights alone are read by nobody but the step's finish.
TEST(PlannedLaunches, BranchesOverlapInNoMemory) {
  LINNET_NEEDS_PASSES("fuse_conv2d_pool", "fuse_epilogue", "fuse_gather_scale",
                      "fuse_softmax_cross_entropy", "fuse_small_cnn");
  for (const Case& of : networks()) {
    cuda::DescribedBackend described(registry(true), hopper(), {}, Precision::automatic);
    const Plan plan = prepared(described, of)->plan();
    EXPECT_NO_THROW(verify_plan(plan)) << of.name;
    std::size_t aside = 0;
    for (std::size_t n = 0; n < plan.graph.nodes().size(); ++n) {
      const bool weight = plan.graph.nodes()[n].op->name().ends_with("_grad_weight");
      if (plan.branches.is_side(n)) ++aside;
      if (weight) {
        EXPECT_TRUE(plan.branches.is_side(n)) << of.name << ", node " << n;
      }
    }
    EXPECT_EQ(aside > 0, std::string_view(of.name) != "mnist-cnn") << of.name;
    Plan wrong = plan;  // the finish does not wait
    for (std::size_t& awaited : wrong.branches.awaited) awaited = Branches::kNobody;
    if (aside > 0) {
      EXPECT_THROW(verify_plan(wrong), InternalError) << of.name;
    }
  }
}

/// What training_passes_test.cpp compares differs.
TEST(PlannedLaunches, PassesOfGpusLeaveNodesOut) {
  LINNET_NEEDS_PASSES("fuse_batch_norm", "fuse_bias_grad", "join_norms");
  cuda::DescribedBackend described(registry(true), hopper(), {}, Precision::automatic);
  const auto nodes = [&](const Network& network, std::vector<std::string> disabled) {
    const TrainingOptions options{.disabled_passes = std::move(disabled)};
    return planned(
               *described.prepare(training_graph(network.definition(), 8, options, described), {}))
        .size();
  };
  // Additions of gradients, but that before the pooling.
  EXPECT_EQ(nodes(zoo::resnet50(), {"join_norms"}), nodes(zoo::resnet50(), {}) + 15);
  EXPECT_GT(nodes(workloads::rosenbrock_mlp(), {"fuse_bias_grad"}),
            nodes(workloads::rosenbrock_mlp(), {}));
}

/// tiles_of_one_launch() of batch norms decides this.
TEST(PlannedLaunches, BatchNormsTakeOneLaunchWhereTwoAreNotFaster) {
  // Second launches: of the norm, and of its gradient, of whose rows a thread keeps fewer.
  const auto second = [](std::int64_t side, std::int64_t filters) {
    cuda::DescribedBackend described(registry(false), hopper(), {}, Precision::automatic);
    const Network network({side, side, 3}, {Conv2d{.filters = filters, .kernel = 1}, BatchNorm{},
                                            GlobalAvgPool2d{}, Dense{.units = 10}});
    const std::vector<std::string> names = planned(*prepared(described, {"norm", network}));
    EXPECT_EQ(std::ranges::count(names, "batch_norm"), 1);
    EXPECT_EQ(std::ranges::count(names, "batch_norm_grad"), 1);
    return std::pair(static_cast<int>(std::ranges::count(names, "batch_norm moments")),
                     static_cast<int>(std::ranges::count(names, "batch_norm_grad sums")));
  };
  EXPECT_EQ(second(8, 64), std::pair(0, 0)) << "512 rows";
  EXPECT_EQ(second(16, 512), std::pair(0, 1)) << "4 MiB by 64 blocks";
  EXPECT_EQ(second(32, 64), std::pair(1, 1)) << "2 MiB by 8 blocks";
  EXPECT_EQ(second(160, 128), std::pair(1, 1)) << "100 MiB";
}

TEST(PlannedLaunches, ADescribedGpuHoldsNothing) {
  cuda::DescribedBackend described(registry(false), hopper(), {}, Precision::automatic);
  EXPECT_THROW(described.allocate(1), DeviceError);
  EXPECT_THROW(prepared(described, {"mlp", workloads::rosenbrock_mlp()})->run({}, 1), DeviceError);
}

}  // namespace
}  // namespace linnet::testing
