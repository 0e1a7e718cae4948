// SPDX-License-Identifier: Apache-2.0
#include "backend/cuda/device.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/check.h"

namespace linnet::cuda {
namespace {

constexpr int kLeastCapability = 75;

std::string uuid_text(const cudaUUID_t& uuid) {
  std::string text = "GPU-";
  for (std::size_t i = 0; i < sizeof(uuid.bytes); ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    text += fmt::format("{:02x}", static_cast<unsigned char>(uuid.bytes[i]));
  }
  return text;
}

std::string version_text(int version) {
  return fmt::format("{}.{}", version / 1000, version % 1000 / 10);
}

class DeviceBuffer final : public Buffer {
 public:
  DeviceBuffer(std::shared_ptr<const Device> device, std::size_t bytes)
      : device_(std::move(device)), bytes_(bytes) {
    if (bytes == 0) return;
    device_->activate();
    void* data = nullptr;
    const cudaError_t status = cudaMallocAsync(&data, bytes, device_->stream());
    if (status == cudaErrorMemoryAllocation) {
      static_cast<void>(cudaGetLastError());
      std::size_t free = 0;
      std::size_t total = 0;
      check(cudaMemGetInfo(&free, &total), "asking for the free memory");
      throw OutOfMemory(
          fmt::format("out of memory on {}: {} bytes were requested, {} of {} are free",
                      device_->info().name, bytes, free, total),
          bytes, free);
    }
    check(status, fmt::format("allocating {} bytes", bytes));
    data_ = static_cast<std::byte*>(data);
    check(cudaMemsetAsync(data_, 0, bytes, device_->stream()), "clearing memory");
  }
  ~DeviceBuffer() override {
    if (data_ != nullptr) static_cast<void>(cudaFreeAsync(data_, device_->stream()));
  }
  DeviceBuffer(const DeviceBuffer&) = delete;
  DeviceBuffer& operator=(const DeviceBuffer&) = delete;

  std::byte* data() override { return data_; }
  std::size_t bytes() const override { return bytes_; }
  void read(std::size_t offset, std::span<std::byte> to) const override {
    download(*device_, data_ + offset, to);
  }

 private:
  std::shared_ptr<const Device> device_;
  std::size_t bytes_;
  std::byte* data_ = nullptr;
};

}  // namespace

Stream make_stream() {
  cudaStream_t stream = nullptr;
  check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "creating a stream");
  return Stream(stream);
}

Event make_event(unsigned flags) {
  cudaEvent_t event = nullptr;
  check(cudaEventCreateWithFlags(&event, flags), "creating an event");
  return Event(event);
}

ScratchMemory try_allocate(std::size_t bytes) {
  void* memory = nullptr;
  if (cudaMalloc(&memory, std::max<std::size_t>(bytes, 1)) == cudaSuccess)
    return ScratchMemory(memory);
  static_cast<void>(cudaGetLastError());
  return {};
}

std::vector<CudaDevice> list_devices() {
  int count = 0;
  const cudaError_t status = cudaGetDeviceCount(&count);
  if (status != cudaSuccess) {
    static_cast<void>(cudaGetLastError());
    switch (status) {
      case cudaErrorInsufficientDriver:
      case cudaErrorStubLibrary:
        fail<DeviceError>(
            "CUDA is not usable: no NVIDIA driver is installed, or it is too old for {}",
            cuda_versions().back());
      case cudaErrorNoDevice: fail<DeviceError>("CUDA is not usable: there is no NVIDIA GPU");
      default:
        fail<DeviceError>("CUDA is not usable: {} ({})", cudaGetErrorString(status),
                          cudaGetErrorName(status));
    }
  }
  require<DeviceError>(count > 0, "CUDA is not usable: there is no NVIDIA GPU");
  std::vector<CudaDevice> devices;
  for (int index = 0; index < count; ++index) {
    cudaDeviceProp properties{};
    check(cudaGetDeviceProperties(&properties, index), "asking for a device's properties");
    devices.push_back({.index = index,
                       .name = properties.name,
                       .uuid = uuid_text(properties.uuid),
                       .compute_capability = 10 * properties.major + properties.minor,
                       .multiprocessors = properties.multiProcessorCount,
                       .memory_bytes = properties.totalGlobalMem});
  }
  return devices;
}

CudaDevice find_device(const std::string& which) {
  const std::vector<CudaDevice> devices = list_devices();
  if (which.empty()) return devices.front();
  std::vector<std::string> names;
  for (const CudaDevice& device : devices) {
    if (which == std::to_string(device.index)) return device;
    if (which.size() > 4 && device.uuid.starts_with(which)) return device;
    names.push_back(fmt::format("cuda:{} ({}, {})", device.index, device.name, device.uuid));
  }
  fail<DeviceError>("there is no device 'cuda:{}'; expected {}", which, fmt::join(names, ", "));
}

Device::Device(CudaDevice info) : info_(std::move(info)) {
  require<DeviceError>(info_.compute_capability >= kLeastCapability,
                       "{} has compute capability {}.{}; Linnet needs 7.5 (Turing) or newer",
                       info_.name, info_.compute_capability / 10, info_.compute_capability % 10);
  activate();
  stream_ = make_stream();
  side_stream_ = make_stream();
}

void Device::activate() const { check(cudaSetDevice(info_.index), "choosing the device"); }

void Device::synchronize() const {
  check(cudaStreamSynchronize(stream()), "waiting for the device");
}

std::unique_ptr<Buffer> allocate(std::shared_ptr<const Device> device, std::size_t bytes) {
  return std::make_unique<DeviceBuffer>(std::move(device), bytes);
}

void upload(const Device& device, std::byte* to, std::span<const std::byte> from) {
  if (from.empty()) return;
  device.activate();
  check(cudaMemcpyAsync(to, from.data(), from.size(), cudaMemcpyHostToDevice, device.stream()),
        fmt::format("copying {} bytes to the device", from.size()));
  device.synchronize();  // the caller may change its memory from here on
}

void download(const Device& device, const std::byte* from, std::span<std::byte> to) {
  if (to.empty()) return;
  device.activate();
  check(cudaMemcpyAsync(to.data(), from, to.size(), cudaMemcpyDeviceToHost, device.stream()),
        fmt::format("copying {} bytes from the device", to.size()));
  device.synchronize();
}

std::vector<std::string> cuda_versions() {
  std::vector<std::string> versions;
  int version = 0;
  if (cudaDriverGetVersion(&version) == cudaSuccess && version > 0) {
    versions.push_back("CUDA driver " + version_text(version));
  }
  check(cudaRuntimeGetVersion(&version), "asking for the runtime's version");
  versions.push_back("CUDA runtime " + version_text(version));
  return versions;
}

}  // namespace linnet::cuda
