// SPDX-License-Identifier: Apache-2.0
#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "cuda_sim/machine.h"

namespace sim = linnet::cuda::sim;
using sim::answer;
using sim::machine;

namespace {

constexpr std::size_t kAlignment = 256;
constexpr int kFresh = 0xCD;
constexpr int kFreed = 0xDD;
#if defined(__SANITIZE_ADDRESS__)
constexpr std::size_t kGuard = 0;  // the sanitizer has its own
#else
constexpr std::size_t kGuard = 64;
#endif
constexpr int kGuardByte = 0xFB;

std::size_t round_up(std::size_t size) { return (size + kAlignment - 1) / kAlignment * kAlignment; }

/// Garbage of `size` bytes with a guard after them; null where the host has no more.
void* allocate(std::size_t size) {
  void* memory = nullptr;
  if (posix_memalign(&memory, kAlignment, size + kGuard) != 0) return nullptr;
  std::memset(memory, kFresh, size);
  std::memset(static_cast<std::byte*>(memory) + size, kGuardByte, kGuard);
  return memory;
}

/// Addresses for kernels that are not run: any size, and no memory until somebody touches it.
void* reserve(std::size_t size) {
  void* memory = mmap(nullptr, size, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return memory == MAP_FAILED ? nullptr : memory;
}

bool guard_is_whole(const sim::Allocation& allocation) {
  if (allocation.untouched) return true;
  const auto* guard = static_cast<const unsigned char*>(allocation.memory) + allocation.size;
  return std::all_of(guard, guard + kGuard, [](unsigned char byte) { return byte == kGuardByte; });
}

void release(const sim::Allocation& allocation) {
  if (allocation.untouched) {
    munmap(allocation.memory, allocation.size);
    return;
  }
  std::memset(allocation.memory, kFreed, allocation.size);
  std::free(allocation.memory);
}

bool contains(const std::map<const void*, sim::Allocation>& memory, const void* pointer,
              std::size_t bytes) {
  auto after = memory.upper_bound(pointer);
  if (after == memory.begin()) return false;
  const auto& [start, allocation] = *--after;
  const auto offset = static_cast<std::size_t>(static_cast<const std::byte*>(pointer) -
                                               static_cast<const std::byte*>(start));
  return offset <= allocation.size && bytes <= allocation.size - offset;
}

/// Returns whether the pointer is anywhere in device memory, fitting or not.
bool touches_device(const void* pointer) { return contains(machine().device_memory, pointer, 0); }

cudaError_t allocate_device(void** pointer, std::size_t size) {
  sim::Machine& m = machine();
  if (pointer == nullptr) return cudaErrorInvalidValue;
  if (size == 0) {
    *pointer = nullptr;
    return cudaSuccess;
  }
  if (size > m.device.memory || m.allocated + round_up(size) > m.device.memory) {
    return cudaErrorMemoryAllocation;
  }
  const bool untouched = !m.device.compute;
  void* memory = untouched ? reserve(size) : allocate(size);
  if (memory == nullptr) return cudaErrorMemoryAllocation;
  m.device_memory[memory] = {size, memory, untouched};
  m.allocated += round_up(size);
  ++m.counters.allocations;
  *pointer = memory;
  return cudaSuccess;
}

cudaError_t free_device(void* pointer) {
  sim::Machine& m = machine();
  if (pointer == nullptr) return cudaSuccess;
  const auto found = m.device_memory.find(pointer);
  if (found == m.device_memory.end()) return cudaErrorInvalidValue;
  const sim::Allocation allocation = found->second;
  m.device_memory.erase(found);
  m.allocated -= round_up(allocation.size);
  const bool whole = guard_is_whole(allocation);
  release(allocation);
  return whole ? cudaSuccess : cudaErrorIllegalAddress;
}

/// Returns what kind of copy this is by its pointers; an error where that contradicts `kind`, or
/// where a device range isn't allocated.
cudaError_t resolve(const void* to, const void* from, std::size_t bytes, cudaMemcpyKind& kind) {
  const bool to_device = touches_device(to);
  const bool from_device = touches_device(from);
  const cudaMemcpyKind real =
      to_device ? (from_device ? cudaMemcpyDeviceToDevice : cudaMemcpyHostToDevice)
                : (from_device ? cudaMemcpyDeviceToHost : cudaMemcpyHostToHost);
  if (kind < cudaMemcpyHostToHost || kind > cudaMemcpyDefault) {
    return cudaErrorInvalidMemcpyDirection;
  }
  if (kind != cudaMemcpyDefault && kind != real) return cudaErrorInvalidValue;
  kind = real;
  if (to_device && !sim::in_device_memory(to, bytes)) return cudaErrorInvalidValue;
  if (from_device && !sim::in_device_memory(from, bytes)) return cudaErrorInvalidValue;
  return cudaSuccess;
}

void copy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) {
  sim::Counters& counters = machine().counters;
  sim::Copies& copies = kind == cudaMemcpyHostToDevice     ? counters.host_to_device
                        : kind == cudaMemcpyDeviceToHost   ? counters.device_to_host
                        : kind == cudaMemcpyDeviceToDevice ? counters.device_to_device
                                                           : counters.host_to_host;
  {
    const std::lock_guard lock(machine().mutex);
    ++copies.count;
    copies.bytes += bytes;
  }
  std::memmove(to, from, bytes);
}

/// Returns whether the host has its part of such a copy on the default stream after it when the
/// call returns; else the call may be back before the device's memory has changed.
bool is_done_at_return(cudaMemcpyKind kind, bool pageable) {
  return kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyHostToHost ||
         (kind == cudaMemcpyHostToDevice && !pageable);
}

bool is_pageable(const void* to, const void* from, std::size_t bytes) {
  const auto& pinned = machine().pinned_memory;
  return (!touches_device(to) && !contains(pinned, to, bytes)) ||
         (!touches_device(from) && !contains(pinned, from, bytes));
}

}  // namespace

