// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <vector>

#include "backend/cuda/captured_graph.h"
#include "backend/cuda/device.h"

namespace linnet::cuda {

/// Work for the same operands, timed as steps have it: captured in CUDA graphs, so that the host's
/// part does not count (a library's call takes it some microseconds, a small kernel the device
/// fewer).
class Race {
 public:
  /// `stream` may not be the legacy default one; `what` is for errors.
  Race(cudaStream_t stream, const char* what) : stream_(stream), watch_(stream), what_(what) {}

  /// Runs `enqueue`, which puts work on the stream, and captures it, some times in a row. Throws
  /// Error where one of them fails; then nothing has entered.
  void enter(const std::function<void()>& enqueue);
  /// Returns the best milliseconds of one run of every entrant, in their order. It goes in rounds,
  /// with all in turns; who is much slower than the fastest has no further one.
  std::vector<float> run();

 private:
  struct Entrant {
    CapturedGraph graph;
    int runs = 1;
    float ms = 0;
  };

  cudaStream_t stream_;
  Stopwatch watch_;
  const char* what_;
  std::vector<Entrant> entrants_;
};

/// Returns which of `count` works, which `enqueue` puts on the stream by number, takes the least
/// time. Who fails is left out; null where all do. A later one must win by more than noise, so that
/// the choice does not change from machine to machine.
std::optional<std::size_t> fastest_of(cudaStream_t stream, const char* what, std::size_t count,
                                      const std::function<void(std::size_t)>& enqueue);

}  // namespace linnet::cuda
