// SPDX-License-Identifier: Apache-2.0
// Kernels and launches that are wrong, and what is said of them.
#include "backend/cuda/device.cuh"
#include "cuda_sim/sim_test.h"

namespace linnet::cuda {
namespace {

using ::testing::AssertionFailure;
using ::testing::AssertionResult;
using ::testing::AssertionSuccess;

class BlockError : public SimTest {};

AssertionResult says(const std::string& text, std::initializer_list<const char*> parts) {
  for (const char* part : parts) {
    if (text.find(part) == std::string::npos) {
      return AssertionFailure() << "no '" << part << "' in: " << text;
    }
  }
  return AssertionSuccess();
}

__global__ void divergent() {
  if (threadIdx.x < 40) {
    __syncthreads();
  } else {
    __syncthreads();
  }
}

TEST_F(BlockError, DivergentBarriersAreNamed) {
  const std::string error =
      error_of([&] { launch(stream_, "divergent", {.grid = 2, .block = 64}, divergent); });
  EXPECT_TRUE(says(error, {"kernel 'divergent'", "block (0, 0, 0)", "thread (40, 0, 0)",
                           "block_error_test.cpp", "__syncthreads"}));
}

__global__ void stuck() {
  if (threadIdx.x >= 48) return;
  if (threadIdx.x < 8) {
    __syncthreads();
  } else if (threadIdx.x < 32) {
    __syncwarp();
  }
}

TEST_F(BlockError, DeadlocksNameWhoWaitsWhere) {
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    sim::device().shuffle_seed = seed;
    const std::string error = error_of([&] { launch(stream_, "stuck", {.block = 64}, stuck); });
    EXPECT_TRUE(says(error, {"kernel 'stuck'", "deadlock", "32 of 64 threads have exited",
                             "thread (0, 0, 0) and 7 more wait at __syncthreads",
                             "thread (8, 0, 0) and 23 more wait at __syncwarp", "0xffffffff"}));
  }
}

__global__ void different_operations() {
  if (threadIdx.x < 16) {
    __shfl_xor_sync(kFullWarp, 1, 1);
  } else {
    __shfl_down_sync(kFullWarp, 1, 1);
  }
}

TEST_F(BlockError, DifferentWarpOperationsDeadlock) {
  const std::string error =
      error_of([&] { launch(stream_, "mixed", {.block = 32}, different_operations); });
  EXPECT_TRUE(says(error, {"deadlock", "__shfl_xor_sync", "__shfl_down_sync"}));
}

__global__ void foreign_mask() { __syncwarp(0xFFFFFFFEU); }

TEST_F(BlockError, TheCallerMustBeInItsMask) {
  const std::string error =
      error_of([&] { launch(stream_, "foreign", {.block = 32}, foreign_mask); });
  EXPECT_TRUE(says(error, {"kernel 'foreign'", "thread (0, 0, 0)", "not in the mask 0xfffffffe"}));
}

__global__ void full_warp(float* result) { *result = warp_sum(1.0F); }

TEST_F(BlockError, AMaskMustNotReachPastTheBlock) {
  float* result = device_array<float>(1);
  const std::string error =
      error_of([&] { launch(stream_, "short", {.block = 48}, full_warp, result); });
  EXPECT_TRUE(says(error, {"kernel 'short'", "thread (32, 0, 0)", "0xffff0000"}));
}

__global__ void reads_exited(int* result) {
  if (threadIdx.x == 7) return;
  *result = __shfl_sync(kFullWarp, 1, 7);
}
__global__ void reads_outside(int* result) {
  if (threadIdx.x < 16) *result = __shfl_sync(0xFFFFU, 1, 20);
}

TEST_F(BlockError, TheLaneReadMustTakePart) {
  int* result = device_array<int>(1);
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    sim::device().shuffle_seed = seed;
    const std::string exited =
        error_of([&] { launch(stream_, "exited", {.block = 32}, reads_exited, result); });
    EXPECT_TRUE(says(exited, {"kernel 'exited'", "reads lane 7", "has exited"}));
    const std::string outside =
        error_of([&] { launch(stream_, "outside", {.block = 32}, reads_outside, result); });
    EXPECT_TRUE(says(outside, {"reads lane 20", "not in the mask 0x0000ffff"}));
  }
}

__global__ void no_shared() { *shared_memory<int>() = 1; }

TEST_F(BlockError, SharedMemoryMustBeAskedFor) {
  const std::string error = error_of([&] { launch(stream_, "no_shared", {}, no_shared); });
  EXPECT_TRUE(says(error, {"kernel 'no_shared'", "0 bytes"}));
}

struct Counted {
  int* count;
  explicit Counted(int* c) : count(c) { ++*count; }
  ~Counted() { --*count; }
};

__global__ void fails_while_others_wait(int* count) {
  const Counted counted(count);
  if (threadIdx.x == 20) throw std::runtime_error("from thread 20");
  __syncthreads();
}

TEST_F(BlockError, ExceptionsComeOutAndUnwindTheOthers) {
  int* count = device_array<int>(1);
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    sim::device().shuffle_seed = seed;
    EXPECT_EQ(error_of([&] {
                launch(stream_, "fails", {.grid = 3, .block = 64}, fails_while_others_wait, count);
              }),
              "from thread 20");
    EXPECT_EQ(*count, 0);
  }
}

__global__ void __launch_bounds__(1024) nothing() {}

TEST_F(BlockError, ALaunchAfterAFailedOneWorks) {
  EXPECT_NE(error_of([&] { launch(stream_, "stuck", {.block = 64}, stuck); }), "");
  EXPECT_EQ(error_of([&] { launch(stream_, "nothing", {.block = 64}, nothing); }), "");
}

TEST_F(BlockError, ShapesAreThoseOfHardware) {
  const auto refused = [&](const LaunchShape& shape) {
    const std::string error = error_of([&] { launch(stream_, "shape", shape, nothing); });
    return says(error, {"kernel 'shape'", "invalid configuration argument"});
  };
  // launch() asks for it before it launches.
  const auto refused_memory = [&](std::size_t bytes) {
    return says(error_of([&] { launch(stream_, "shape", {.shared_bytes = bytes}, nothing); }),
                {"shape", "invalid argument"});
  };
  EXPECT_TRUE(refused({.grid = {1, 0}}));
  EXPECT_TRUE(refused({.grid = {1, 65536}}));
  EXPECT_TRUE(refused({.block = 0}));
  EXPECT_TRUE(refused({.block = 1025}));
  EXPECT_TRUE(refused({.block = {1, 1, 65}}));
  EXPECT_TRUE(refused_memory(227 * 1024 + 1));
  EXPECT_FALSE(refused({.grid = {1, 65535}}));
  EXPECT_FALSE(refused({.grid = 0}));  // launch() launches nothing
  EXPECT_FALSE(refused({.shared_bytes = 227 * 1024}));
  EXPECT_FALSE(refused({.block = {16, 1, 64}}));
  sim::device().shared_bytes = 64 * 1024;  // sm_75
  EXPECT_TRUE(refused_memory(64 * 1024 + 1));
}

__global__ void nested(cudaStream_t stream) { launch(stream, "inner", {}, nothing); }

TEST_F(BlockError, KernelsDontLaunchKernels) {
  sim::device().host_pointers = true;  // the stream's
  const std::string error = error_of([&] { launch(stream_, "outer", {}, nested, stream_); });
  EXPECT_TRUE(says(error, {"'inner'", "inside kernel 'outer'"}));
}

}  // namespace
}  // namespace linnet::cuda
