// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "backend/cuda/cudnn_convolution.h"
#include "backend/cuda/workspace.h"

struct cudnnContext;  // what cuDNN's handles point to

namespace linnet::cuda {

/// Describes where graphs are built for: the calling thread's device by a cuDNN handle, or a device
/// that is only described, for which plans can be built but not run.
class CudnnTarget {
 public:
  /// Throws Error, one sentence, where cuDNN can't be started: no device, not enough memory.
  static std::shared_ptr<CudnnTarget> current_device();
  /// `properties`: cuDNN's JSON of device properties. Throws Error where cuDNN refuses it.
  static std::shared_ptr<CudnnTarget> described(const std::string& properties,
                                                int compute_capability);
  ~CudnnTarget();
  CudnnTarget(const CudnnTarget&) = delete;
  CudnnTarget& operator=(const CudnnTarget&) = delete;

  /// Returns null where the device is only described.
  cudnnContext* handle() const;

  struct State;
  State& state() const { return *state_; }

 private:
  CudnnTarget();
  std::unique_ptr<State> state_;
};

/// A problem as a cuDNN operation graph, with the engines that take it: those that follow the
/// problem's CudnnMath, stay below kCudnnWorkspaceLimit and, where they have to be deterministic,
/// give the same bits every time.
/// In the order of cuDNN's heuristics, best first. Not thread-safe.
class CudnnGraph {
 public:
  /// Returns null where cuDNN refuses the graph or no engine is left. `all`: those of cuDNN's
  /// fallback, too, which follow the others; naming them takes it four times as long.
  static std::unique_ptr<CudnnGraph> build(const std::shared_ptr<const CudnnTarget>& target,
                                           const CudnnConvolution& problem,
                                           bool deterministic = true, bool all = true);
  ~CudnnGraph();
  CudnnGraph(const CudnnGraph&) = delete;
  CudnnGraph& operator=(const CudnnGraph&) = delete;

  int engines() const;
  /// Returns the engine with its settings, the same from run to run: "ConvFwd_eng46_k2=9_k3=0".
  const std::string& name(int engine) const;
  /// Makes an engine ready to run; false where it does not take the graph after all.
  bool prepare(int engine);
  /// Returns the workspace of a prepared engine.
  std::size_t workspace_bytes(int engine) const;
  bool tensor_cores(int engine) const;
  /// Returns whether prepare() has to compile the engine first.
  bool is_compiled(int engine) const;
  /// Enqueues a prepared engine. Operands stand in the problem's order, 16-byte aligned;
  /// workspace is 256-byte aligned, null if it needs none. Waits for nothing. Throws Error naming
  /// the problem.
  void execute(int engine, cudaStream_t stream, std::span<void* const> operands,
               void* workspace) const;

 private:
  CudnnGraph();
  struct State;
  std::unique_ptr<State> state_;
};

/// Returns text such as "9.19.0", of the library that is loaded.
std::string cudnn_version();

}  // namespace linnet::cuda