bool sim::in_device_memory(const void* pointer, std::size_t bytes) {
  const std::lock_guard lock(machine().mutex);
  return contains(machine().device_memory, pointer, bytes);
}

cudaError_t cudaMalloc(void** pointer, std::size_t size) {
  const std::lock_guard lock(machine().mutex);
  if (const auto status = sim::device_status(); status != cudaSuccess) return answer(status);
  if (const auto status = sim::refuse_in_capture(); status != cudaSuccess) return answer(status);
  return answer(allocate_device(pointer, size));
}

cudaError_t cudaMallocAsync(void** pointer, std::size_t size, cudaStream_t stream) {
  const std::lock_guard lock(machine().mutex);
  if (const auto status = sim::device_status(); status != cudaSuccess) return answer(status);
  if (!sim::is_stream(stream)) return answer(cudaErrorInvalidResourceHandle);
  if (const auto capture = sim::capture_of(stream)) {
    capture->invalid = true;  // allocation nodes aren't simulated: WHILE bodies refuse them anyway
    return answer(cudaErrorStreamCaptureUnsupported);
  }
  return answer(allocate_device(pointer, size));
}

cudaError_t cudaFree(void* pointer) {
  if (const auto status = sim::device_status(); status != cudaSuccess) return answer(status);
  if (const auto status = sim::refuse_in_capture(); status != cudaSuccess) return answer(status);
  if (pointer != nullptr && machine().device.lazy) sim::finish_all();
  const std::lock_guard lock(machine().mutex);
  if (pointer != nullptr) ++machine().counters.synchronizations;
  return answer(free_device(pointer));
}

cudaError_t cudaFreeAsync(void* pointer, cudaStream_t stream) {
  const std::lock_guard lock(machine().mutex);
  if (!sim::is_stream(stream)) return answer(cudaErrorInvalidResourceHandle);
  if (const auto capture = sim::capture_of(stream)) {
    capture->invalid = true;
    return answer(cudaErrorStreamCaptureUnsupported);
  }
  if (machine().device.lazy && pointer != nullptr) {
    return answer(sim::enqueue(stream, "cudaFreeAsync", cudaGraphNodeTypeEmpty, [pointer] {
      const std::lock_guard late(machine().mutex);
      answer(free_device(pointer));
    }));
  }
  return answer(free_device(pointer));
}

cudaError_t cudaHostAlloc(void** pointer, std::size_t size, unsigned flags) {
  const std::lock_guard lock(machine().mutex);
  if (const auto status = sim::device_status(); status != cudaSuccess) return answer(status);
  if (const auto status = sim::refuse_in_capture(); status != cudaSuccess) return answer(status);
  if (pointer == nullptr || flags > 7) return answer(cudaErrorInvalidValue);
  *pointer = nullptr;
  if (size == 0) return answer(cudaSuccess);
  void* memory = allocate(size);
  if (memory == nullptr) return answer(cudaErrorMemoryAllocation);
  machine().pinned_memory[memory] = {size, memory};
  *pointer = memory;
  return answer(cudaSuccess);
}

cudaError_t cudaMallocHost(void** pointer, std::size_t size) {
  return cudaHostAlloc(pointer, size, cudaHostAllocDefault);
}

cudaError_t cudaFreeHost(void* pointer) {
  const std::lock_guard lock(machine().mutex);
  if (const auto status = sim::refuse_in_capture(); status != cudaSuccess) return answer(status);
  if (pointer == nullptr) return answer(cudaSuccess);
  auto& memory = machine().pinned_memory;
  const auto found = memory.find(pointer);
  if (found == memory.end()) return answer(cudaErrorInvalidValue);
  const sim::Allocation allocation = found->second;
  memory.erase(found);
  const bool whole = guard_is_whole(allocation);
  release(allocation);
  return answer(whole ? cudaSuccess : cudaErrorIllegalAddress);
}

