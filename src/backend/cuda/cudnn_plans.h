// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "backend/cuda/cudnn_graph.h"
#include "backend/cuda/cudnn_recurrent.h"
#include "backend/cuda/device.h"
#include "backend/cuda/kernel.h"
#include "runtime/tuning_cache.h"

namespace linnet::cuda {

/// A problem with the engine that was chosen for it. It must outlive every CUDA graph that it
/// was captured in: cuDNN unloads kernels that it compiled with the plan.
class CudnnPlan {
 public:
  /// `engine` is prepared.
  CudnnPlan(std::unique_ptr<CudnnGraph> graph, int engine);

  /// Returns bytes enough for a start at any address: execute() aligns it by itself.
  std::size_t workspace_bytes() const { return workspace_bytes_; }
  bool tensor_cores() const { return graph_->tensor_cores(engine_); }
  /// Returns text for dumps: "cudnn ConvFwd_eng46_k2=9, tensor cores, 4.0 MiB".
  const std::string& engine() const { return engine_name_; }
  /// Operands in the problem's order, each at a multiple of 16 bytes. May be captured. Throws Error
  /// naming the problem.
  void execute(cudaStream_t stream, std::span<void* const> operands, std::byte* workspace) const;

 private:
  std::unique_ptr<CudnnGraph> graph_;
  int engine_;
  std::size_t workspace_bytes_;
  std::string engine_name_;
};

/// cuDNN on one device. Plans are kept: equal problems share one. Calls take turns, and so do
/// executions of its plans (they share a handle).
class Cudnn {
 public:
  /// Starts nothing yet. `device` is its name, for the keys of measured choices.
  /// `preferred`: kernel_if_faster() takes every plan, without a trial (tests on a GPU).
  explicit Cudnn(std::string device, bool preferred = false)
      : device_(std::move(device)), preferred_(preferred) {}

  bool preferred() const { return preferred_; }

  /// Returns null where cuDNN has no engine for the problem. On the calling thread's device, the
  /// same at every call. With a cache, engines are measured unless the cache knows the choice (some
  /// milliseconds, and device memory for the operands meanwhile; where that is missing, or without
  /// a cache, the heuristics' first engine is taken). Throws Error where cuDNN can't be started.
  std::shared_ptr<const CudnnPlan> plan(const CudnnProblem& problem, TuningCache* cache) const;

  using Wrap = std::function<Kernel(std::shared_ptr<const CudnnPlan>)>;
  /// Returns the result of `wrap` for the problem's plan, where that may replace `own`, Linnet's
  /// kernel for the node (see may_replace()): measured, unless the cache knows. Else, and without a
  /// cache, null.
  std::optional<Kernel> kernel_if_faster(const CudnnProblem& problem, const NodeView& node,
                                         const Kernel& own, const Wrap& wrap,
                                         TuningCache* cache) const;

  using WrapRnn = std::function<Kernel(std::shared_ptr<const CudnnRnn>)>;
  /// Returns the layer by that of cuDNN's algorithms with which the result of `wrap` for it is
  /// fastest and may replace `own`, a kernel for the node (see may_replace()): measured, unless the
  /// cache knows. Null where none may, where cuDNN fails, and without a cache. `use` ("training")
  /// tells questions on one layer apart; equal questions have one answer as long as this object
  /// lives.
  std::shared_ptr<const CudnnRnn> rnn_if_faster(const CudnnRecurrent& layer, std::string_view use,
                                                const NodeView& node, const Kernel& own,
                                                const WrapRnn& wrap, TuningCache* cache) const;

 private:
  void start() const;
  std::shared_ptr<const CudnnPlan> make(const CudnnProblem& problem, TuningCache* cache) const;
  std::shared_ptr<const CudnnRnn> fastest_rnn(const CudnnRecurrent& layer,
                                              const std::string& question, const NodeView& node,
                                              const Kernel& own, const WrapRnn& wrap,
                                              TuningCache& cache) const;
  std::string key(const std::string& description) const;

  std::string device_;
  bool preferred_;
  mutable Stream trials_;  ///< what engines are measured on
  mutable std::shared_ptr<CudnnTarget> target_;
  mutable std::map<std::string, std::shared_ptr<const CudnnPlan>> plans_;
  mutable std::map<std::string, std::shared_ptr<const CudnnRnn>> rnns_;  ///< by question
};

/// Returns the engine that runs fastest on the current device, among the heuristics' first of every
/// kind that can be captured in a CUDA graph; null where none runs or memory for the operands is
/// missing. The graph's engines are left prepared. `stream` may not be the legacy default one.
std::optional<int> fastest_engine(CudnnGraph& graph, const CudnnProblem& problem,
                                  cudaStream_t stream);

/// Runs a prepared engine on memory of its own and captures it: then its kernels are loaded when a
/// step is captured, where loading may be refused. False where it fails; true, untried, where that
/// memory is missing.
bool runs(const CudnnGraph& graph, int engine, const CudnnProblem& problem, cudaStream_t stream);

}  // namespace linnet::cuda
