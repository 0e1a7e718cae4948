// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "backend/cuda/launch.h"

namespace linnet::cuda {

/// Starts each test on the default machine, with a stream, and ends it without a leak.
class SimTest : public ::testing::Test {
 protected:
  SimTest() {
    sim::reset_device();
    EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);  // other tests' work
    sim::clear();
    before_ = sim::allocated_bytes();
    EXPECT_EQ(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), cudaSuccess);
  }
  ~SimTest() override {
    sim::reset_device();
    for (void* pointer : device_memory_) EXPECT_EQ(cudaFree(pointer), cudaSuccess);
    EXPECT_EQ(cudaStreamDestroy(stream_), cudaSuccess);
    EXPECT_EQ(sim::allocated_bytes(), before_);
    cudaGetLastError();
  }

  /// Returns device memory for the test; the host may read it, as the simulated device is the host.
  template <class T>
  T* device_array(std::size_t count) {
    T* pointer = nullptr;
    EXPECT_EQ(cudaMalloc(&pointer, count * sizeof(T)), cudaSuccess);
    device_memory_.push_back(pointer);
    for (std::size_t i = 0; i < count; ++i) pointer[i] = T{};
    return pointer;
  }

  /// Returns what launching throws; empty where it throws nothing.
  template <class Launch>
  static std::string error_of(const Launch& launch) {
    try {
      launch();
    } catch (const std::runtime_error& error) {
      return error.what();
    }
    return {};
  }

  cudaStream_t stream_ = nullptr;

 private:
  std::vector<void*> device_memory_;
  std::size_t before_ = 0;
};

inline constexpr std::uint64_t kSeeds = 8;  ///< orders that a test tries; 0 is the natural one

}  // namespace linnet::cuda