cudaError_t cudaHostGetDevicePointer(void** device_pointer, void* host_pointer, unsigned flags) {
  const std::lock_guard lock(machine().mutex);
  if (device_pointer == nullptr || flags != 0) return answer(cudaErrorInvalidValue);
  if (!contains(machine().pinned_memory, host_pointer, 0)) return answer(cudaErrorInvalidValue);
  *device_pointer = host_pointer;
  return answer(cudaSuccess);
}

cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* pointer) {
  const std::lock_guard lock(machine().mutex);
  if (attributes == nullptr) return answer(cudaErrorInvalidValue);
  void* const mutable_pointer = const_cast<void*>(pointer);
  if (touches_device(pointer)) {
    *attributes = {cudaMemoryTypeDevice, 0, mutable_pointer, nullptr};
  } else if (contains(machine().pinned_memory, pointer, 0)) {
    *attributes = {cudaMemoryTypeHost, 0, mutable_pointer, mutable_pointer};
  } else {
    *attributes = {cudaMemoryTypeUnregistered, -2, nullptr, mutable_pointer};
  }
  return answer(cudaSuccess);
}

cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) {
  bool done = false;
  {
    const std::lock_guard lock(machine().mutex);
    if (const auto status = sim::device_status(); status != cudaSuccess) return answer(status);
    if (const auto status = sim::refuse_in_capture(); status != cudaSuccess) return answer(status);
    if (bytes == 0) return answer(cudaSuccess);
    if (const auto status = resolve(to, from, bytes, kind); status != cudaSuccess) {
      return answer(status);
    }
    done = is_done_at_return(kind, is_pageable(to, from, bytes));
  }
  const auto status = sim::enqueue(nullptr, "cudaMemcpy", cudaGraphNodeTypeMemcpy,
                                   [=] { copy(to, from, bytes, kind); });
  CUstream_st& legacy = machine().legacy;
  sim::run_waiting(legacy, sim::issued_to(legacy));
  if (done) sim::finish(nullptr);
  sim::count_wait();
  return answer(status);
}

cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t stream) {
  bool pageable = false;
  {
    const std::lock_guard lock(machine().mutex);
    if (const auto status = sim::device_status(); status != cudaSuccess) return answer(status);
    if (!sim::is_stream(stream)) return answer(cudaErrorInvalidResourceHandle);
    if (bytes == 0) return answer(cudaSuccess);
    if (const auto status = resolve(to, from, bytes, kind); status != cudaSuccess) {
      return answer(status);
    }
    pageable = is_pageable(to, from, bytes);
  }
  const auto issue = [&](std::function<void()> work) {
    return sim::enqueue(stream, "cudaMemcpyAsync", cudaGraphNodeTypeMemcpy, std::move(work),
                        pageable);
  };
  if (!machine().device.lazy || !pageable || sim::capture_of(stream) != nullptr) {
    return answer(issue([=] { copy(to, from, bytes, kind); }));
  }
  // Pageable memory is read before the call returns, and written before it.
  if (kind == cudaMemcpyHostToDevice) {
    const auto* first = static_cast<const std::byte*>(from);
    const auto staged = std::make_shared<const std::vector<std::byte>>(first, first + bytes);
    return answer(issue([=] { copy(to, staged->data(), bytes, kind); }));
  }
  const auto status = issue([=] { copy(to, from, bytes, kind); });
  sim::finish(stream);
  return answer(status);
}

cudaError_t cudaMemset(void* pointer, int value, std::size_t bytes) {
  if (const auto status = sim::refuse_in_capture(); status != cudaSuccess) return answer(status);
  return cudaMemsetAsync(pointer, value, bytes, nullptr);
}

cudaError_t cudaMemsetAsync(void* pointer, int value, std::size_t bytes, cudaStream_t stream) {
  if (const auto status = sim::device_status(); status != cudaSuccess) return answer(status);
  if (!sim::is_stream(stream)) return answer(cudaErrorInvalidResourceHandle);
  if (bytes == 0) return answer(cudaSuccess);
  if (!sim::in_device_memory(pointer, bytes)) return answer(cudaErrorInvalidValue);
  return answer(sim::enqueue(stream, "cudaMemset", cudaGraphNodeTypeMemset, [=] {
    {
      const std::lock_guard lock(machine().mutex);
      ++machine().counters.memsets;
    }
    if (machine().device.compute) std::memset(pointer, value, bytes);
  }));
}

cudaError_t cudaMemGetInfo(std::size_t* free, std::size_t* total) {
  const std::lock_guard lock(machine().mutex);
  if (const auto status = sim::device_status(); status != cudaSuccess) return answer(status);
  if (free == nullptr || total == nullptr) return answer(cudaErrorInvalidValue);
  *total = machine().device.memory;
  *free = *total - std::min(*total, machine().allocated);
  return answer(cudaSuccess);
}
