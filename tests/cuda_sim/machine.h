// SPDX-License-Identifier: Apache-2.0
#pragma once

// The state of the simulated runtime, shared by its .cpp files.
#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "cuda_sim/runtime_api.h"
#include "cuda_sim/sim.h"

namespace linnet::cuda::sim {

/// A capture in progress: where its nodes go, and whether it is still good.
struct Capture {
  unsigned long long id = 0;
  CUgraph_st* graph = nullptr;
  bool owns_graph = true;  ///< false: cudaStreamBeginCaptureToGraph
  CUstream_st* origin = nullptr;
  cudaStreamCaptureMode mode = cudaStreamCaptureModeGlobal;
  std::thread::id thread;
  bool invalid = false;
  std::set<CUstream_st*> streams;  ///< the origin and those that joined
};

}  // namespace linnet::cuda::sim

struct CUgraphNode_st {
  cudaGraphNodeType type = cudaGraphNodeTypeEmpty;
  std::function<void()> run;                  ///< what replay does; none: bodies, or nothing
  std::vector<CUgraphNode_st*> dependencies;  ///< all made before this node
  cudaGraphConditionalHandle handle = 0;
  cudaGraphConditionalNodeType condition = cudaGraphCondTypeIf;
  std::vector<std::unique_ptr<CUgraph_st>> bodies;  ///< of conditional and child-graph nodes
  std::vector<CUgraph_st*> body_handles;            ///< phGraph_out points here
  bool pageable = false;                            ///< a copy that needs host memory not pinned
};

struct CUgraph_st {
  std::vector<std::shared_ptr<CUgraphNode_st>> nodes;  ///< in an order that dependencies allow
  bool is_body = false;                                ///< destroyed with its node
};

struct CUstream_st {
  int device = 0;
  bool blocking = true;      ///< waits for the legacy default stream
  std::uint64_t issued = 0;  ///< pieces of work that were put here, captures left out
  std::uint64_t run = 0;     ///< of them
  std::uint64_t known = 0;   ///< that the host knows to be done
  std::deque<std::function<void()>> waiting;    ///< issued - run of them (Device::lazy)
  std::map<CUstream_st*, std::uint64_t> after;  ///< what it waited for in other streams
  std::shared_ptr<linnet::cuda::sim::Capture> capture;
  std::vector<CUgraphNode_st*> tail;  ///< what the next captured node comes after
};

struct CUevent_st {
  int device = 0;
  bool timing = true;
  bool recorded = false;
  CUstream_st* stream = nullptr;  ///< it was recorded in
  std::uint64_t work = 0;         ///< pieces of that stream's work before it
  std::chrono::steady_clock::time_point time;
  std::shared_ptr<linnet::cuda::sim::Capture> capture;  ///< recorded while this was going on
  std::vector<CUgraphNode_st*> tail;
};

namespace linnet::cuda::sim {

struct Allocation {
  std::size_t size = 0;
  void* memory = nullptr;
  bool untouched = false;  ///< addresses alone: nobody computes
};

struct Conditional {
  unsigned value = 0;
  unsigned default_value = 0;
  bool assign_default = false;
  bool set = false;             ///< has a value since the graph was launched
  CUgraph_st* graph = nullptr;  ///< that its node must be in; null once that is destroyed
  bool used = false;            ///< by a node
  CUgraphExec_st* exec = nullptr;
};

struct Machine {
  std::recursive_mutex mutex;
  Device device;
  Counters counters;
  std::vector<Launch> launches;
  std::map<const void*, Allocation> device_memory;  ///< by address
  std::map<const void*, Allocation> pinned_memory;
  std::size_t allocated = 0;
  std::recursive_mutex running;                       ///< held while work that waited runs
  CUstream_st legacy;                                 ///< the default stream
  std::string legacy_work;                            ///< what it was given last
  std::map<const void*, std::size_t> dynamic_shared;  ///< by kernel, as cudaFuncSetAttribute said
  std::set<CUstream_st*> streams;
  std::set<CUevent_st*> events;
  std::set<CUgraph_st*> graphs;  ///< bodies and those being captured included
  std::set<CUgraphExec_st*> execs;
  std::vector<std::shared_ptr<Capture>> captures;  ///< in progress
  std::map<cudaGraphConditionalHandle, Conditional> conditionals;
  cudaGraphConditionalHandle next_conditional = 1;
  unsigned long long next_capture = 1;
};

/// Returns the one machine: what it stands for is not part of the program.
Machine& machine();

/// Remembers `status` for cudaGetLastError and returns it.
cudaError_t answer(cudaError_t status);

/// Returns the calling thread's device, which its streams and events are made for.
int& current_device();

/// cudaSuccess where a device can be used.
cudaError_t device_status();

/// Returns the error of a call that no capture may see (allocation, waiting); it invalidates
/// captures that watch the calling thread.
cudaError_t refuse_in_capture();

/// Returns whether the handle can be used: null is the default stream.
bool is_stream(cudaStream_t stream);

/// Returns the capture that `stream` takes part in; null if none.
std::shared_ptr<Capture> capture_of(cudaStream_t stream);

/// Runs `work` now (Device::lazy: when somebody waits for it), or makes it a node where `stream`
/// captures. What `work` throws comes out. `what` is for errors of order.
cudaError_t enqueue(cudaStream_t stream, const char* what, cudaGraphNodeType type,
                    std::function<void()> work, bool pageable = false);

/// Throws std::runtime_error where work on `stream` may run beside unfinished work that it does not
/// wait for: the legacy default stream and non-blocking ones are not ordered with each other.
void require_order(cudaStream_t stream, const char* what);

/// Remembers that `stream` goes on after what `event` was recorded after.
void wait_for(cudaStream_t stream, const CUevent_st& event);

/// CUstream_st::issued, which other threads may be counting.
std::uint64_t issued_to(const CUstream_st& stream);
/// Runs what waits in `stream`, up to its first `work` pieces.
void run_waiting(CUstream_st& stream, std::uint64_t work);
/// The same, and the host knows them to be done.
void finish(CUstream_st& stream, std::uint64_t work);
void finish(cudaStream_t stream);
void finish_all();
/// For Counters::synchronizations.
void count_wait();

/// Adds a node to the graph that `stream` captures, after what the stream did last.
CUgraphNode_st& add_captured(CUstream_st& stream, cudaGraphNodeType type);

/// Ends a capture whatever its state; its streams are free again.
void end_capture(const std::shared_ptr<Capture>& capture);

/// Forgets the graph and its bodies and deletes it; instantiated copies stay.
void destroy_graph(CUgraph_st* graph);

/// Removes conditional handles that no graph and no instantiation knows any more.
void drop_dead_conditionals();

/// What a kernel's static arrays may take of a block's shared memory: the simulator can't see them.
inline constexpr std::size_t kStaticShared = std::size_t{16} << 10;

/// Dynamic shared memory that launches of `kernel` may have: what it asked for last, else what
/// static arrays may leave of 48 KiB.
std::size_t most_dynamic_shared(const void* kernel);

/// Returns whether [pointer, pointer + bytes) lies in one live allocation of the device.
bool in_device_memory(const void* pointer, std::size_t bytes);

}  // namespace linnet::cuda::sim
