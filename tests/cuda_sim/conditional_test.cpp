// SPDX-License-Identifier: Apache-2.0
// Graphs that decide for themselves how often a body runs.
#include "cuda_sim/sim_test.h"

namespace linnet::cuda {
namespace {

__global__ void count_to(int* count, int limit, cudaGraphConditionalHandle handle) {
  *count += 1;
  cudaGraphSetConditional(handle, *count < limit ? 1 : 0);
}
__global__ void endless(cudaGraphConditionalHandle handle) { cudaGraphSetConditional(handle, 1); }
__global__ void nothing() {}

class Conditional : public SimTest {
 protected:
  Conditional() { EXPECT_EQ(cudaGraphCreate(&graph_, 0), cudaSuccess); }
  ~Conditional() override {
    if (exec_ != nullptr) {
      EXPECT_EQ(cudaGraphExecDestroy(exec_), cudaSuccess);
    }
    EXPECT_EQ(cudaGraphDestroy(graph_), cudaSuccess);
  }

  /// Adds a conditional node; its bodies are in parameters_.conditional.phGraph_out.
  cudaError_t add(cudaGraphConditionalNodeType type, unsigned size) {
    parameters_ = {};
    parameters_.type = cudaGraphNodeTypeConditional;
    parameters_.conditional.handle = handle_;
    parameters_.conditional.type = type;
    parameters_.conditional.size = size;
    cudaGraphNode_t node = nullptr;
    return cudaGraphAddNode(&node, graph_, nullptr, nullptr, 0, &parameters_);
  }
  void capture_body(unsigned index, const std::function<void()>& enqueue) {
    cudaGraph_t body = parameters_.conditional.phGraph_out[index];
    ASSERT_EQ(cudaStreamBeginCaptureToGraph(stream_, body, nullptr, nullptr, 0,
                                            cudaStreamCaptureModeThreadLocal),
              cudaSuccess);
    enqueue();
    cudaGraph_t captured = nullptr;
    ASSERT_EQ(cudaStreamEndCapture(stream_, &captured), cudaSuccess);
    EXPECT_EQ(captured, body);
  }
  void make_while(unsigned flags, const std::function<void()>& enqueue) {
    ASSERT_EQ(cudaGraphConditionalHandleCreate(&handle_, graph_, 1, flags), cudaSuccess);
    ASSERT_EQ(add(cudaGraphCondTypeWhile, 1), cudaSuccess);
    capture_body(0, enqueue);
  }

