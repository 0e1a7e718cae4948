// SPDX-License-Identifier: Apache-2.0
// Threads, barriers and warp operations that are right.
#include <thread>

#include "backend/cuda/device.cuh"
#include "cuda_sim/sim_test.h"

namespace linnet::cuda {
namespace {

class Block : public SimTest {};

__global__ void count_visits(int* visits) {
  const unsigned block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
  const unsigned thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  const bool inside = threadIdx.x < blockDim.x && threadIdx.y < blockDim.y &&
                      threadIdx.z < blockDim.z && blockIdx.x < gridDim.x && blockIdx.y < gridDim.y;
  visits[block * blockDim.x * blockDim.y * blockDim.z + thread] += inside ? 1 : 100;
}

TEST_F(Block, RunsEveryThreadOnce) {
  const std::size_t threads = 5 * 3 * 2 * 4 * 3 * 7;
  int* visits = device_array<int>(threads);
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    sim::device().shuffle_seed = seed;
    launch(stream_, "count_visits", {.grid = {5, 3, 2}, .block = {4, 3, 7}}, count_visits, visits);
    for (std::size_t i = 0; i < threads; ++i) ASSERT_EQ(visits[i], static_cast<int>(seed) + 1) << i;
  }
}

// Reverses a block's numbers through shared memory, thrice.
__global__ void reverse(int* values) {
  __shared__ int shared[256];
  for (int round = 0; round < 3; ++round) {
    shared[threadIdx.x] = values[threadIdx.x];
    __syncthreads();
    values[threadIdx.x] = shared[blockDim.x - 1 - threadIdx.x];
    __syncthreads();
  }
}

TEST_F(Block, BarriersSeparatePhases) {
  int* values = device_array<int>(256);
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    sim::device().shuffle_seed = seed;
    for (int i = 0; i < 256; ++i) values[i] = i;
    launch(stream_, "reverse", {.block = 256}, reverse, values);
    for (int i = 0; i < 256; ++i) ASSERT_EQ(values[i], 255 - i) << seed;
  }
}

__global__ void reverse_without_barrier(int* values) {
  __shared__ int shared[256];
  shared[threadIdx.x] = values[threadIdx.x];
  values[threadIdx.x] = shared[blockDim.x - 1 - threadIdx.x];
}

TEST_F(Block, AMissingBarrierGivesDifferentResultsInDifferentOrders) {
  int* values = device_array<int>(256);
  std::vector<int> first;
  bool differs = false;
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    sim::device().shuffle_seed = seed;
    const int base = 1000 * static_cast<int>(seed);  // so that the last round's numbers are wrong
    for (int i = 0; i < 256; ++i) values[i] = base + i;
    launch(stream_, "reverse_without_barrier", {.block = 256}, reverse_without_barrier, values);
    if (seed == 0) continue;  // there is no last round
    for (int i = 0; i < 256; ++i) values[i] -= base;
    const std::vector<int> result(values, values + 256);
    if (first.empty()) first = result;
    differs = differs || result != first;
  }
  EXPECT_TRUE(differs);
}

__global__ void sums(const float* values, float* result) {
  const float sum = block_sum(values[first_item()]);
  const float again = block_sum(2 * values[first_item()]);
  result[first_item()] = sum + again;
}

TEST_F(Block, SumsOfABlockReachEveryThread) {
  float* values = device_array<float>(3 * 160);
  float* result = device_array<float>(3 * 160);
  for (int i = 0; i < 3 * 160; ++i) values[i] = static_cast<float>(i);
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    sim::device().shuffle_seed = seed;
    launch(stream_, "sums", {.grid = 3, .block = 160}, sums, values, result);
    for (int i = 0; i < 3 * 160; ++i) {
      const int block = i / 160;
      ASSERT_EQ(result[i], 3.0F * static_cast<float>(160 * 160 * block + 159 * 160 / 2)) << i;
    }
  }
}

struct Shuffled {
  int index, wrapped, exchanged, exchanged_group, down, down_group, up, up_group;
  double wide;
};

