// SPDX-License-Identifier: Apache-2.0
// Work that nothing orders, and work that runs late.
#include "cuda_sim/sim_test.h"

namespace linnet::cuda {
namespace {

constexpr std::size_t kBytes = sizeof(int);

__global__ void add(int* value, int by) { *value += by; }

class Order : public SimTest {
 protected:
  std::string error_of_kernel(cudaStream_t stream) {
    return error_of([&] { launch(stream, "add", {}, add, value_, 1); });
  }
  std::string error_of_copy(cudaMemcpyKind kind) {
    return error_of([&] {
      const bool up = kind == cudaMemcpyHostToDevice;
      cudaMemcpy(up ? value_ : &host_, up ? &host_ : value_, kBytes, kind);
    });
  }
  int* value_ = device_array<int>(1);
  int host_ = 5;
};

TEST_F(Order, TheDefaultStreamDoesNotWaitForNonBlockingOnes) {
  EXPECT_EQ(error_of_kernel(stream_), "");
  for (const std::string& error : {error_of_copy(cudaMemcpyDeviceToHost), error_of_kernel(nullptr),
                                   error_of([&] { cudaMemset(value_, 0, kBytes); })}) {
    EXPECT_NE(error.find("does not wait for the unfinished work of a non-blocking stream"),
              std::string::npos)
        << error;
  }
  cudaStreamSynchronize(stream_);
  EXPECT_EQ(error_of_copy(cudaMemcpyDeviceToHost), "");
}

TEST_F(Order, NonBlockingStreamsDoNotWaitForTheDefaultOne) {
  EXPECT_EQ(error_of_copy(cudaMemcpyHostToDevice), "");
  const std::string error = error_of_kernel(stream_);
  EXPECT_NE(error.find("add on a non-blocking stream does not wait for cudaMemcpy"),
            std::string::npos)
      << error;
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(error_of_kernel(stream_), "");
  EXPECT_EQ(*value_, 6);
}

TEST_F(Order, BlockingStreamsAndTheDefaultOneWaitForEachOther) {
  cudaStream_t blocking = nullptr;
  ASSERT_EQ(cudaStreamCreate(&blocking), cudaSuccess);
  EXPECT_EQ(error_of_kernel(blocking), "");
  EXPECT_EQ(error_of_copy(cudaMemcpyHostToDevice), "");
  EXPECT_EQ(error_of_kernel(blocking), "");
  EXPECT_EQ(cudaStreamDestroy(blocking), cudaSuccess);
}

TEST_F(Order, AnEventTellsThatWorkIsDone) {
  cudaEvent_t event = nullptr;
  ASSERT_EQ(cudaEventCreate(&event), cudaSuccess);
  EXPECT_EQ(error_of_kernel(stream_), "");
  EXPECT_EQ(cudaEventRecord(event, stream_), cudaSuccess);
  EXPECT_EQ(cudaEventSynchronize(event), cudaSuccess);
  EXPECT_EQ(error_of_copy(cudaMemcpyDeviceToHost), "");
  EXPECT_EQ(error_of_kernel(stream_), "");  // after the event
  EXPECT_EQ(cudaEventSynchronize(event), cudaSuccess);
  EXPECT_NE(error_of_copy(cudaMemcpyDeviceToHost), "");
  EXPECT_EQ(cudaEventDestroy(event), cudaSuccess);
}

TEST_F(Order, LazyWorkRunsWhenSomebodyWaits) {
  sim::device().lazy = true;
  EXPECT_EQ(error_of_kernel(stream_), "");
  EXPECT_EQ(*value_, 0);
  EXPECT_EQ(cudaStreamSynchronize(stream_), cudaSuccess);
  EXPECT_EQ(*value_, 1);
}

TEST_F(Order, LazyCopiesReadPageableMemoryAtOnceAndPinnedMemoryLate) {
  sim::device().lazy = true;
  int* pinned = nullptr;
  ASSERT_EQ(cudaMallocHost(&pinned, kBytes), cudaSuccess);
  *pinned = 5;
  int* other = device_array<int>(1);
  EXPECT_EQ(cudaMemcpyAsync(value_, &host_, kBytes, cudaMemcpyHostToDevice, stream_), cudaSuccess);
  EXPECT_EQ(cudaMemcpyAsync(other, pinned, kBytes, cudaMemcpyHostToDevice, stream_), cudaSuccess);
  host_ = *pinned = 7;
  EXPECT_EQ(cudaStreamSynchronize(stream_), cudaSuccess);
  EXPECT_EQ(*value_, 5);
  EXPECT_EQ(*other, 7);
  EXPECT_EQ(cudaFreeHost(pinned), cudaSuccess);
}

TEST_F(Order, LazyStreamsWaitForEventsAlone) {
  sim::device().lazy = true;
  cudaStream_t other = nullptr;
  cudaEvent_t event = nullptr;
  ASSERT_EQ(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking), cudaSuccess);
  ASSERT_EQ(cudaEventCreate(&event), cudaSuccess);
  EXPECT_EQ(error_of_kernel(other), "");
  EXPECT_EQ(cudaEventRecord(event, other), cudaSuccess);
  EXPECT_EQ(error_of_kernel(other), "");
  EXPECT_EQ(cudaStreamWaitEvent(stream_, event), cudaSuccess);
  EXPECT_EQ(error_of_kernel(stream_), "");
  EXPECT_EQ(cudaStreamSynchronize(stream_), cudaSuccess);
  EXPECT_EQ(*value_, 2);
  EXPECT_EQ(cudaStreamSynchronize(other), cudaSuccess);
  EXPECT_EQ(*value_, 3);
  EXPECT_EQ(cudaEventDestroy(event), cudaSuccess);
  EXPECT_EQ(cudaStreamDestroy(other), cudaSuccess);
}

}  // namespace
}  // namespace linnet::cuda
