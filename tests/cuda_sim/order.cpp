// SPDX-License-Identifier: Apache-2.0
// What runs before what: work that waits in streams, and what nothing orders.
#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "cuda_sim/machine.h"

namespace linnet::cuda::sim {
namespace {

CUstream_st& state_of(cudaStream_t stream) {
  return stream == nullptr ? machine().legacy : *stream;
}

bool is_alive(CUstream_st* stream) {
  return stream == &machine().legacy || machine().streams.contains(stream);
}

/// The next of the first `work` pieces that has not run; none if there is none.
std::function<void()> next_of(CUstream_st& stream, std::uint64_t work) {
  const std::lock_guard lock(machine().mutex);
  if (stream.waiting.empty() || stream.run >= work) return {};
  std::function<void()> next = std::move(stream.waiting.front());
  stream.waiting.pop_front();
  ++stream.run;
  return next;
}

/// The host knows of `work` pieces that they are done, and so of what came before them elsewhere.
void learn(CUstream_st& stream, std::uint64_t work) {
  stream.known = std::max(stream.known, work);
  if (stream.known < stream.issued) return;
  for (auto& [other, reached] : std::exchange(stream.after, {})) {
    if (is_alive(other) && other->known < reached) learn(*other, reached);
  }
}

}  // namespace

std::uint64_t issued_to(const CUstream_st& stream) {
  const std::lock_guard lock(machine().mutex);
  return stream.issued;
}

void run_waiting(CUstream_st& stream, std::uint64_t work) {
  const std::lock_guard running(machine().running);
  while (const std::function<void()> next = next_of(stream, work)) next();
}

void finish(CUstream_st& stream, std::uint64_t work) {
  run_waiting(stream, work);
  const std::lock_guard lock(machine().mutex);
  learn(stream, work);
}

void finish(cudaStream_t stream) {
  CUstream_st& state = state_of(stream);
  finish(state, issued_to(state));
}

void finish_all() {
  std::vector<CUstream_st*> all{&machine().legacy};
  {
    const std::lock_guard lock(machine().mutex);
    all.insert(all.end(), machine().streams.begin(), machine().streams.end());
  }
  for (CUstream_st* stream : all) finish(*stream, issued_to(*stream));
}

void count_wait() {
  const std::lock_guard lock(machine().mutex);
  ++machine().counters.synchronizations;
}

void require_order(cudaStream_t stream, const char* what) {
  const Machine& m = machine();
  if (stream != nullptr) {
    if (stream->blocking || m.legacy.known == m.legacy.issued) return;
    throw std::runtime_error(
        fmt::format("[CUDA sim] {} on a non-blocking stream does not wait for {} on the legacy "
                    "default stream, which may be unfinished",
                    what, m.legacy_work));
  }
  for (const CUstream_st* other : m.streams) {
    if (other->blocking || other->known == other->issued) continue;
    throw std::runtime_error(
        fmt::format("[CUDA sim] {} on the legacy default stream does not wait for the unfinished "
                    "work of a non-blocking stream",
                    what));
  }
}

void wait_for(cudaStream_t stream, const CUevent_st& event) {
  CUstream_st& state = state_of(stream);
  CUstream_st* other = event.stream;
  if (other == nullptr || other == &state || !is_alive(other)) return;
  std::uint64_t& reached = state.after[other];
  reached = std::max(reached, event.work);
  if (!machine().device.lazy) return;
  ++state.issued;
  state.waiting.push_back([other, work = event.work] {
    bool alive = false;
    {
      const std::lock_guard lock(machine().mutex);
      alive = is_alive(other);
    }
    if (alive) run_waiting(*other, work);
  });
}

cudaError_t enqueue(cudaStream_t stream, const char* what, cudaGraphNodeType type,
                    std::function<void()> work, bool pageable) {
  {
    const std::lock_guard lock(machine().mutex);
    if (stream == nullptr) {
      // The legacy stream waits for every blocking stream, which a captured one can't answer.
      for (const auto& capture : machine().captures) {
        for (const CUstream_st* captured : capture->streams) {
          if (!captured->blocking) continue;
          capture->invalid = true;
          return cudaErrorStreamCaptureImplicit;
        }
      }
      machine().legacy_work = what;
    } else if (stream->capture != nullptr) {
      if (stream->capture->invalid) return cudaErrorStreamCaptureInvalidated;
      CUgraphNode_st& node = add_captured(*stream, type);
      node.run = std::move(work);
      node.pageable = pageable;
      return cudaSuccess;
    }
    require_order(stream, what);
    CUstream_st& state = state_of(stream);
    ++state.issued;
    if (machine().device.lazy || !state.waiting.empty()) {
      state.waiting.push_back(std::move(work));
      return cudaSuccess;
    }
    ++state.run;
  }
  work();
  return cudaSuccess;
}

}  // namespace linnet::cuda::sim