__global__ void shuffles(Shuffled* results) {
  const int lane = static_cast<int>(threadIdx.x % 32);
  Shuffled& r = results[threadIdx.x];
  r.index = __shfl_sync(kFullWarp, lane, 5);
  r.wrapped = __shfl_sync(kFullWarp, lane, 9, 8);  // 9 wraps to 1 in each group of 8
  r.exchanged = __shfl_xor_sync(kFullWarp, lane, 17);
  r.exchanged_group = __shfl_xor_sync(kFullWarp, lane, 8, 8);  // later groups stay as they are
  r.down = __shfl_down_sync(kFullWarp, lane, 3);
  r.down_group = __shfl_down_sync(kFullWarp, lane, 3, 4);
  r.up = __shfl_up_sync(kFullWarp, lane, 3);
  r.up_group = __shfl_up_sync(kFullWarp, lane, 3, 4);
  r.wide = __shfl_xor_sync(kFullWarp, lane + 0.5, 1);
}

TEST_F(Block, ShufflesTakeTheLaneThatCudaTakes) {
  Shuffled* results = device_array<Shuffled>(64);
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    sim::device().shuffle_seed = seed;
    launch(stream_, "shuffles", {.block = 64}, shuffles, results);
    for (int i = 0; i < 64; ++i) {
      const int lane = i % 32;
      const Shuffled& r = results[i];
      EXPECT_EQ(r.index, 5);
      EXPECT_EQ(r.wrapped, lane / 8 * 8 + 1);
      EXPECT_EQ(r.exchanged, lane ^ 17);
      EXPECT_EQ(r.exchanged_group, (lane ^ 8) > (lane | 7) ? lane : lane ^ 8);
      EXPECT_EQ(r.down, lane + 3 < 32 ? lane + 3 : lane);
      EXPECT_EQ(r.down_group, lane % 4 == 0 ? lane + 3 : lane);
      EXPECT_EQ(r.up, lane >= 3 ? lane - 3 : lane);
      EXPECT_EQ(r.up_group, lane % 4 == 3 ? lane - 3 : lane);
      EXPECT_EQ(r.wide, (lane ^ 1) + 0.5);
    }
  }
}

// The halves of a warp go separate ways, meet, and the upper half leaves.
__global__ void halves(int* results) {
  const unsigned lane = threadIdx.x;
  const unsigned mask = lane < 16 ? 0x0000FFFFU : 0xFFFF0000U;
  int value = static_cast<int>(lane);
  for (unsigned round = 0; round < (lane < 16 ? 1U : 3U); ++round) {
    value = __shfl_xor_sync(mask, value, 1);
  }
  value += __shfl_xor_sync(kFullWarp, value, 16);
  results[lane] = value;
  if (lane >= 16) return;
  __syncwarp(0x0000FFFFU);
  __syncthreads();
  const int live = __popc(__activemask());
  __syncthreads();
  results[lane] += live * 1000;
}

TEST_F(Block, PartsOfAWarpRunApart) {
  int* results = device_array<int>(32);
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    sim::device().shuffle_seed = seed;
    launch(stream_, "halves", {.block = 32}, halves, results);
    for (int i = 0; i < 32; ++i) {
      const int own = i ^ 1;
      EXPECT_EQ(results[i] % 1000, own + (own ^ 16)) << i;
    }
    EXPECT_EQ(results[0] / 1000, 16);
  }
}

__global__ void votes(unsigned* results) {
  const int thread = static_cast<int>(threadIdx.x);
  unsigned* r = results + threadIdx.x * 8;
  r[0] = __ballot_sync(kFullWarp, thread % 3 == 0);
  r[1] = static_cast<unsigned>(__any_sync(kFullWarp, thread == 40));
  r[2] = static_cast<unsigned>(__all_sync(kFullWarp, thread != 40));
  r[3] = static_cast<unsigned>(__syncthreads_count(thread % 2 == 0));
  r[4] = static_cast<unsigned>(__syncthreads_or(thread == 63));
  r[5] = static_cast<unsigned>(__syncthreads_or(thread == 64));
  r[6] = static_cast<unsigned>(__syncthreads_and(thread < 64));
  r[7] = static_cast<unsigned>(__syncthreads_and(thread < 63));
}