  cudaGraph_t graph_ = nullptr;
  cudaGraphExec_t exec_ = nullptr;
  cudaGraphConditionalHandle handle_ = 0;
  cudaGraphNodeParams parameters_{};
};

TEST_F(Conditional, WhileRunsUntilAKernelSaysSo) {
  int* count = device_array<int>(1);
  make_while(cudaGraphCondAssignDefault,
             [&] { launch(stream_, "count_to", {}, count_to, count, 5, handle_); });
  ASSERT_EQ(cudaGraphInstantiate(&exec_, graph_), cudaSuccess);
  EXPECT_EQ(cudaGraphLaunch(exec_, stream_), cudaSuccess);
  EXPECT_EQ(*count, 5);
  *count = 2;  // the default is assigned again
  EXPECT_EQ(cudaGraphLaunch(exec_, stream_), cudaSuccess);
  EXPECT_EQ(*count, 5);
  EXPECT_EQ(sim::counters().while_rounds, 8U);
  EXPECT_EQ(sim::counters().graph_launches, 2U);
  EXPECT_EQ(sim::counters().synchronizations, 0U);
}

TEST_F(Conditional, AWhileThatNeverEndsThrows) {
  make_while(cudaGraphCondAssignDefault, [&] { launch(stream_, "e", {}, endless, handle_); });
  ASSERT_EQ(cudaGraphInstantiate(&exec_, graph_), cudaSuccess);
  sim::device().while_limit = 20;
  const std::string error = error_of([&] { cudaGraphLaunch(exec_, stream_); });
  EXPECT_NE(error.find("20 rounds"), std::string::npos) << error;
}

TEST_F(Conditional, AValueNeverSetThrows) {
  make_while(0, [&] { launch(stream_, "e", {}, endless, handle_); });
  ASSERT_EQ(cudaGraphInstantiate(&exec_, graph_), cudaSuccess);
  const std::string error = error_of([&] { cudaGraphLaunch(exec_, stream_); });
  EXPECT_NE(error.find("before it has a value"), std::string::npos) << error;
}

TEST_F(Conditional, IfAndElseRunOneBody) {
  int* count = device_array<int>(2);
  ASSERT_EQ(cudaGraphConditionalHandleCreate(&handle_, graph_, 0, cudaGraphCondAssignDefault),
            cudaSuccess);
  ASSERT_EQ(add(cudaGraphCondTypeIf, 2), cudaSuccess);
  for (unsigned body = 0; body < 2; ++body) {
    capture_body(body,
                 [&] { launch(stream_, "count_to", {}, count_to, count + body, 1, handle_); });
  }
  ASSERT_EQ(cudaGraphInstantiate(&exec_, graph_), cudaSuccess);
  EXPECT_EQ(cudaGraphLaunch(exec_, stream_), cudaSuccess);
  EXPECT_EQ(count[0], 0);
  EXPECT_EQ(count[1], 1);
}

TEST_F(Conditional, BodiesTakeNoHostWork) {
  make_while(cudaGraphCondAssignDefault, [&] {
    EXPECT_EQ(cudaLaunchHostFunc(
                  stream_, [](void*) {}, nullptr),
              cudaSuccess);
  });
  EXPECT_EQ(cudaGraphInstantiate(&exec_, graph_), cudaErrorNotSupported);
}

TEST_F(Conditional, BodiesCopyPinnedMemoryAlone) {
  int* value = device_array<int>(1);
  int* pinned = nullptr;
  int pageable = 0;
  ASSERT_EQ(cudaMallocHost(&pinned, sizeof(int)), cudaSuccess);
  make_while(cudaGraphCondAssignDefault, [&] {
    EXPECT_EQ(cudaMemcpyAsync(pinned, value, sizeof(int), cudaMemcpyDeviceToHost, stream_),
              cudaSuccess);
  });
  EXPECT_EQ(cudaGraphInstantiate(&exec_, graph_), cudaSuccess);
  EXPECT_EQ(cudaGraphExecDestroy(exec_), cudaSuccess);
  exec_ = nullptr;
  capture_body(0, [&] {
    EXPECT_EQ(cudaMemcpyAsync(&pageable, value, sizeof(int), cudaMemcpyDeviceToHost, stream_),
              cudaSuccess);
  });
  EXPECT_EQ(cudaGraphInstantiate(&exec_, graph_), cudaErrorNotSupported);
  EXPECT_EQ(cudaFreeHost(pinned), cudaSuccess);
}

TEST_F(Conditional, AreInstantiatedOnceAtATime) {
  make_while(cudaGraphCondAssignDefault, [&] { launch(stream_, "nothing", {}, nothing); });
  ASSERT_EQ(cudaGraphInstantiate(&exec_, graph_), cudaSuccess);
  cudaGraphExec_t second = nullptr;
  EXPECT_EQ(cudaGraphInstantiate(&second, graph_), cudaErrorNotSupported);
  EXPECT_EQ(cudaGraphExecDestroy(exec_), cudaSuccess);
  exec_ = nullptr;
  EXPECT_EQ(cudaGraphInstantiate(&exec_, graph_), cudaSuccess);
}

TEST_F(Conditional, HandlesServeOneNode) {
  make_while(cudaGraphCondAssignDefault, [&] { launch(stream_, "nothing", {}, nothing); });
  EXPECT_EQ(add(cudaGraphCondTypeWhile, 1), cudaErrorInvalidValue);
  handle_ = 12345;
  EXPECT_EQ(add(cudaGraphCondTypeWhile, 1), cudaErrorInvalidValue);
  ASSERT_EQ(cudaGraphConditionalHandleCreate(&handle_, graph_, 1, 1), cudaSuccess);
  EXPECT_EQ(add(cudaGraphCondTypeWhile, 2), cudaErrorInvalidValue);
}

TEST_F(Conditional, OldMachinesHaveNone) {
  sim::device().conditional_nodes = false;
  EXPECT_EQ(cudaGraphConditionalHandleCreate(&handle_, graph_, 1, 1), cudaErrorNotSupported);
  sim::reset_device();
  sim::device().driver_version = 12030;
  EXPECT_EQ(cudaGraphConditionalHandleCreate(&handle_, graph_, 1, 1), cudaErrorNotSupported);
}

TEST_F(Conditional, FollowsTheNodesBeforeItInACapture) {
  int* count = device_array<int>(1);
  ASSERT_EQ(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeThreadLocal), cudaSuccess);
  EXPECT_EQ(cudaMemsetAsync(count, 0, sizeof(int), stream_), cudaSuccess);
  cudaStreamCaptureStatus status{};
  cudaGraph_t graph = nullptr;
  const cudaGraphNode_t* before = nullptr;
  std::size_t number = 0;
  ASSERT_EQ(cudaStreamGetCaptureInfo(stream_, &status, nullptr, &graph, &before, nullptr, &number),
            cudaSuccess);
  ASSERT_EQ(number, 1U);
  ASSERT_EQ(cudaGraphConditionalHandleCreate(&handle_, graph, 1, 1), cudaSuccess);
  parameters_.type = cudaGraphNodeTypeConditional;
  parameters_.conditional = {handle_, cudaGraphCondTypeWhile, 1, nullptr};
  cudaGraphNode_t node = nullptr;
  ASSERT_EQ(cudaGraphAddNode(&node, graph, before, nullptr, number, &parameters_), cudaSuccess);
  ASSERT_EQ(cudaStreamUpdateCaptureDependencies(stream_, &node, nullptr, 1,
                                                cudaStreamSetCaptureDependencies),
            cudaSuccess);
  launch(stream_, "count_to", {}, count_to, count, 0, handle_);
  cudaStream_t other = nullptr;
  ASSERT_EQ(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking), cudaSuccess);
  std::swap(stream_, other);
  capture_body(0, [&] { launch(stream_, "count_to", {}, count_to, count, 3, handle_); });
  std::swap(stream_, other);
  EXPECT_EQ(cudaStreamDestroy(other), cudaSuccess);
  ASSERT_EQ(cudaStreamEndCapture(stream_, &graph), cudaSuccess);
  ASSERT_EQ(cudaGraphInstantiate(&exec_, graph), cudaSuccess);
  EXPECT_EQ(cudaGraphDestroy(graph), cudaSuccess);
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    sim::device().shuffle_seed = seed;
    EXPECT_EQ(cudaGraphLaunch(exec_, stream_), cudaSuccess);
    EXPECT_EQ(*count, 4);  // three rounds, then the node after the loop
  }
}

TEST_F(Conditional, TheHostSetsNoCondition) {
  const std::string error = error_of([&] { cudaGraphSetConditional(1, 1); });
  EXPECT_NE(error.find("for kernels"), std::string::npos) << error;
}

}  // namespace
}  // namespace linnet::cuda
