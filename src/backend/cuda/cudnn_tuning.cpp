// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>

#include "backend/cuda/captured_graph.h"
#include "backend/cuda/cudnn_plans.h"
#include "backend/cuda/device.h"
#include "backend/cuda/noise.h"
#include "backend/cuda/race.h"
#include "base/check.h"

namespace linnet::cuda {
namespace {

// Chosen for a start of some seconds: resnet50-cifar10 in TF32 took 3.6 s on an H200.

/// Engines of one graph that are timed.
constexpr int kMostCandidates = 20;
/// Neighbours of the list are mostly one engine with other settings, and the first engine is not
/// always a good one.
constexpr int kMostOfOneKind = 8;

std::string kind(const std::string& name) {
  const std::size_t engine = name.find("eng");
  return name.substr(0, engine == std::string::npos ? engine : name.find("_k", engine));
}

/// Engines that are compiled as they are prepared take up to a second each: they are candidates
/// where no other is, or none that multiplies as fast as `math` allows (there may be a generic
/// one).
std::vector<int> candidates(CudnnGraph& graph, CudnnMath math) {
  std::vector<int> chosen;
  for (const bool compiled : {false, true}) {
    std::map<std::string, int> of_kind;
    for (int i = 0; i < graph.engines() && chosen.size() < kMostCandidates; ++i) {
      int& count = of_kind[kind(graph.name(i))];
      if (graph.is_compiled(i) != compiled || count == kMostOfOneKind || !graph.prepare(i)) {
        continue;
      }
      ++count;
      chosen.push_back(i);
    }
    const bool good = std::ranges::any_of(chosen, [&](int engine) {
      return math == CudnnMath::fp32 || graph.tensor_cores(engine);
    });
    if (good) break;
  }
  return chosen;
}

/// Runs engines of one graph on memory of its own, full of noise.
class Trial {
 public:
  Trial(const CudnnGraph& graph, const CudnnConvolution& problem, std::size_t workspace,
        cudaStream_t stream)
      : graph_(graph), stream_(stream) {
    std::vector<std::size_t> starts{0};
    for (const std::size_t bytes : problem.operand_bytes()) {
      starts.push_back(starts.back() + library_padded(bytes));
    }
    const std::size_t end = starts.back();
    memory_ = try_allocate(end + workspace);
    if (!memory_) return;
    auto* base = static_cast<std::byte*>(memory_.get());
    const DType type = operand_type(problem.math);
    for (std::size_t i = 0; i + 1 < starts.size(); ++i) {
      operands_.push_back(base + starts[i]);
      fill(operands_[i], starts[i + 1] - starts[i], {.type = type, .seed = i}, stream);
    }
    if (workspace > 0) workspace_ = base + end;
  }

  /// Returns whether there was memory for it.
  explicit operator bool() const { return static_cast<bool>(memory_); }

  void execute(int engine) const { graph_.execute(engine, stream_, operands_, workspace_); }

 private:
  const CudnnGraph& graph_;
  cudaStream_t stream_;
  ScratchMemory memory_;
  std::vector<void*> operands_;
  void* workspace_ = nullptr;
};

}  // namespace

std::optional<int> fastest_engine(CudnnGraph& graph, const CudnnConvolution& problem,
                                  cudaStream_t stream) {
  const std::vector<int> engines = candidates(graph, problem.math);
  if (engines.empty()) return std::nullopt;
  std::size_t workspace = 0;
  for (const int engine : engines) workspace = std::max(workspace, graph.workspace_bytes(engine));
  const Trial trial(graph, problem, workspace, stream);
  if (!trial) return std::nullopt;
  const std::optional<std::size_t> best =
      fastest_of(stream, "timing an engine", engines.size(),
                 [&](std::size_t i) { trial.execute(engines[i]); });
  return best ? std::optional(engines[*best]) : std::nullopt;
}

bool runs(const CudnnGraph& graph, int engine, const CudnnConvolution& problem,
          cudaStream_t stream) {
  const Trial trial(graph, problem, graph.workspace_bytes(engine), stream);
  if (!trial) return true;
  try {
    trial.execute(engine);
    check(cudaStreamSynchronize(stream), "trying an engine");
    static_cast<void>(CapturedGraph::capture(stream, [&] { trial.execute(engine); }));
    return true;
  } catch (const Error&) {
    static_cast<void>(cudaGetLastError());
    return false;
  }
}

}  // namespace linnet::cuda
