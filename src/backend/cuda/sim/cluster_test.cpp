// SPDX-License-Identifier: Apache-2.0
// Blocks that wait for each other.
#include "backend/cuda/cluster.cuh"
#include "backend/cuda/device.cuh"
#include "backend/cuda/sim/sim_test.h"

namespace linnet::cuda {
namespace {

class Cluster : public SimTest {};

/// Each block hands its number on to its right neighbour in the cluster, through shared memory of
/// its own and memory of the device, `rounds` times.
__global__ void hand_on(int* mailbox, int* result, int rounds) {
  __shared__ int mine;
  const unsigned block = blockIdx.y * gridDim.x + blockIdx.x;
  const unsigned of_cluster = 4;
  const unsigned left = blockIdx.y / of_cluster * of_cluster + (blockIdx.y + 3) % of_cluster;
  if (threadIdx.x == 0) mine = static_cast<int>(block);
  for (int round = 0; round < rounds; ++round) {
    __syncthreads();
    if (threadIdx.x == 5) mailbox[block] = mine;
    cluster_barrier();
    const int got = mailbox[left * gridDim.x + blockIdx.x];
    cluster_barrier();
    if (threadIdx.x == 0) mine = got;
  }
  __syncthreads();
  if (threadIdx.x == 63) result[block] = mine;
}

const LaunchShape kShape{.grid = {3, 8}, .block = 64, .cluster = 4};

TEST_F(Cluster, BlocksWaitForEachOther) {
  int* mailbox = device_array<int>(24);
  int* result = device_array<int>(24);
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    sim::device().shuffle_seed = seed;
    launch(stream_, "hand_on", kShape, hand_on, mailbox, result, 3);
    for (int y = 0; y < 8; ++y) {
      for (int x = 0; x < 3; ++x) {
        EXPECT_EQ(result[y * 3 + x], (y / 4 * 4 + (y + 1) % 4) * 3 + x) << seed;
      }
    }
  }
}

__global__ void without_barrier(int* mailbox, int* result) {
  const unsigned block = blockIdx.y * gridDim.x + blockIdx.x;
  mailbox[block] = 1;
  result[block] = mailbox[(blockIdx.y ^ 1U) * gridDim.x + blockIdx.x];
}

TEST_F(Cluster, AMissingBarrierShows) {
  int* mailbox = device_array<int>(24);
  int* result = device_array<int>(24);
  launch(stream_, "without_barrier", kShape, without_barrier, mailbox, result);
  EXPECT_EQ(result[0], 0);
}

__global__ void some_leave(int* count) {
  if (blockIdx.y % 4 == 2 || threadIdx.x % 2 == 1) return;
  cluster_barrier();
  atomicAdd(count, 1);
}

TEST_F(Cluster, WhoHasEndedIsNotWaitedFor) {
  int* count = device_array<int>(1);
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    sim::device().shuffle_seed = seed;
    *count = 0;
    launch(stream_, "some_leave", kShape, some_leave, count);
    EXPECT_EQ(*count, 3 * 6 * 32);
  }
}

__global__ void one_fails() {
  if (blockIdx.x == 1 && blockIdx.y == 5 && threadIdx.x < 32) __syncthreads();
  cluster_barrier();
}

TEST_F(Cluster, AFailureOfOneBlockEndsAll) {
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    sim::device().shuffle_seed = seed;
    const std::string error = error_of([&] { launch(stream_, "one_fails", kShape, one_fails); });
    EXPECT_NE(error.find("kernel 'one_fails', block (1, 5, 0)"), std::string::npos) << error;
    EXPECT_NE(error.find("cluster_barrier"), std::string::npos) << error;
  }
}

__global__ void nothing() {}

TEST_F(Cluster, WhatADeviceRefusesIsRefused) {
  const auto refused = [&](const LaunchShape& shape) {
    return !error_of([&] { launch(stream_, "nothing", shape, nothing); }).empty();
  };
  EXPECT_FALSE(refused({.grid = {2, 8}, .block = 32, .cluster = 8}));
  EXPECT_TRUE(refused({.grid = {2, 32}, .block = 32, .cluster = 16}));
  EXPECT_TRUE(refused({.grid = {2, 12}, .block = 32, .cluster = 8}));
  sim::device().major = 8;
  EXPECT_TRUE(refused({.grid = {2, 8}, .block = 32, .cluster = 8}));
}

}  // namespace
}  // namespace linnet::cuda
