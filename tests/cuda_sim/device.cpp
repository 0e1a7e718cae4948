// SPDX-License-Identifier: Apache-2.0
// Errors, and what the device says of itself.
#include <algorithm>
#include <cstdio>
#include <cstring>

#include "cuda_sim/machine.h"

namespace sim = linnet::cuda::sim;
using sim::answer;
using sim::machine;

namespace {

thread_local cudaError_t last_error = cudaSuccess;
thread_local int device_of_thread = 0;

struct ErrorText {
  cudaError_t error;
  const char* name;
  const char* text;
};

constexpr ErrorText kErrors[] = {
    {cudaSuccess, "cudaSuccess", "no error"},
    {cudaErrorInvalidValue, "cudaErrorInvalidValue", "invalid argument"},
    {cudaErrorMemoryAllocation, "cudaErrorMemoryAllocation", "out of memory"},
    {cudaErrorInitializationError, "cudaErrorInitializationError", "initialization error"},
    {cudaErrorInvalidConfiguration, "cudaErrorInvalidConfiguration",
     "invalid configuration argument"},
    {cudaErrorInvalidMemcpyDirection, "cudaErrorInvalidMemcpyDirection",
     "invalid copy direction for memcpy"},
    {cudaErrorStubLibrary, "cudaErrorStubLibrary", "CUDA driver is a stub library"},
    {cudaErrorInsufficientDriver, "cudaErrorInsufficientDriver",
     "CUDA driver version is insufficient for CUDA runtime version"},
    {cudaErrorCallRequiresNewerDriver, "cudaErrorCallRequiresNewerDriver",
     "API call is not supported in the installed CUDA driver"},
    {cudaErrorDevicesUnavailable, "cudaErrorDevicesUnavailable",
     "CUDA-capable device(s) is/are busy or unavailable"},
    {cudaErrorInvalidDeviceFunction, "cudaErrorInvalidDeviceFunction", "invalid device function"},
    {cudaErrorNoDevice, "cudaErrorNoDevice", "no CUDA-capable device is detected"},
    {cudaErrorInvalidDevice, "cudaErrorInvalidDevice", "invalid device ordinal"},
    {cudaErrorNoKernelImageForDevice, "cudaErrorNoKernelImageForDevice",
     "no kernel image is available for execution on the device"},
    {cudaErrorInvalidResourceHandle, "cudaErrorInvalidResourceHandle", "invalid resource handle"},
    {cudaErrorIllegalState, "cudaErrorIllegalState",
     "the operation cannot be performed in the present state"},
    {cudaErrorNotReady, "cudaErrorNotReady", "device not ready"},
    {cudaErrorIllegalAddress, "cudaErrorIllegalAddress",
     "an illegal memory access was encountered"},
    {cudaErrorLaunchOutOfResources, "cudaErrorLaunchOutOfResources",
     "too many resources requested for launch"},
    {cudaErrorLaunchFailure, "cudaErrorLaunchFailure", "unspecified launch failure"},
    {cudaErrorNotPermitted, "cudaErrorNotPermitted", "operation not permitted"},
    {cudaErrorNotSupported, "cudaErrorNotSupported", "operation not supported"},
    {cudaErrorStreamCaptureUnsupported, "cudaErrorStreamCaptureUnsupported",
     "operation not permitted when stream is capturing"},
    {cudaErrorStreamCaptureInvalidated, "cudaErrorStreamCaptureInvalidated",
     "operation failed due to a previous error during capture"},
    {cudaErrorStreamCaptureMerge, "cudaErrorStreamCaptureMerge",
     "operation would result in a merge of separate capture sequences"},
    {cudaErrorStreamCaptureUnmatched, "cudaErrorStreamCaptureUnmatched",
     "capture was not ended in the same stream as it began"},
    {cudaErrorStreamCaptureUnjoined, "cudaErrorStreamCaptureUnjoined",
     "capturing stream has unjoined work"},
    {cudaErrorStreamCaptureIsolation, "cudaErrorStreamCaptureIsolation",
     "dependency created on uncaptured work in another stream"},
    {cudaErrorStreamCaptureImplicit, "cudaErrorStreamCaptureImplicit",
     "operation would make the legacy stream depend on a capturing blocking stream"},
    {cudaErrorCapturedEvent, "cudaErrorCapturedEvent",
     "operation not permitted on an event last recorded in a capturing stream"},
    {cudaErrorStreamCaptureWrongThread, "cudaErrorStreamCaptureWrongThread",
     "attempt to terminate a thread-local capture sequence from another thread"},
    {cudaErrorGraphExecUpdateFailure, "cudaErrorGraphExecUpdateFailure",
     "the graph update was not performed because it included changes which violated constraints "
     "specific to instantiated graph update"},
    {cudaErrorUnknown, "cudaErrorUnknown", "unknown error"},
};

const ErrorText* find(cudaError_t error) {
  const auto* found = std::find_if(std::begin(kErrors), std::end(kErrors),
                                   [&](const ErrorText& text) { return text.error == error; });
  return found == std::end(kErrors) ? nullptr : found;
}

bool is_device(int device) { return device >= 0 && device < machine().device.count; }

}  // namespace

