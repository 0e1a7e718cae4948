// SPDX-License-Identifier: Apache-2.0
// Streams that capture, and graphs that are replayed.
#include "cuda_sim/sim_test.h"

namespace linnet::cuda {
namespace {

__global__ void append(int* list, int value) { list[++list[0]] = value; }
__global__ void add(int* to, const int* from) { *to += *from; }
__global__ void set(int* to, int value) { *to = value; }

class Capture : public SimTest {
 protected:
  ~Capture() override { EXPECT_EQ(cudaStreamDestroy(side_), cudaSuccess); }

  void begin(cudaStreamCaptureMode mode = cudaStreamCaptureModeThreadLocal) {
    ASSERT_EQ(cudaStreamBeginCapture(stream_, mode), cudaSuccess);
  }
  /// Ends the capture and makes it executable; null after a failure.
  cudaGraphExec_t end(cudaError_t expected = cudaSuccess) {
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t exec = nullptr;
    EXPECT_EQ(cudaStreamEndCapture(stream_, &graph), expected);
    if (graph == nullptr) return nullptr;
    EXPECT_EQ(cudaGraphInstantiate(&exec, graph, 0), cudaSuccess);
    EXPECT_EQ(cudaGraphDestroy(graph), cudaSuccess);
    return exec;
  }
  /// `to` comes after what `from` has so far.
  void wait(cudaStream_t to, cudaStream_t from, cudaError_t expected = cudaSuccess) {
    cudaEvent_t event = nullptr;
    ASSERT_EQ(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), cudaSuccess);
    EXPECT_EQ(cudaEventRecord(event, from), cudaSuccess);
    EXPECT_EQ(cudaStreamWaitEvent(to, event), expected);
    EXPECT_EQ(cudaEventDestroy(event), cudaSuccess);
  }
  static cudaStream_t made_stream() {
    cudaStream_t stream = nullptr;
    EXPECT_EQ(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), cudaSuccess);
    return stream;
  }

  cudaStream_t side_ = made_stream();
};

TEST_F(Capture, RecordsNowAndRunsAtEachLaunch) {
  int* list = device_array<int>(8);
  int host = 0;
  begin();
  EXPECT_EQ(cudaMemsetAsync(list, 0, 8 * sizeof(int), stream_), cudaSuccess);
  launch(stream_, "append", {}, append, list, 7);
  EXPECT_EQ(cudaMemcpyAsync(&host, list + 1, sizeof(int), cudaMemcpyDeviceToHost, stream_),
            cudaSuccess);
  EXPECT_EQ(list[0], 0);
  cudaGraphExec_t exec = end();
  for (int i = 0; i < 3; ++i) {
    host = 0;
    list[0] = 99;
    EXPECT_EQ(cudaGraphLaunch(exec, stream_), cudaSuccess);
    EXPECT_EQ(list[0], 1);
    EXPECT_EQ(host, 7);
  }
  EXPECT_EQ(sim::counters().graph_launches, 3U);
  EXPECT_EQ(sim::counters().launches, 3U);
  EXPECT_EQ(cudaGraphExecDestroy(exec), cudaSuccess);
  EXPECT_EQ(cudaGraphLaunch(exec, stream_), cudaErrorInvalidValue);
}

TEST_F(Capture, KernelArgumentsAreThoseOfTheCapture) {
  int* value = device_array<int>(1);
  begin();
  for (int i = 1; i <= 3; ++i) launch(stream_, "set", {}, set, value, i);
  cudaGraphExec_t exec = end();
  EXPECT_EQ(cudaGraphLaunch(exec, stream_), cudaSuccess);
  EXPECT_EQ(*value, 3);
  EXPECT_EQ(cudaGraphExecDestroy(exec), cudaSuccess);
}

TEST_F(Capture, ForksAndJoinsKeepTheirOrderInEveryShuffle) {
  int* value = device_array<int>(3);
  for (std::uint64_t seed = 0; seed < 2 * kSeeds; ++seed) {
    sim::device().shuffle_seed = seed;
    begin();
    launch(stream_, "set", {}, set, value, 1);
    wait(side_, stream_);
    launch(side_, "set", {}, set, value + 1, 10);
    launch(stream_, "set", {}, set, value + 2, 100);
    launch(side_, "add", {}, add, value + 1, value);
    wait(stream_, side_);
    launch(stream_, "add", {}, add, value + 2, value + 1);
    cudaGraphExec_t exec = end();
    EXPECT_EQ(cudaGraphLaunch(exec, stream_), cudaSuccess);
    EXPECT_EQ(value[2], 111) << seed;
    EXPECT_EQ(cudaGraphExecDestroy(exec), cudaSuccess);
    cudaStreamCaptureStatus status{};
    EXPECT_EQ(cudaStreamIsCapturing(side_, &status), cudaSuccess);
    EXPECT_EQ(status, cudaStreamCaptureStatusNone);
  }
}

