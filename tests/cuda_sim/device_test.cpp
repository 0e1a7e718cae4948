// SPDX-License-Identifier: Apache-2.0
// The machine's knobs, and the record of what it did.
#include "cuda_sim/sim_test.h"

namespace linnet::cuda {
namespace {

__global__ void nothing() {}

class Machine : public SimTest {};

TEST_F(Machine, WithoutADeviceAnswersAsADriverlessOne) {
  sim::device().count = 0;
  int count = 77;
  void* pointer = nullptr;
  cudaStream_t stream = nullptr;
  EXPECT_EQ(cudaGetDeviceCount(&count), cudaErrorInsufficientDriver);
  EXPECT_EQ(count, 77);
  EXPECT_EQ(cudaMalloc(&pointer, 16), cudaErrorInsufficientDriver);
  EXPECT_EQ(cudaStreamCreate(&stream), cudaErrorInsufficientDriver);
  EXPECT_EQ(cudaSetDevice(0), cudaErrorInsufficientDriver);
  EXPECT_NE(error_of([&] { launch(stream_, "nothing", {}, nothing); }), "");
  int version = 1;
  EXPECT_EQ(cudaDriverGetVersion(&version), cudaSuccess);
  EXPECT_EQ(version, 0);
  sim::device().missing = cudaErrorNoDevice;
  EXPECT_EQ(cudaGetDeviceCount(&count), cudaErrorNoDevice);
}

TEST_F(Machine, SaysWhatItIs) {
  sim::device().count = 2;
  sim::device().major = 7;
  sim::device().minor = 5;
  sim::device().name = "Old";
  int count = 0;
  EXPECT_EQ(cudaGetDeviceCount(&count), cudaSuccess);
  EXPECT_EQ(count, 2);
  cudaDeviceProp first{};
  cudaDeviceProp second{};
  ASSERT_EQ(cudaGetDeviceProperties(&first, 0), cudaSuccess);
  ASSERT_EQ(cudaGetDeviceProperties(&second, 1), cudaSuccess);
  EXPECT_STREQ(first.name, "Old");
  EXPECT_EQ(first.major * 10 + first.minor, 75);
  EXPECT_NE(std::string(first.uuid.bytes, 16), std::string(second.uuid.bytes, 16));
  EXPECT_NE(first.pciBusID, second.pciBusID);
  EXPECT_EQ(cudaGetDeviceProperties(&first, 2), cudaErrorInvalidDevice);
  EXPECT_EQ(cudaSetDevice(2), cudaErrorInvalidDevice);
  int value = 0;
  EXPECT_EQ(cudaDeviceGetAttribute(&value, cudaDevAttrComputeCapabilityMajor, 1), cudaSuccess);
  EXPECT_EQ(value, 7);
}

TEST_F(Machine, ExplainsErrors) {
  EXPECT_STREQ(cudaGetErrorName(cudaErrorInsufficientDriver), "cudaErrorInsufficientDriver");
  EXPECT_STREQ(cudaGetErrorString(cudaErrorMemoryAllocation), "out of memory");
  EXPECT_STREQ(cudaGetErrorString(static_cast<cudaError_t>(12345)), "unrecognized error code");
}

TEST_F(Machine, RecordsLaunches) {
  launch(stream_, "before", {}, nothing);
  EXPECT_TRUE(sim::launches().empty());
  sim::device().record_launches = true;
  launch(stream_, "direct", {.grid = {2, 3}, .block = 64, .shared_bytes = 128}, nothing);
  ASSERT_EQ(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeThreadLocal), cudaSuccess);
  launch(stream_, "later", {}, nothing);
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t exec = nullptr;
  ASSERT_EQ(cudaStreamEndCapture(stream_, &graph), cudaSuccess);
  ASSERT_EQ(cudaGraphInstantiate(&exec, graph), cudaSuccess);
  ASSERT_EQ(cudaGraphLaunch(exec, stream_), cudaSuccess);
  const std::vector<sim::Launch> launches = sim::launches();
  ASSERT_EQ(launches.size(), 3U);
  EXPECT_EQ(launches[0].name, "direct");
  EXPECT_EQ(launches[0].grid.y, 3U);
  EXPECT_EQ(launches[0].block.x, 64U);
  EXPECT_EQ(launches[0].shared_bytes, 128U);
  EXPECT_EQ(launches[0].issue, sim::Issue::kDirect);
  EXPECT_EQ(launches[1].issue, sim::Issue::kCaptured);
  EXPECT_EQ(launches[2].name, "later");
  EXPECT_EQ(launches[2].issue, sim::Issue::kReplayed);
  EXPECT_EQ(sim::counters().launches, 3U);  // the captured one ran once
  sim::clear();
  EXPECT_TRUE(sim::launches().empty());
  EXPECT_EQ(sim::counters().launches, 0U);
  EXPECT_EQ(cudaGraphExecDestroy(exec), cudaSuccess);
  EXPECT_EQ(cudaGraphDestroy(graph), cudaSuccess);
}

TEST_F(Machine, CountsWaiting) {
  cudaEvent_t event = nullptr;
  ASSERT_EQ(cudaEventCreate(&event), cudaSuccess);
  ASSERT_EQ(cudaEventRecord(event, stream_), cudaSuccess);
  EXPECT_EQ(cudaEventQuery(event), cudaSuccess);
  EXPECT_EQ(cudaStreamQuery(stream_), cudaSuccess);
  EXPECT_EQ(cudaEventSynchronize(event), cudaSuccess);
  EXPECT_EQ(cudaStreamSynchronize(stream_), cudaSuccess);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(sim::counters().synchronizations, 3U);
  EXPECT_EQ(sim::counters().queries, 2U);
  EXPECT_EQ(cudaEventDestroy(event), cudaSuccess);
  EXPECT_EQ(cudaEventSynchronize(event), cudaErrorInvalidResourceHandle);
}

TEST_F(Machine, TimesPassBetweenTimedEvents) {
  cudaEvent_t start = nullptr;
  cudaEvent_t end = nullptr;
  cudaEvent_t untimed = nullptr;
  ASSERT_EQ(cudaEventCreate(&start), cudaSuccess);
  ASSERT_EQ(cudaEventCreate(&end), cudaSuccess);
  ASSERT_EQ(cudaEventCreateWithFlags(&untimed, cudaEventDisableTiming), cudaSuccess);
  float milliseconds = -1;
  EXPECT_EQ(cudaEventElapsedTime(&milliseconds, start, end), cudaErrorInvalidResourceHandle);
  for (cudaEvent_t event : {start, end, untimed}) EXPECT_EQ(cudaEventRecord(event), cudaSuccess);
  EXPECT_EQ(cudaEventElapsedTime(&milliseconds, start, end), cudaSuccess);
  EXPECT_GE(milliseconds, 0);
  EXPECT_EQ(cudaEventElapsedTime(&milliseconds, start, untimed), cudaErrorInvalidResourceHandle);
  for (cudaEvent_t event : {start, end, untimed}) EXPECT_EQ(cudaEventDestroy(event), cudaSuccess);
}

TEST_F(Machine, KnowsItsStreams) {
  cudaStream_t stream = nullptr;
  ASSERT_EQ(cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, -1), cudaSuccess);
  EXPECT_EQ(cudaStreamDestroy(stream), cudaSuccess);
  EXPECT_EQ(cudaStreamSynchronize(stream), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(cudaStreamDestroy(stream), cudaErrorInvalidResourceHandle);
  EXPECT_NE(error_of([&] { launch(stream, "nothing", {}, nothing); }), "");
  EXPECT_EQ(error_of([&] { launch(nullptr, "nothing", {}, nothing); }), "");
}

}  // namespace
}  // namespace linnet::cuda
