// SPDX-License-Identifier: Apache-2.0
// Events that graphs record at each launch.
#include <utility>

#include "cuda_sim/sim_test.h"

namespace linnet::cuda {
namespace {

__global__ void count(int* value) { ++*value; }

class GraphEvents : public SimTest {
 protected:
  GraphEvents() {
    EXPECT_EQ(cudaEventCreate(&start_), cudaSuccess);
    EXPECT_EQ(cudaEventCreate(&end_), cudaSuccess);
  }
  ~GraphEvents() override {
    if (start_ != nullptr) {
      EXPECT_EQ(cudaEventDestroy(start_), cudaSuccess);
    }
    EXPECT_EQ(cudaEventDestroy(end_), cudaSuccess);
  }

  /// A kernel between two events.
  void enqueue(int* value) {
    EXPECT_EQ(cudaEventRecordWithFlags(start_, stream_, cudaEventRecordExternal), cudaSuccess);
    launch(stream_, "count", {}, count, value);
    EXPECT_EQ(cudaEventRecordWithFlags(end_, stream_, cudaEventRecordExternal), cudaSuccess);
  }
  cudaGraphExec_t captured(int* value) {
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t exec = nullptr;
    EXPECT_EQ(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeThreadLocal), cudaSuccess);
    enqueue(value);
    EXPECT_EQ(cudaStreamEndCapture(stream_, &graph), cudaSuccess);
    EXPECT_EQ(cudaGraphInstantiate(&exec, graph, 0), cudaSuccess);
    EXPECT_EQ(cudaGraphDestroy(graph), cudaSuccess);
    return exec;
  }

  cudaEvent_t start_ = nullptr;
  cudaEvent_t end_ = nullptr;
  float milliseconds_ = -1;
};

TEST(Events, AreRecordedByStreamsOfTheirDevice) {
  sim::device().count = 2;
  cudaStream_t stream = nullptr;
  cudaEvent_t event = nullptr;
  ASSERT_EQ(cudaSetDevice(1), cudaSuccess);
  ASSERT_EQ(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), cudaSuccess);
  for (const int device : {0, 1}) {
    ASSERT_EQ(cudaSetDevice(device), cudaSuccess);
    ASSERT_EQ(cudaEventCreate(&event), cudaSuccess);
    EXPECT_EQ(cudaEventRecord(event, stream),
              device == 1 ? cudaSuccess : cudaErrorInvalidResourceHandle);
    EXPECT_EQ(cudaEventDestroy(event), cudaSuccess);
  }
  EXPECT_EQ(cudaStreamDestroy(stream), cudaSuccess);
  cudaGetLastError();
  sim::reset_device();
}

TEST_F(GraphEvents, AreRecordedAtLaunches) {
  int* value = device_array<int>(1);
  cudaGraphExec_t exec = captured(value);
  EXPECT_EQ(cudaEventElapsedTime(&milliseconds_, start_, end_), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(cudaGraphLaunch(exec, stream_), cudaSuccess);
  EXPECT_EQ(cudaEventSynchronize(end_), cudaSuccess);
  EXPECT_EQ(cudaEventElapsedTime(&milliseconds_, start_, end_), cudaSuccess);
  EXPECT_GT(milliseconds_, 0);
  EXPECT_EQ(*value, 1);
  EXPECT_EQ(cudaGraphExecDestroy(exec), cudaSuccess);
}

TEST_F(GraphEvents, AreExternalInCapturesOnly) {
  EXPECT_EQ(cudaEventRecordWithFlags(start_, stream_, cudaEventRecordExternal),
            cudaErrorInvalidValue);
  EXPECT_EQ(cudaEventRecordWithFlags(start_, stream_, 2), cudaErrorInvalidValue);
  EXPECT_EQ(cudaEventRecordWithFlags(start_, stream_), cudaSuccess);
  EXPECT_EQ(cudaEventRecordWithFlags(end_, stream_), cudaSuccess);
  EXPECT_EQ(cudaEventElapsedTime(&milliseconds_, start_, end_), cudaSuccess);
}

TEST_F(GraphEvents, MustOutliveTheGraph) {
  cudaGraphExec_t exec = captured(device_array<int>(1));
  EXPECT_EQ(cudaEventDestroy(std::exchange(start_, nullptr)), cudaSuccess);
  EXPECT_NE(error_of([&] { cudaGraphLaunch(exec, stream_); }).find("event that was destroyed"),
            std::string::npos);
  EXPECT_EQ(cudaGraphExecDestroy(exec), cudaSuccess);
}

TEST_F(GraphEvents, HaveNoPlaceInBodiesOfLoops) {
  int* value = device_array<int>(1);
  cudaGraph_t graph = nullptr;
  ASSERT_EQ(cudaGraphCreate(&graph, 0), cudaSuccess);
  cudaGraphConditionalHandle handle{};
  ASSERT_EQ(cudaGraphConditionalHandleCreate(&handle, graph, 1, cudaGraphCondAssignDefault),
            cudaSuccess);
  cudaGraphNodeParams parameters{};
  parameters.type = cudaGraphNodeTypeConditional;
  parameters.conditional.handle = handle;
  parameters.conditional.type = cudaGraphCondTypeWhile;
  parameters.conditional.size = 1;
  cudaGraphNode_t node = nullptr;
  ASSERT_EQ(cudaGraphAddNode(&node, graph, nullptr, nullptr, 0, &parameters), cudaSuccess);
  cudaGraph_t body = parameters.conditional.phGraph_out[0];
  ASSERT_EQ(cudaStreamBeginCaptureToGraph(stream_, body, nullptr, nullptr, 0,
                                          cudaStreamCaptureModeThreadLocal),
            cudaSuccess);
  enqueue(value);
  ASSERT_EQ(cudaStreamEndCapture(stream_, &body), cudaSuccess);
  cudaGraphExec_t exec = nullptr;
  EXPECT_EQ(cudaGraphInstantiate(&exec, graph, 0), cudaErrorNotSupported);
  EXPECT_EQ(cudaGraphDestroy(graph), cudaSuccess);
}

}  // namespace
}  // namespace linnet::cuda