TEST_F(Capture, AMissingEdgeShowsInSomeShuffle) {
  int* value = device_array<int>(2);
  bool wrong = false;
  for (std::uint64_t seed = 1; seed < 2 * kSeeds; ++seed) {
    sim::device().shuffle_seed = seed;
    value[0] = value[1] = 0;
    begin();
    wait(side_, stream_);
    launch(stream_, "set", {}, set, value, 5);
    launch(side_, "add", {}, add, value + 1, value);  // should have waited for set
    wait(stream_, side_);
    cudaGraphExec_t exec = end();
    EXPECT_EQ(cudaGraphLaunch(exec, stream_), cudaSuccess);
    wrong = wrong || value[1] != 5;
    EXPECT_EQ(cudaGraphExecDestroy(exec), cudaSuccess);
  }
  EXPECT_TRUE(wrong);
}

TEST_F(Capture, UnjoinedWorkIsRefused) {
  int* value = device_array<int>(1);
  begin();
  wait(side_, stream_);
  launch(side_, "set", {}, set, value, 1);
  EXPECT_EQ(end(cudaErrorStreamCaptureUnjoined), nullptr);
  launch(side_, "set", {}, set, value, 2);  // runs at once: the stream is free again
  EXPECT_EQ(*value, 2);
}

TEST_F(Capture, WaitingAndAllocatingInvalidateIt) {
  int* value = device_array<int>(1);
  cudaEvent_t event = nullptr;
  ASSERT_EQ(cudaEventCreate(&event), cudaSuccess);
  void* pointer = nullptr;
  int host = 0;
  const std::vector<std::function<cudaError_t()>> illegal{
      [&] { return cudaMalloc(&pointer, 16); },
      [&] { return cudaMallocAsync(&pointer, 16, stream_); },
      [&] { return cudaFree(value); },
      [&] { return cudaMallocHost(&pointer, 16); },
      [&] { return cudaStreamSynchronize(stream_); },
      [&] { return cudaStreamSynchronize(side_); },
      [&] { return cudaDeviceSynchronize(); },
      [&] { return cudaEventSynchronize(event); },
      [&] { return cudaStreamQuery(stream_); },
      [&] { return cudaMemcpy(&host, value, sizeof(int), cudaMemcpyDeviceToHost); },
      [&] { return cudaMemset(value, 0, sizeof(int)); },
  };
  for (std::size_t i = 0; i < illegal.size(); ++i) {
    begin();
    EXPECT_EQ(illegal[i](), cudaErrorStreamCaptureUnsupported) << i;
    EXPECT_EQ(cudaGetLastError(), cudaErrorStreamCaptureUnsupported);
    EXPECT_NE(error_of([&] { launch(stream_, "set", {}, set, value, 1); }), "") << i;
    EXPECT_EQ(end(cudaErrorStreamCaptureInvalidated), nullptr) << i;
  }
  EXPECT_EQ(*value, 0);
  EXPECT_EQ(cudaEventDestroy(event), cudaSuccess);
}

TEST_F(Capture, ARelaxedOneAllowsThem) {
  int* value = device_array<int>(1);
  begin(cudaStreamCaptureModeRelaxed);
  void* pointer = nullptr;
  EXPECT_EQ(cudaMalloc(&pointer, 16), cudaSuccess);
  EXPECT_EQ(cudaFree(pointer), cudaSuccess);
  launch(stream_, "set", {}, set, value, 1);
  cudaGraphExec_t exec = end();
  ASSERT_NE(exec, nullptr);
  EXPECT_EQ(cudaGraphExecDestroy(exec), cudaSuccess);
}

TEST_F(Capture, WorkFromOutsideCantBeWaitedFor) {
  int* value = device_array<int>(1);
  begin();
  launch(side_, "set", {}, set, value, 1);
  wait(stream_, side_, cudaErrorStreamCaptureIsolation);
  EXPECT_EQ(end(cudaErrorStreamCaptureInvalidated), nullptr);
}

