// SPDX-License-Identifier: Apache-2.0
#include "backend/cuda/cudnn_plans.h"

#include <cstdint>

#include "base/check.h"

namespace linnet::cuda {
namespace {

/// cuDNN asks for no more; arenas give less.
constexpr std::size_t kWorkspaceAlignment = 256;
constexpr std::size_t kOperandAlignment = 16;  ///< as the tensors of the graph are declared

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

std::shared_ptr<const CudnnPlan> Cudnn::plan(const CudnnConvolution& convolution,
                                             TuningCache* cache) const {
  const std::string key = convolution.describe();
  const auto known = plans_.find(key);
  if (known != plans_.end()) return known->second;
  return plans_.emplace(key, make(convolution, cache)).first->second;
}

std::shared_ptr<const CudnnPlan> Cudnn::make(const CudnnConvolution& convolution,
                                             TuningCache* cache) const {
  if (!target_) target_ = CudnnTarget::current_device();
  if (!trials_) trials_ = make_stream();
  std::unique_ptr<CudnnGraph> graph = CudnnGraph::build(target_, convolution);
  if (!graph) return nullptr;
  std::optional<int> engine;
  if (cache != nullptr) {
    const std::string key =
        fmt::format("cudnn {}, {}, {}", cudnn_version(), device_, convolution.describe());
    const std::optional<std::string> choice = cache->get(key);
    if (choice) engine = find_engine(*graph, *choice);
    if (!engine) engine = fastest_engine(*graph, convolution, trials_.get());
    if (engine) {
      const std::string name = graph->name(*engine);
      if (choice != name) {
        cache->put(key, name);
        // Anew, so that the slower engines' kernels don't stay on the device.
        graph = CudnnGraph::build(target_, convolution);
        engine = graph ? find_engine(*graph, name) : std::nullopt;
      }
    }
  }
  if (graph && !engine) engine = first_engine(*graph);
  if (!engine) return nullptr;
  load_kernels(*graph, *engine, convolution, trials_.get());
  return std::make_shared<const CudnnPlan>(std::move(graph), *engine);
}

}  // namespace linnet::cuda