TEST_F(Block, VotesCountEveryThread) {
  unsigned* results = device_array<unsigned>(64 * 8);
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    sim::device().shuffle_seed = seed;
    launch(stream_, "votes", {.block = 64}, votes, results);
    for (unsigned i = 0; i < 64; ++i) {
      unsigned ballot = 0;
      for (unsigned lane = 0; lane < 32; ++lane) {
        if ((i / 32 * 32 + lane) % 3 == 0) ballot |= 1U << lane;
      }
      const std::vector<unsigned> got(results + i * 8, results + i * 8 + 8);
      const std::vector<unsigned> want{ballot, i >= 32, i < 32, 32, 1, 0, 1, 0};
      ASSERT_EQ(got, want) << i;
    }
  }
}

__global__ void leave_early(int* count) {
  if (threadIdx.x % 3 != 0) return;
  __syncthreads();
  atomicAdd(count, 1);
  __syncthreads();
  if (*count != 22) atomicAdd(count, 1000);
}

TEST_F(Block, RunsOnSeveralOsThreads) {
  float* values = device_array<float>(160);
  for (int i = 0; i < 160; ++i) values[i] = 1;
  for (int round = 0; round < 2; ++round) {  // the second takes over the first's memory
    float* results = device_array<float>(4 * 160);
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back(
          [&, t] { launch(stream_, "sums", {.block = 160}, sums, values, results + 160 * t); });
    }
    for (std::thread& thread : threads) thread.join();
    for (int i = 0; i < 4 * 160; ++i) ASSERT_EQ(results[i], 480.0F) << i;
  }
}

TEST_F(Block, ThreadsThatLeftAreNotWaitedFor) {
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    sim::device().shuffle_seed = seed;
    int* count = device_array<int>(1);
    launch(stream_, "leave_early", {.block = 65}, leave_early, count);
    EXPECT_EQ(*count, 22);
  }
}

__global__ void dynamic(int* clean, int* kept) {
  int* shared = shared_memory<int>();
  if (shared[threadIdx.x] == 0) atomicAdd(clean, 1);
  shared[threadIdx.x] = 0;
  __syncthreads();
  if (shared[blockDim.x - 1 - threadIdx.x] == 0) atomicAdd(kept, 1);
}

TEST_F(Block, DynamicSharedMemoryIsTheBlocksAndStartsAsGarbage) {
  int* clean = device_array<int>(1);
  int* kept = device_array<int>(1);
  launch(stream_, "dynamic", {.grid = 3, .block = 64, .shared_bytes = 64 * sizeof(int)}, dynamic,
         clean, kept);
  EXPECT_EQ(*clean, 0);
  EXPECT_EQ(*kept, 3 * 64);
}

TEST(DeviceFunctions, HighProductsAndBitsAreRight) {
  EXPECT_EQ(__umulhi(0xFFFFFFFFU, 0xFFFFFFFFU), 0xFFFFFFFEU);
  EXPECT_EQ(__mulhi(-1, 1), -1);
  EXPECT_EQ(__umul64hi(~0ULL, ~0ULL), ~0ULL - 1);
  EXPECT_EQ(__umul64hi(0x123456789ABCDEFULL, 1ULL << 40), 0x123456789ABCDEFULL >> 24);
  EXPECT_EQ(__clz(1), 31);
  EXPECT_EQ(__ffs(8), 4);
  EXPECT_EQ(__ffs(0), 0);
  EXPECT_EQ(__popc(0xF0F0U), 8);
  EXPECT_EQ(__float2int_rn(2.5F), 2);
  EXPECT_EQ(__float_as_int(1.0F), 0x3F800000);
}

}  // namespace
}  // namespace linnet::cuda