TEST_F(Capture, TwoCapturesDontMerge) {
  begin();
  ASSERT_EQ(cudaStreamBeginCapture(side_, cudaStreamCaptureModeThreadLocal), cudaSuccess);
  wait(side_, stream_, cudaErrorStreamCaptureMerge);
  EXPECT_EQ(end(cudaErrorStreamCaptureInvalidated), nullptr);
  cudaGraph_t graph = nullptr;
  EXPECT_EQ(cudaStreamEndCapture(side_, &graph), cudaErrorStreamCaptureInvalidated);
}

TEST_F(Capture, EndsWhereItBegan) {
  cudaGraph_t graph = nullptr;
  EXPECT_EQ(cudaStreamEndCapture(stream_, &graph), cudaErrorIllegalState);
  begin();
  wait(side_, stream_);
  EXPECT_EQ(cudaStreamEndCapture(side_, &graph), cudaErrorStreamCaptureUnmatched);
  EXPECT_EQ(end(cudaErrorStreamCaptureInvalidated), nullptr);
  EXPECT_EQ(cudaStreamBeginCapture(nullptr, cudaStreamCaptureModeRelaxed),
            cudaErrorStreamCaptureUnsupported);
}

TEST_F(Capture, TheLegacyStreamConflictsWithBlockingStreamsAlone) {
  int* value = device_array<int>(1);
  begin(cudaStreamCaptureModeRelaxed);
  EXPECT_EQ(cudaMemsetAsync(value, 1, 1, nullptr), cudaSuccess);
  EXPECT_EQ(cudaGraphExecDestroy(end()), cudaSuccess);

  cudaStream_t blocking = nullptr;
  cudaGraph_t graph = nullptr;
  ASSERT_EQ(cudaStreamCreate(&blocking), cudaSuccess);
  ASSERT_EQ(cudaStreamBeginCapture(blocking, cudaStreamCaptureModeRelaxed), cudaSuccess);
  EXPECT_EQ(cudaMemsetAsync(value, 2, 1, nullptr), cudaErrorStreamCaptureImplicit);
  EXPECT_EQ(cudaStreamEndCapture(blocking, &graph), cudaErrorStreamCaptureInvalidated);
  EXPECT_EQ(cudaStreamDestroy(blocking), cudaSuccess);
  EXPECT_EQ(*value, 1);
}

TEST_F(Capture, NodesAreOfTheirKinds) {
  int* value = device_array<int>(2);
  begin();
  launch(stream_, "set", {}, set, value, 1);
  EXPECT_EQ(cudaMemcpyAsync(value + 1, value, sizeof(int), cudaMemcpyDeviceToDevice, stream_),
            cudaSuccess);
  EXPECT_EQ(cudaMemsetAsync(value, 0, sizeof(int), stream_), cudaSuccess);
  int calls = 0;
  EXPECT_EQ(cudaLaunchHostFunc(
                stream_, [](void* n) { ++*static_cast<int*>(n); }, &calls),
            cudaSuccess);
  cudaGraph_t graph = nullptr;
  ASSERT_EQ(cudaStreamEndCapture(stream_, &graph), cudaSuccess);
  std::size_t count = 0;
  ASSERT_EQ(cudaGraphGetNodes(graph, nullptr, &count), cudaSuccess);
  std::vector<cudaGraphNode_t> nodes(count);
  ASSERT_EQ(cudaGraphGetNodes(graph, nodes.data(), &count), cudaSuccess);
  std::vector<cudaGraphNodeType> types(count);
  for (std::size_t i = 0; i < count; ++i) {
    EXPECT_EQ(cudaGraphNodeGetType(nodes[i], &types[i]), cudaSuccess);
  }
  EXPECT_EQ(types, (std::vector{cudaGraphNodeTypeKernel, cudaGraphNodeTypeMemcpy,
                                cudaGraphNodeTypeMemset, cudaGraphNodeTypeHost}));
  cudaGraphExec_t exec = nullptr;
  ASSERT_EQ(cudaGraphInstantiate(&exec, graph), cudaSuccess);
  EXPECT_EQ(calls, 0);
  EXPECT_EQ(cudaGraphLaunch(exec, stream_), cudaSuccess);
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(value[1], 1);
  EXPECT_EQ(cudaGraphExecDestroy(exec), cudaSuccess);
  EXPECT_EQ(cudaGraphDestroy(graph), cudaSuccess);
}

}  // namespace
}  // namespace linnet::cuda