cudaError_t sim::answer(cudaError_t status) {
  if (status != cudaSuccess && status != cudaErrorNotReady) last_error = status;
  return status;
}

cudaError_t sim::device_status() {
  const Device& device = machine().device;
  return device.count > 0 ? cudaSuccess : static_cast<cudaError_t>(device.missing);
}

const char* cudaGetErrorName(cudaError_t error) {
  const ErrorText* found = find(error);
  return found == nullptr ? "unrecognized error code" : found->name;
}

const char* cudaGetErrorString(cudaError_t error) {
  const ErrorText* found = find(error);
  return found == nullptr ? "unrecognized error code" : found->text;
}

cudaError_t cudaGetLastError() {
  const cudaError_t error = last_error;
  last_error = cudaSuccess;
  return error;
}

int& sim::current_device() { return device_of_thread; }

cudaError_t cudaPeekAtLastError() { return last_error; }

cudaError_t cudaGetDeviceCount(int* count) {
  if (const auto status = sim::device_status(); status != cudaSuccess) return answer(status);
  if (count == nullptr) return answer(cudaErrorInvalidValue);
  *count = machine().device.count;
  return answer(cudaSuccess);
}

cudaError_t cudaSetDevice(int device) {
  if (const auto status = sim::device_status(); status != cudaSuccess) return answer(status);
  if (!is_device(device)) return answer(cudaErrorInvalidDevice);
  sim::current_device() = device;
  return answer(cudaSuccess);
}

cudaError_t cudaGetDevice(int* device) {
  if (const auto status = sim::device_status(); status != cudaSuccess) return answer(status);
  if (device == nullptr) return answer(cudaErrorInvalidValue);
  *device = sim::current_device();
  return answer(cudaSuccess);
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
  if (const auto status = sim::device_status(); status != cudaSuccess) return answer(status);
  if (properties == nullptr) return answer(cudaErrorInvalidValue);
  if (!is_device(device)) return answer(cudaErrorInvalidDevice);
  const sim::Device& d = machine().device;
  *properties = cudaDeviceProp{};
  std::snprintf(properties->name, sizeof properties->name, "%s", d.name.c_str());
  for (int i = 0; i < 16; ++i) properties->uuid.bytes[i] = static_cast<char>(0xA0 + i + device);
  properties->totalGlobalMem = d.memory;
  properties->sharedMemPerBlock = 48 * 1024;
  properties->regsPerBlock = 65536;
  properties->warpSize = 32;
  properties->maxThreadsPerBlock = 1024;
  properties->maxThreadsDim[0] = properties->maxThreadsDim[1] = 1024;
  properties->maxThreadsDim[2] = 64;
  properties->maxGridSize[0] = 2147483647;
  properties->maxGridSize[1] = properties->maxGridSize[2] = 65535;
  properties->totalConstMem = 65536;
  properties->major = d.major;
  properties->minor = d.minor;
  properties->multiProcessorCount = d.multiprocessors;
  properties->canMapHostMemory = 1;
  properties->pciBusID = 1 + device;
  properties->asyncEngineCount = 3;
  properties->unifiedAddressing = 1;
  properties->memoryBusWidth = 6144;
  properties->l2CacheSize = 50 << 20;
  properties->maxThreadsPerMultiProcessor = 2048;
  properties->sharedMemPerMultiprocessor = d.shared_bytes + 1024;
  properties->regsPerMultiprocessor = 65536;
  properties->cooperativeLaunch = 1;
  properties->sharedMemPerBlockOptin = d.shared_bytes;
  properties->memoryPoolsSupported = 1;
  return answer(cudaSuccess);
}

cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device) {
  if (const auto status = sim::device_status(); status != cudaSuccess) return answer(status);
  if (value == nullptr) return answer(cudaErrorInvalidValue);
  if (!is_device(device)) return answer(cudaErrorInvalidDevice);
  const sim::Device& d = machine().device;
  switch (attribute) {
    case cudaDevAttrMaxThreadsPerBlock: *value = 1024; break;
    case cudaDevAttrMaxSharedMemoryPerBlock: *value = 48 * 1024; break;
    case cudaDevAttrWarpSize: *value = 32; break;
    case cudaDevAttrClockRate: *value = 1'980'000; break;        // kHz
    case cudaDevAttrMemoryClockRate: *value = 3'201'000; break;  // kHz
    case cudaDevAttrMultiProcessorCount: *value = d.multiprocessors; break;
    case cudaDevAttrGlobalMemoryBusWidth: *value = 6144; break;
    case cudaDevAttrL2CacheSize: *value = 50 << 20; break;
    case cudaDevAttrMaxThreadsPerMultiProcessor: *value = 2048; break;
    case cudaDevAttrComputeCapabilityMajor: *value = d.major; break;
    case cudaDevAttrComputeCapabilityMinor: *value = d.minor; break;
    case cudaDevAttrMaxSharedMemoryPerBlockOptin: *value = static_cast<int>(d.shared_bytes); break;
    case cudaDevAttrMemoryPoolsSupported: *value = 1; break;
    default: return answer(cudaErrorInvalidValue);
  }
  return answer(cudaSuccess);
}

cudaError_t cudaDeviceGetPCIBusId(char* id, int length, int device) {
  if (const auto status = sim::device_status(); status != cudaSuccess) return answer(status);
  if (id == nullptr || length < 13) return answer(cudaErrorInvalidValue);
  if (!is_device(device)) return answer(cudaErrorInvalidDevice);
  std::snprintf(id, static_cast<std::size_t>(length), "0000:%02X:00.0",
                static_cast<unsigned>(1 + device) & 0xFFU);
  return answer(cudaSuccess);
}

cudaError_t cudaDeviceSynchronize() {
  if (const auto status = sim::device_status(); status != cudaSuccess) return answer(status);
  if (const auto status = sim::refuse_in_capture(); status != cudaSuccess) return answer(status);
  sim::finish_all();
  sim::count_wait();
  return answer(cudaSuccess);
}

cudaError_t cudaDeviceReset() { return answer(sim::device_status()); }

cudaError_t cudaDriverGetVersion(int* version) {
  if (version == nullptr) return answer(cudaErrorInvalidValue);
  *version = machine().device.count > 0 ? machine().device.driver_version : 0;
  return answer(cudaSuccess);
}

cudaError_t cudaRuntimeGetVersion(int* version) {
  if (version == nullptr) return answer(cudaErrorInvalidValue);
  *version = 13000;
  return answer(cudaSuccess);
}

cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, const void* function) {
  if (const auto status = sim::device_status(); status != cudaSuccess) return answer(status);
  if (attributes == nullptr) return answer(cudaErrorInvalidValue);
  if (function == nullptr) return answer(cudaErrorInvalidDeviceFunction);
  *attributes = cudaFuncAttributes{};
  attributes->sharedSizeBytes = sim::kStaticShared;
  attributes->maxThreadsPerBlock = static_cast<int>(sim::launch_bounds(function));
  attributes->maxDynamicSharedSizeBytes = static_cast<int>(sim::most_dynamic_shared(function));
  return answer(cudaSuccess);
}

cudaError_t cudaFuncSetAttribute(const void* function, cudaFuncAttribute attribute, int value) {
  if (const auto status = sim::device_status(); status != cudaSuccess) return answer(status);
  if (function == nullptr) return answer(cudaErrorInvalidDeviceFunction);
  const bool too_much =
      attribute == cudaFuncAttributeMaxDynamicSharedMemorySize &&
      (value < 0 || static_cast<std::size_t>(value) > machine().device.shared_bytes);
  if (too_much) return answer(cudaErrorInvalidValue);
  if (attribute == cudaFuncAttributeMaxDynamicSharedMemorySize) {
    const std::lock_guard lock(machine().mutex);
    machine().dynamic_shared[function] = static_cast<std::size_t>(value);
  }
  return answer(cudaSuccess);
}
