// SPDX-License-Identifier: Apache-2.0
// What a launch must have declared and asked for.
#include "cuda_sim/sim_test.h"

namespace linnet::cuda {
namespace {

constexpr unsigned kLarge = 1024;

__global__ void undeclared(int* value) { *value = 1; }
__global__ void __launch_bounds__(kLarge) declared(int* value) { *value = 2; }
template <int kResult>
__global__ void __launch_bounds__(kLarge / 2, 2) declared_template(int* value) {
  *value = kResult;
}
__global__ void __launch_bounds__(128) declared_small(int* value) { *value = 4; }
template <int kResult>
__global__ void undeclared_template(int* value) {
  *value = kResult;
}

class Launches : public SimTest {
 protected:
  std::string error_of_launch(unsigned threads, void (*kernel)(int*)) {
    return error_of([&] { launch(stream_, "kernel", {.block = threads}, kernel, value_); });
  }
  /// As launch() does, but it asks for nothing.
  std::string error_without_asking(std::size_t shared_bytes) {
    return error_of([&] {
      sim::launch(
          stream_, "kernel", 1, 1, shared_bytes, [] {}, reinterpret_cast<const void*>(&undeclared));
    });
  }
  int* value_ = device_array<int>(1);
};

TEST_F(Launches, OfLargeBlocksWantLaunchBounds) {
  EXPECT_EQ(error_of_launch(256, undeclared), "");
  EXPECT_NE(error_of_launch(288, undeclared).find("compiled for blocks of 256 threads: larger"),
            std::string::npos)
      << error_of_launch(288, undeclared);
  EXPECT_NE(error_of_launch(1024, undeclared_template<3>), "");
  EXPECT_EQ(error_of_launch(256, undeclared_template<3>), "");
}

TEST_F(Launches, MayHaveAsManyThreadsAsDeclared) {
  EXPECT_EQ(error_of_launch(1024, declared), "");
  EXPECT_EQ(*value_, 2);
  EXPECT_EQ(error_of_launch(512, declared_template<3>), "");
  EXPECT_EQ(*value_, 3);
  EXPECT_NE(error_of_launch(1024, declared_template<3>), "");
  EXPECT_EQ(error_of_launch(128, declared_small), "");
  EXPECT_NE(error_of_launch(256, declared_small), "");
}

TEST_F(Launches, AskForMoreThan48KilobytesOfSharedMemory) {
  EXPECT_EQ(error_without_asking(32 << 10), "");
  // Static arrays are not seen, and may take the rest.
  const std::string error = error_without_asking(48 << 10);
  EXPECT_NE(error.find("must be asked for by cudaFuncSetAttribute"), std::string::npos) << error;
  const auto* kernel = reinterpret_cast<const void*>(&undeclared);
  ASSERT_EQ(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, 48 << 10),
            cudaSuccess);
  EXPECT_EQ(error_without_asking(48 << 10), "");
  EXPECT_NE(error_without_asking(49 << 10), "");
  EXPECT_EQ(error_of([&] {
              launch(stream_, "kernel", {.shared_bytes = 200 << 10}, undeclared, value_);
            }),
            "");
}

TEST_F(Launches, InAGraphKeepTheSharedMemoryThatTheyAskedFor) {
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t exec = nullptr;
  ASSERT_EQ(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeThreadLocal), cudaSuccess);
  launch(stream_, "kernel", {.shared_bytes = 60 << 10}, declared, value_);
  launch(stream_, "kernel", {.shared_bytes = 50 << 10}, declared, value_);
  ASSERT_EQ(cudaStreamEndCapture(stream_, &graph), cudaSuccess);
  ASSERT_EQ(cudaGraphInstantiate(&exec, graph, 0), cudaSuccess);
  EXPECT_EQ(error_of([&] { cudaGraphLaunch(exec, stream_); }), "");
  const auto* kernel = reinterpret_cast<const void*>(&declared);
  ASSERT_EQ(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, 50 << 10),
            cudaSuccess);
  EXPECT_NE(error_of([&] { cudaGraphLaunch(exec, stream_); }), "");
  EXPECT_EQ(cudaGraphExecDestroy(exec), cudaSuccess);
  EXPECT_EQ(cudaGraphDestroy(graph), cudaSuccess);
}

TEST_F(Launches, NeverHaveMoreSharedMemoryThanTheDevice) {
  sim::device().shared_bytes = 64 << 10;  // compute capability 7.5
  const std::string error =
      error_of([&] { launch(stream_, "kernel", {.shared_bytes = 65 << 10}, undeclared, value_); });
  EXPECT_NE(error.find("kernel: invalid argument"), std::string::npos) << error;
}

/// The end of a step as an argument: without its launch a loop would go round for ever.
struct Ends {
  bool ends = false;
  bool must_run() const { return ends; }
};
__global__ void with_end(int* value, Ends end) { *value = end.ends ? 2 : 1; }

TEST_F(Launches, OfNoBlockAreLeftOutWhereNothingHasToRun) {
  const LaunchShape none{.grid = 0};
  EXPECT_EQ(error_of([&] { launch(stream_, "kernel", none, with_end, value_, Ends{}); }), "");
  EXPECT_EQ(sim::counters().launches, 0U);
  EXPECT_THROW(launch(stream_, "kernel", none, with_end, value_, Ends{true}), InternalError);
  EXPECT_EQ(error_of([&] { launch(stream_, "kernel", {}, with_end, value_, Ends{true}); }), "");
}

TEST_F(Launches, TakeNoPointersToTheHost) {
  int host = 0;
  const std::string error = error_of([&] { launch(stream_, "kernel", {}, undeclared, &host); });
  EXPECT_NE(error.find("argument 0 points to memory of the host"), std::string::npos) << error;
  sim::device().host_pointers = true;
  EXPECT_EQ(error_of([&] { launch(stream_, "kernel", {}, undeclared, &host); }), "");
}

}  // namespace
}  // namespace linnet::cuda
