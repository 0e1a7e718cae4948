// SPDX-License-Identifier: Apache-2.0
#include "backend/cuda/cudnn_plans.h"

#include <cstdint>

#include "backend/cuda/kernel_trial.h"
#include "base/check.h"

namespace linnet::cuda {
namespace {

/// cuDNN asks for no more; arenas give less.
constexpr std::size_t kWorkspaceAlignment = 256;
constexpr std::size_t kOperandAlignment = 16;  ///< as the tensors of the graph are declared
/// Answers to whether a plan or own kernels are taken.
constexpr const char* kOwn = "own";
constexpr const char* kCudnn = "cudnn";

template <class T>
std::size_t above_multiple(const T* address, std::size_t alignment) {
  return reinterpret_cast<std::uintptr_t>(address) % alignment;
}

std::optional<int> find_engine(CudnnGraph& graph, const std::string& name) {
  for (int i = 0; i < graph.engines(); ++i) {
    if (graph.name(i) == name && graph.prepare(i)) return i;
  }
  return std::nullopt;
}

std::optional<int> first_engine(CudnnGraph& graph) {
  for (int i = 0; i < graph.engines(); ++i) {
    if (graph.prepare(i)) return i;
  }
  return std::nullopt;
}

}  // namespace

CudnnPlan::CudnnPlan(std::unique_ptr<CudnnGraph> graph, int engine)
    : graph_(std::move(graph)),
      engine_(engine),
      workspace_bytes_(graph_->workspace_bytes(engine)),
      engine_name_(fmt::format("cudnn {}{}, {:.1f} MiB", graph_->name(engine),
                               graph_->tensor_cores(engine) ? ", tensor cores" : "",
                               static_cast<double>(workspace_bytes_) / (1 << 20))) {
  if (workspace_bytes_ > 0) workspace_bytes_ += kWorkspaceAlignment;
}

void CudnnPlan::execute(cudaStream_t stream, std::span<void* const> operands,
                        std::byte* workspace) const {
  for (std::size_t i = 0; i < operands.size(); ++i) {
    require(above_multiple(operands[i], kOperandAlignment) == 0,
            "{}: operand {} stands at {}, which is no multiple of {} bytes", engine_name_, i,
            operands[i], kOperandAlignment);
  }
  if (workspace_bytes_ == 0) {
    graph_->execute(engine_, stream, operands, nullptr);
    return;
  }
  const std::size_t above = above_multiple(workspace, kWorkspaceAlignment);
  graph_->execute(engine_, stream, operands,
                  workspace + (above == 0 ? 0 : kWorkspaceAlignment - above));
}

std::string Cudnn::key(const CudnnProblem& problem) const {
  return fmt::format("cudnn {}, {}, {}", cudnn_version(), device_, describe(problem));
}

std::shared_ptr<const CudnnPlan> Cudnn::plan(const CudnnProblem& problem,
                                             TuningCache* cache) const {
  const std::string name = describe(problem);
  const auto known = plans_.find(name);
  if (known != plans_.end()) return known->second;
  return plans_.emplace(name, make(problem, cache)).first->second;
}

std::optional<Kernel> Cudnn::kernel_if_faster(const CudnnProblem& problem, const NodeView& node,
                                              const Kernel& own, const Wrap& wrap,
                                              TuningCache* cache) const {
  if (cache == nullptr) return std::nullopt;
  const std::string question = key(problem) + ", or own kernels";
  const std::optional<std::string> choice = cache->get(question);
  if (choice == kOwn && !preferred_) return std::nullopt;
  const std::shared_ptr<const CudnnPlan> found = plan(problem, cache);
  std::optional<Kernel> kernel = found ? std::optional(wrap(found)) : std::nullopt;
  if (preferred_ || (kernel && choice == kCudnn)) return kernel;
  const bool better = kernel && may_replace(*kernel, own, node, trials_.get());
  cache->put(question, better ? kCudnn : kOwn);
  return better ? kernel : std::nullopt;
}

std::shared_ptr<const CudnnPlan> Cudnn::make(const CudnnProblem& problem,
                                             TuningCache* cache) const {
  if (!target_) target_ = CudnnTarget::current_device();
  if (!trials_) trials_ = make_stream();
  std::unique_ptr<CudnnGraph> graph = CudnnGraph::build(target_, problem);
  if (!graph) return nullptr;
  std::optional<int> engine;
  if (cache != nullptr) {
    const std::optional<std::string> choice = cache->get(key(problem));
    if (choice) engine = find_engine(*graph, *choice);
    if (!engine) engine = fastest_engine(*graph, problem, trials_.get());
    if (engine) {
      const std::string name = graph->name(*engine);
      if (choice != name) {
        cache->put(key(problem), name);
        // Anew, so that the slower engines' kernels don't stay on the device.
        graph = CudnnGraph::build(target_, problem);
        engine = graph ? find_engine(*graph, name) : std::nullopt;
      }
    }
  }
  if (graph && !engine) engine = first_engine(*graph);
  if (!engine) return nullptr;
  load_kernels(*graph, *engine, problem, trials_.get());
  return std::make_shared<const CudnnPlan>(std::move(graph), *engine);
}

}  // namespace linnet::cuda
