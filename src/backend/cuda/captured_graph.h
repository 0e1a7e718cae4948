// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

#include "backend/cuda/cuda_api.h"
#include "backend/cuda/handle.h"

namespace linnet::cuda {

/// Work that was captured from a stream once and is launched as a whole.
class CapturedGraph {
 public:
  CapturedGraph() = default;

  /// Returns what `enqueue` puts on `stream`. Throws Error where something in it can't be captured.
  static CapturedGraph capture(cudaStream_t stream, const std::function<void()>& enqueue);

  /// Returns a WHILE node around what `enqueue` puts on `stream`: it runs at least once, and again
  /// as long as the body sets the handle to 1. Throws Error where driver or device can't.
  static CapturedGraph loop(cudaStream_t stream,
                            const std::function<void(cudaGraphConditionalHandle)>& enqueue);

  explicit operator bool() const { return static_cast<bool>(executable_); }
  void launch(cudaStream_t stream) const;

 private:
  using Graph = UniqueHandle<cudaGraph_t, cudaGraphDestroy>;
  using Executable = UniqueHandle<cudaGraphExec_t, cudaGraphExecDestroy>;
  explicit CapturedGraph(Graph graph);

  Graph graph_;  // its conditional nodes' bodies belong to it
  Executable executable_;
};

}  // namespace linnet::cuda
