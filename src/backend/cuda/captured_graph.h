// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <span>

#include "backend/cuda/cuda_api.h"
#include "backend/cuda/handle.h"

namespace linnet::cuda {

/// Work that was captured from a stream once and is launched as a whole.
class CapturedGraph {
 public:
  CapturedGraph() = default;

  /// Returns what `enqueue` puts on `stream`. Throws Error where something in it can't be captured.
  static CapturedGraph capture(cudaStream_t stream, const std::function<void()>& enqueue);

  using Conditions = std::span<const cudaGraphConditionalHandle>;
  /// Returns `count` WHILE nodes, one after the other. Node i goes round what enqueue(i, condition
  /// i) puts on `stream` while that condition is not 0; `begin` enqueues what gives the conditions
  /// their first values. Throws Error where driver or device can't.
  static CapturedGraph loops(
      cudaStream_t stream, std::size_t count, const std::function<void(Conditions)>& begin,
      const std::function<void(std::size_t, cudaGraphConditionalHandle)>& enqueue);

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
