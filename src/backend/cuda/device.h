// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/devices.h>

#include <memory>
#include <string>
#include <vector>

#include "backend/cuda/cuda_api.h"
#include "backend/cuda/handle.h"
#include "runtime/backend.h"

namespace linnet::cuda {

using Stream = UniqueHandle<cudaStream_t, cudaStreamDestroy>;
using Event = UniqueHandle<cudaEvent_t, cudaEventDestroy>;
using ScratchMemory = UniqueHandle<void*, cudaFree>;

/// On the calling thread's device. The stream does not wait for the legacy default one.
Stream make_stream();
/// flags: those of cudaEventCreateWithFlags; by default the event tells the time.
Event make_event(unsigned flags = cudaEventDefault);
/// For measurements: null, and no error left, where there is not enough.
ScratchMemory try_allocate(std::size_t bytes);

/// Times what is enqueued on a stream.
class Stopwatch {
 public:
  explicit Stopwatch(cudaStream_t stream) : stream_(stream) {}
  /// Milliseconds that the device takes for what `enqueue` puts into the stream; waits for it.
  /// `what` is for errors.
  template <class F>
  float milliseconds(const char* what, F enqueue) const {
    check(cudaEventRecord(start_.get(), stream_), what);
    enqueue();
    check(cudaEventRecord(stop_.get(), stream_), what);
    check(cudaEventSynchronize(stop_.get()), what);
    float result = 0;
    check(cudaEventElapsedTime(&result, start_.get(), stop_.get()), what);
    return result;
  }

 private:
  cudaStream_t stream_;
  Event start_ = make_event();
  Event stop_ = make_event();
};

/// Returns the devices of this machine. Throws Error with one sentence where CUDA is not usable: no
/// driver, one that is too old, no device.
std::vector<CudaDevice> list_devices();

/// Finds a device by what stands after "cuda:": nothing (the first one), an index, or a UUID or
/// its beginning. Throws Error naming what there is.
CudaDevice find_device(const std::string& which);

/// One device with the stream that everything of a backend runs on, in order, and one for what a
/// program runs beside it.
class Device {
 public:
  /// Throws Error for compute capabilities below 7.5.
  explicit Device(CudaDevice info);

  const CudaDevice& info() const { return info_; }
  cudaStream_t stream() const { return stream_.get(); }
  /// Whoever uses it makes it wait for stream(), and stream() for it.
  cudaStream_t side_stream() const { return side_stream_.get(); }
  /// Makes it the calling thread's device.
  void activate() const;
  void synchronize() const;

 private:
  CudaDevice info_;
  Stream stream_;
  Stream side_stream_;
};

/// Returns zero-filled device memory, freed in the stream's order. Throws OutOfMemory. The device
/// must outlive it: it is held.
std::unique_ptr<Buffer> allocate(std::shared_ptr<const Device> device, std::size_t bytes);

/// Copies through the device's stream; download waits for all that was enqueued before.
void upload(const Device& device, std::byte* to, std::span<const std::byte> from);
void download(const Device& device, const std::byte* from, std::span<std::byte> to);

/// Returns the driver's and the runtime's versions: "CUDA driver 13.0", "CUDA runtime 13.0".
std::vector<std::string> cuda_versions();

}  // namespace linnet::cuda
