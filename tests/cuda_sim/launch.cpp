// SPDX-License-Identifier: Apache-2.0
// Kernels on streams, and the record of what ran.
#include <fmt/format.h>

#include <stdexcept>
#include <utility>

#include "cuda_sim/block.h"
#include "cuda_sim/machine.h"

namespace linnet::cuda::sim {
namespace {

std::string text_of(dim3 shape) { return fmt::format("({}, {}, {})", shape.x, shape.y, shape.z); }

void validate(const char* name, dim3 grid, dim3 block, std::size_t shared_bytes,
              const void* kernel) {
  const auto refuse = [&](const std::string& what) {
    throw std::runtime_error(
        fmt::format("[CUDA sim] kernel '{}': invalid configuration argument (9): {}; got grid {}, "
                    "block {}, {} bytes of shared memory",
                    name, what, text_of(grid), text_of(block), shared_bytes));
  };
  const std::uint64_t threads = std::uint64_t{block.x} * block.y * block.z;
  if (threads < 1 || threads > 1024) refuse("a block has 1 to 1024 threads");
  if (block.z > 64) refuse("a block has at most 64 threads along z");
  if (grid.x == 0 || grid.y == 0 || grid.z == 0) refuse("a grid has at least one block");
  if (grid.x > 2147483647U || grid.y > 65535 || grid.z > 65535) {
    refuse("a grid has at most 2147483647, 65535 and 65535 blocks");
  }
  if (shared_bytes > machine().device.shared_bytes) {
    refuse(fmt::format("a block has at most {} bytes", machine().device.shared_bytes));
  }
  if (kernel == nullptr) return;
  if (threads > launch_bounds(kernel)) {
    refuse(
        fmt::format("the kernel is compiled for blocks of {} threads: larger ones need "
                    "__launch_bounds__, or their registers may not fit",
                    launch_bounds(kernel)));
  }
  if (shared_bytes > most_dynamic_shared(kernel)) {
    refuse(
        fmt::format("dynamic shared memory that with static arrays (up to {} bytes) may exceed "
                    "48 KiB must be asked for by cudaFuncSetAttribute, which last said {}",
                    kStaticShared, most_dynamic_shared(kernel)));
  }
}

void record(const char* name, dim3 grid, dim3 block, std::size_t shared_bytes, Issue issue) {
  Machine& m = machine();
  const std::lock_guard lock(m.mutex);
  if (issue != Issue::kCaptured) ++m.counters.launches;
  if (m.device.record_launches) m.launches.push_back({name, grid, block, shared_bytes, issue});
}

}  // namespace

void launch(CUstream_st* stream, const char* name, dim3 grid, dim3 block, std::size_t shared_bytes,
            std::function<void()> body, const void* kernel) {
  if (device_status() != cudaSuccess || !is_stream(stream)) {
    throw std::runtime_error(
        fmt::format("[CUDA sim] kernel '{}': {}", name,
                    device_status() != cudaSuccess ? "there is no device" : "not a live stream"));
  }
  validate(name, grid, block, shared_bytes, kernel);
  const bool captured = capture_of(stream) != nullptr;
  if (captured) record(name, grid, block, shared_bytes, Issue::kCaptured);
  const cudaError_t status =
      enqueue(stream, name, cudaGraphNodeTypeKernel,
              [=, text = std::string(name), body = std::move(body)] {
                if (captured) validate(text.c_str(), grid, block, shared_bytes, kernel);
                record(text.c_str(), grid, block, shared_bytes,
                       captured ? Issue::kReplayed : Issue::kDirect);
                if (!machine().device.compute) return;
                BlockRunner::current().run_grid(text.c_str(), grid, block, shared_bytes,
                                                machine().device.shuffle_seed, body);
              });
  if (status != cudaSuccess) {
    throw std::runtime_error(fmt::format("[CUDA sim] kernel '{}': {} ({})", name,
                                         cudaGetErrorString(status), static_cast<int>(status)));
  }
}

std::size_t most_dynamic_shared(const void* kernel) {
  const std::lock_guard lock(machine().mutex);
  const auto asked = machine().dynamic_shared.find(kernel);
  constexpr std::size_t kUnasked = std::size_t{48} << 10;
  return asked != machine().dynamic_shared.end() ? asked->second : kUnasked - kStaticShared;
}

void require_reachable(const char* name, std::size_t index, const void* pointer) {
  if (pointer == nullptr || machine().device.host_pointers || device_status() != cudaSuccess)
    return;
  cudaPointerAttributes attributes{};
  static_cast<void>(cudaPointerGetAttributes(&attributes, pointer));
  if (attributes.type != cudaMemoryTypeUnregistered) return;
  throw std::runtime_error(
      fmt::format("[CUDA sim] kernel '{}': argument {} points to memory of the host", name, index));
}

void require_loaded(bool loaded, const std::string& what, CUstream_st* stream) {
  if (loaded || capture_of(stream) == nullptr) return;
  throw std::runtime_error(fmt::format(
      "[CUDA sim] {} runs for the first time while its stream is captured: a library may load "
      "kernels then, which captures refuse",
      what));
}

Device& device() { return machine().device; }
void reset_device() {
  finish_all();  // what a test leaves is no other's
  machine().device = Device{};
  current_device() = 0;
}

std::vector<Launch> launches() {
  const std::lock_guard lock(machine().mutex);
  return machine().launches;
}

Counters counters() {
  const std::lock_guard lock(machine().mutex);
  return machine().counters;
}

void clear() {
  const std::lock_guard lock(machine().mutex);
  machine().launches.clear();
  machine().counters = Counters{};
}

std::size_t allocated_bytes() {
  const std::lock_guard lock(machine().mutex);
  return machine().allocated;
}

Machine& machine() {
  static Machine instance;
  return instance;
}

}  // namespace linnet::cuda::sim
