// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "backend/cuda/cudnn_convolution.h"
#include "backend/cuda/kernel.h"

namespace linnet::cuda {

class CudnnRnn;
struct CudnnRecurrent;

/// A problem with the engine that was chosen for it. It must outlive every CUDA graph that it
/// was captured in: cuDNN unloads kernels that it compiled with the plan.
class CudnnPlan {
 public:
  virtual ~CudnnPlan() = default;
  /// Returns bytes enough for a start at any address: execute() aligns it by itself.
  virtual std::size_t workspace_bytes() const = 0;
  virtual bool tensor_cores() const = 0;
  /// Returns text for dumps: "cudnn ConvFwd_eng46_k2=9, tensor cores, 4.0 MiB".
  virtual const std::string& engine() const = 0;
  /// Operands in the problem's order, each at a multiple of 16 bytes. May be captured. Throws Error
  /// naming the problem.
  virtual void execute(const Queue& queue, std::span<void* const> operands,
                       std::byte* workspace) const = 0;
};

/// Returns what a list says of a plan for the problem.
inline PlannedLaunch listed(const CudnnConvolution& problem) {
  return {.name = problem.describe(), .library = "cudnn"};
}

/// cuDNN as the operators ask for it: the library on a device (cudnn_plans.h), or what it would do
/// on one that is only described (assumed_libraries.h).
class Cudnn {
 public:
  virtual ~Cudnn() = default;

  /// Returns null where cuDNN has no engine for the problem. On the calling thread's device, the
  /// same at every call. With a cache, engines are measured unless the cache knows the choice (some
  /// milliseconds, and device memory for the operands meanwhile; where that is missing, or without
  /// a cache, the heuristics' first engine is taken). Throws Error where cuDNN can't be started.
  virtual std::shared_ptr<const CudnnPlan> plan(const CudnnConvolution& problem,
                                                TuningCache* cache) const = 0;

  using Wrap = std::function<Kernel(std::shared_ptr<const CudnnPlan>)>;
  /// Returns the result of `wrap` for the problem's plan, where that may replace `own`, Linnet's
  /// kernel for the node (see may_replace()): measured, unless the cache knows. Else, and without a
  /// cache, null.
  virtual std::optional<Kernel> kernel_if_faster(const CudnnConvolution& problem,
                                                 const NodeView& node, const Kernel& own,
                                                 const Wrap& wrap, TuningCache* cache) const = 0;

  using Make = std::function<std::optional<Kernel>()>;
  /// The other way round: `own` makes the node's kernel by the problem's plan, for a trial alone.
  /// Returns what `make` makes, by another library of which `rival` says all that the choice
  /// depends on, where that may replace it. Else, and without a cache, null.
  virtual std::optional<Kernel> rival_if_faster(const CudnnConvolution& problem,
                                                std::string_view rival, const NodeView& node,
                                                const Make& own, const Make& make,
                                                TuningCache* cache) const = 0;

  using WrapRnn = std::function<Kernel(std::shared_ptr<const CudnnRnn>)>;
  /// Returns the layer by that of cuDNN's algorithms with which the result of `wrap` for it is
  /// fastest and may replace what `own` makes for the node, for a trial alone (see may_replace()):
  /// measured, unless the cache knows. Null where none may, where cuDNN fails, and without a cache.
  /// Questions of one layer in `training` and in inference are two; equal ones have one answer as
  /// long as this object lives.
  virtual std::shared_ptr<const CudnnRnn> rnn_if_faster(const CudnnRecurrent& layer, bool training,
                                                        const NodeView& node, const Make& own,
                                                        const WrapRnn& wrap,
                                                        TuningCache* cache) const = 0;
};

}  // namespace linnet::cuda
