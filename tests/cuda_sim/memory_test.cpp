// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cstring>
#include <thread>

#include "cuda_sim/sim_test.h"

namespace linnet::cuda {
namespace {

class Memory : public SimTest {};

TEST_F(Memory, IsFullOfGarbageAndAligned) {
  unsigned char* pointer = nullptr;
  ASSERT_EQ(cudaMalloc(&pointer, 1000), cudaSuccess);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(pointer) % 256, 0U);
  EXPECT_EQ(pointer[0], 0xCD);
  EXPECT_EQ(pointer[999], 0xCD);
  EXPECT_EQ(cudaFree(pointer), cudaSuccess);
}

TEST_F(Memory, IsLimited) {
  sim::device().memory = sim::allocated_bytes() + 4096;
  std::size_t free = 0;
  std::size_t total = 0;
  ASSERT_EQ(cudaMemGetInfo(&free, &total), cudaSuccess);
  EXPECT_EQ(free, 4096U);
  void* first = nullptr;
  void* second = nullptr;
  ASSERT_EQ(cudaMalloc(&first, 3000), cudaSuccess);
  EXPECT_EQ(cudaMalloc(&second, 1025), cudaErrorMemoryAllocation);
  EXPECT_EQ(cudaMallocAsync(&second, 1025, stream_), cudaErrorMemoryAllocation);
  EXPECT_EQ(cudaMalloc(&second, ~std::size_t{0}), cudaErrorMemoryAllocation);
  ASSERT_EQ(cudaMalloc(&second, 1024), cudaSuccess);
  ASSERT_EQ(cudaMemGetInfo(&free, &total), cudaSuccess);
  EXPECT_EQ(free, 0U);
  EXPECT_EQ(cudaFree(first), cudaSuccess);
  EXPECT_EQ(cudaFree(second), cudaSuccess);
  EXPECT_EQ(sim::counters().allocations, 2U);
}

TEST_F(Memory, IsFreedOnceAndAtItsStart) {
  std::byte* pointer = nullptr;
  std::byte* host = nullptr;
  ASSERT_EQ(cudaMalloc(&pointer, 64), cudaSuccess);
  ASSERT_EQ(cudaMallocHost(&host, 64), cudaSuccess);
  EXPECT_EQ(cudaFree(pointer + 16), cudaErrorInvalidValue);
  EXPECT_EQ(cudaFree(host), cudaErrorInvalidValue);
  EXPECT_EQ(cudaFreeHost(pointer), cudaErrorInvalidValue);
  EXPECT_EQ(cudaFreeAsync(pointer, stream_), cudaSuccess);
  EXPECT_EQ(cudaFree(pointer), cudaErrorInvalidValue);
  EXPECT_EQ(cudaFreeHost(host), cudaSuccess);
  EXPECT_EQ(cudaFreeHost(host), cudaErrorInvalidValue);
  EXPECT_EQ(cudaFree(nullptr), cudaSuccess);
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
}

TEST_F(Memory, ThreadsCopyAndWaitAtTheSameTime) {
  constexpr std::size_t kThreads = 4;
  int* values = device_array<int>(2 * kThreads);
  cudaStream_t shared = nullptr;
  ASSERT_EQ(cudaStreamCreate(&shared), cudaSuccess);
  std::vector<std::thread> threads;
  std::vector<int> wrong(kThreads, 0);
  for (std::size_t t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (int round = 0; round < 500; ++round) {
        const std::array<int, 2> mine{static_cast<int>(t), round};
        std::array<int, 2> back{};
        cudaMemcpy(values + 2 * t, mine.data(), sizeof mine, cudaMemcpyHostToDevice);
        cudaMemcpy(back.data(), values + 2 * t, sizeof back, cudaMemcpyDeviceToHost);
        cudaMemsetAsync(values + 2 * t, 0, sizeof mine, shared);
        cudaStreamSynchronize(shared);
        wrong[t] += back != mine || values[2 * t + 1] != 0 ? 1 : 0;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(cudaStreamDestroy(shared), cudaSuccess);
  EXPECT_EQ(wrong, std::vector<int>(kThreads, 0));
}

TEST_F(Memory, NothingIsANullPointer) {
  void* pointer = this;
  EXPECT_EQ(cudaMalloc(&pointer, 0), cudaSuccess);
  EXPECT_EQ(pointer, nullptr);
}

#if !defined(__SANITIZE_ADDRESS__)
TEST_F(Memory, WritesBehindItAreFoundWhenItIsFreed) {
  unsigned char* pointer = nullptr;
  ASSERT_EQ(cudaMalloc(&pointer, 100), cudaSuccess);
  pointer[100] = 0;
  EXPECT_EQ(cudaFree(pointer), cudaErrorIllegalAddress);
}
#endif

TEST_F(Memory, CopiesGoWhereTheirKindSays) {
  int* device = device_array<int>(4);
  std::array<int, 4> host{1, 2, 3, 4};
  const std::size_t bytes = sizeof host;
  EXPECT_EQ(cudaMemcpyAsync(device, host.data(), bytes, cudaMemcpyHostToDevice, stream_),
            cudaSuccess);
  EXPECT_EQ(cudaStreamSynchronize(stream_), cudaSuccess);
  EXPECT_EQ(device[3], 4);
  host = {};
  EXPECT_EQ(cudaMemcpy(host.data(), device, bytes, cudaMemcpyDefault), cudaSuccess);
  EXPECT_EQ(host[3], 4);
  EXPECT_EQ(cudaMemcpy(host.data(), device, bytes, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemcpy(device, host.data(), bytes, cudaMemcpyDeviceToDevice),
            cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemcpy(device + 1, host.data(), bytes, cudaMemcpyHostToDevice),
            cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemset(device + 1, 0, bytes), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemset(host.data(), 0, bytes), cudaErrorInvalidValue);

  const sim::Counters counters = sim::counters();
  EXPECT_EQ(counters.host_to_device.count, 1U);
  EXPECT_EQ(counters.host_to_device.bytes, bytes);
  EXPECT_EQ(counters.device_to_host.count, 1U);
  EXPECT_EQ(counters.device_to_device.count, 0U);
  EXPECT_EQ(counters.synchronizations, 2U);  // and the blocking copy that worked
}

TEST_F(Memory, KnowsItsPointers) {
  int* device = device_array<int>(4);
  int* pinned = nullptr;
  int plain = 0;
  ASSERT_EQ(cudaHostAlloc(&pinned, 16, cudaHostAllocMapped), cudaSuccess);
  cudaPointerAttributes attributes{};
  ASSERT_EQ(cudaPointerGetAttributes(&attributes, device + 3), cudaSuccess);
  EXPECT_EQ(attributes.type, cudaMemoryTypeDevice);
  ASSERT_EQ(cudaPointerGetAttributes(&attributes, pinned), cudaSuccess);
  EXPECT_EQ(attributes.type, cudaMemoryTypeHost);
  ASSERT_EQ(cudaPointerGetAttributes(&attributes, &plain), cudaSuccess);
  EXPECT_EQ(attributes.type, cudaMemoryTypeUnregistered);
  int* seen = nullptr;
  EXPECT_EQ(cudaHostGetDevicePointer(&seen, pinned, 0), cudaSuccess);
  EXPECT_EQ(seen, pinned);
  EXPECT_EQ(cudaHostGetDevicePointer(&seen, &plain, 0), cudaErrorInvalidValue);
  EXPECT_EQ(cudaFreeHost(pinned), cudaSuccess);
}

}  // namespace
}  // namespace linnet::cuda
