// SPDX-License-Identifier: Apache-2.0
#pragma once

// The simulated machine seen from outside: how the backend launches kernels on it, the knobs by
// which tests make it small, old or absent, and a record of what it was asked to do.
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "cuda_sim/lane.h"
#include "cuda_sim/launch_bounds.h"
#include "cuda_sim/types.h"

struct CUstream_st;

namespace linnet::cuda::sim {

/// Runs `body` once for every thread of the grid, or adds it to the graph that `stream` captures.
/// Throws std::runtime_error naming the kernel for a shape that hardware refuses, and, with block
/// and thread, for deadlocks, divergent barriers and wrong masks. What `body` throws comes out.
/// `kernel` tells what was declared of it; null: nothing but the device's limits counts.
void launch(CUstream_st* stream, const char* name, dim3 grid, dim3 block, std::size_t shared_bytes,
            std::function<void()> body, const void* kernel = nullptr);

/// Throws std::runtime_error unless `pointer`, argument `index` of kernel `name`, is null or lies
/// in memory that kernels reach.
void require_reachable(const char* name, std::size_t index, const void* pointer);

/// For fakes of libraries, whose first call loads kernels: throws std::runtime_error where `what`
/// has not run before (`loaded`) and `stream` is captured now.
void require_loaded(bool loaded, const std::string& what, CUstream_st* stream);

/// The machine; fields may be changed at any time (reset_device() restores them).
struct Device {
  int count = 1;     ///< 0: cudaGetDeviceCount answers `missing`
  int missing = 35;  ///< cudaErrorInsufficientDriver; 100: no device
  std::size_t memory = std::size_t{4} << 30;
  int major = 9;
  int minor = 0;
  int multiprocessors = 132;
  std::string name = "Simulated H200";
  int driver_version = 13000;             ///< 1000 * major + 10 * minor
  bool conditional_nodes = true;          ///< false: they are cudaErrorNotSupported
  bool event_nodes = true;                ///< the same for events in graphs
  std::size_t shared_bytes = 227 * 1024;  ///< the most that a block can have
  /// Not 0: threads, blocks and unordered graph nodes run in an order drawn from it, so that a
  /// missing barrier or edge shows. 0: in the order of their numbers.
  std::uint64_t shuffle_seed = 0;
  std::uint64_t while_limit = 10'000'000;  ///< a WHILE node that goes round more often throws
  bool record_launches = false;            ///< keep launches()
  bool compute = true;                     ///< false: kernels are recorded, but not run; memory is
                                           ///< not filled, so that any size can be had
  /// Work of a stream runs when somebody waits for it, not when it is issued: what does not wait
  /// reads old memory, and what frees or overwrites too early is found out.
  bool lazy = false;
  bool host_pointers =
      false;  ///< true: kernels may be given memory of the host (tests of one kernel)
  double pretended_seconds = 0;  ///< by which a test's kernels have moved the events' clock
};
Device& device();
void reset_device();

enum class Issue : std::uint8_t { kDirect, kCaptured, kReplayed };

struct Launch {
  std::string name;
  dim3 grid;
  dim3 block;
  std::size_t shared_bytes = 0;
  Issue issue = Issue::kDirect;
};

struct Copies {
  std::size_t count = 0;
  std::size_t bytes = 0;
};

/// Counts of what ran since clear(); captures alone do not count.
struct Counters {
  std::size_t launches = 0;  ///< kernels, those in graphs included
  std::size_t synchronizations =
      0;                    ///< cuda{Device,Stream,Event}Synchronize, blocking copies, frees
  std::size_t queries = 0;  ///< cudaStreamQuery, cudaEventQuery
  std::size_t graph_launches = 0;
  std::size_t while_rounds = 0;
  std::size_t memsets = 0;
  std::size_t host_functions = 0;
  std::size_t allocations = 0;  ///< device memory
  Copies host_to_device, device_to_host, device_to_device, host_to_host;
};

/// While device().record_launches: every launch in order, captures included.
std::vector<Launch> launches();
Counters counters();
/// Empties launches() and counters().
void clear();

/// Returns device memory that is allocated now: for tests of leaks.
std::size_t allocated_bytes();

}  // namespace linnet::cuda::sim
