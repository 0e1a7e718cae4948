// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "backend/cuda/cudnn.h"
#include "backend/cuda/cudnn_graph.h"
#include "backend/cuda/cudnn_recurrent.h"
#include "backend/cuda/device.h"
#include "runtime/tuning_cache.h"

namespace linnet::cuda {

/// An engine of cuDNN's.
class CudnnEngine final : public CudnnPlan {
 public:
  /// `engine` of the problem's graph is prepared.
  CudnnEngine(const CudnnConvolution& problem, std::unique_ptr<CudnnGraph> graph, int engine);

  std::size_t workspace_bytes() const override { return workspace_bytes_; }
  bool tensor_cores() const override { return graph_->tensor_cores(engine_); }
  const std::string& engine() const override { return engine_name_; }
  void execute(const Queue& queue, std::span<void* const> operands,
               std::byte* workspace) const override;

 private:
  PlannedLaunch listed_;
  std::unique_ptr<CudnnGraph> graph_;
  int engine_;
  std::size_t workspace_bytes_;
  std::string engine_name_;
};

/// cuDNN on one device. Plans are kept: equal problems share one. Calls take turns, and so do
/// executions of its plans (they share a handle).
class CudnnLibrary final : public Cudnn {
 public:
  /// Starts nothing yet. `device` is its name, for the keys of measured choices.
  /// `preferred`: kernel_if_faster() takes every plan, without a trial. `deterministic`: see
  /// CudaOptions; cuDNN's RNN does not follow it.
  explicit CudnnLibrary(std::string device, bool preferred = false, bool deterministic = true)
      : device_(std::move(device)), preferred_(preferred), deterministic_(deterministic) {}

  std::shared_ptr<const CudnnPlan> plan(const CudnnConvolution& problem,
                                        TuningCache* cache) const override;
  std::optional<Kernel> kernel_if_faster(const CudnnConvolution& problem, const NodeView& node,
                                         const Kernel& own, const Wrap& wrap,
                                         TuningCache* cache) const override;
  std::optional<Kernel> rival_if_faster(const CudnnConvolution& problem, std::string_view rival,
                                        const NodeView& node, const Make& own, const Make& make,
                                        TuningCache* cache) const override;
  std::shared_ptr<const CudnnRnn> rnn_if_faster(const CudnnRecurrent& layer, bool training,
                                                const NodeView& node, const Make& own,
                                                const WrapRnn& wrap,
                                                TuningCache* cache) const override;

 private:
  void start() const;
  std::shared_ptr<const CudnnPlan> make(const CudnnConvolution& problem, TuningCache* cache) const;
  /// Two kernels for a node, by the names that the cache has for them.
  struct Rivals {
    std::string_view own_name;
    const Make& own;
    std::string_view name;
    const Make& make;
    CudnnMath math;
  };
  std::optional<Kernel> faster(const Rivals& rivals, const std::string& question,
                               const NodeView& node, TuningCache& cache) const;
  std::shared_ptr<const CudnnRnn> fastest_rnn(const CudnnRecurrent& layer, bool training,
                                              const std::string& question, const NodeView& node,
                                              const Make& own, const WrapRnn& wrap,
                                              TuningCache& cache) const;
  std::string key(const std::string& description) const;

  std::string device_;
  bool preferred_;
  bool deterministic_;
  mutable Stream trials_;  ///< what engines are measured on
  mutable std::shared_ptr<CudnnTarget> target_;
  mutable std::map<std::string, std::shared_ptr<const CudnnPlan>> plans_;
  mutable std::map<std::string, std::shared_ptr<const CudnnRnn>> rnns_;  ///< by question
};

/// Returns the engine that runs fastest on the current device, among the heuristics' first of every
/// kind that can be captured in a CUDA graph; null where none runs or memory for the operands is
/// missing. The graph's engines are left prepared. `stream` may not be the legacy default one.
std::optional<int> fastest_engine(CudnnGraph& graph, const CudnnConvolution& problem,
                                  cudaStream_t stream);

/// Runs a prepared engine on memory of its own and captures it: then its kernels are loaded when a
/// step is captured, where loading may be refused. False where it fails; true, untried, where that
/// memory is missing.
bool runs(const CudnnGraph& graph, int engine, const CudnnConvolution& problem,
          cudaStream_t stream);

}  // namespace linnet::cuda
