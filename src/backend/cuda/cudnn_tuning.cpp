// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>

#include "backend/cuda/captured_graph.h"
#include "backend/cuda/cudnn_plans.h"
#include "backend/cuda/device.h"
#include "backend/cuda/noise.h"
#include "base/check.h"

namespace linnet::cuda {
namespace {

// Numbers without another source are judged for a start of some seconds: no GPU has measured them.

/// Engines of one graph that are timed.
constexpr int kMostCandidates = 12;
/// Neighbours of the list are mostly one engine with other settings, and the first engine is not
/// always a good one.
constexpr int kMostOfOneKind = 4;
constexpr int kRounds = 3;        ///< of all engines in turns; each keeps its best
constexpr float kRoundMs = 0.5F;  ///< what a round of one engine should take at least
/// A run takes at least twice the resolution of events (NVIDIA's text on cudaEventElapsedTime).
constexpr float kLeastMs = 1e-3F;
constexpr int kMostRuns = 20;  ///< of an engine in a round
/// A later engine must win by it, so that noise does not change the choice from machine to machine.
constexpr float kMargin = 0.97F;
constexpr const char* kTiming = "timing an engine";

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
      : graph_(graph), stream_(stream), watch_(stream) {
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

  /// Milliseconds of one run.
  float time(int engine, int runs) const {
    const auto all = [&] {
      for (int i = 0; i < runs; ++i) execute(engine);
    };
    return watch_.milliseconds(kTiming, all) / static_cast<float>(runs);
  }

  /// Throws Error unless it can be captured as steps are. Runs nothing.
  void capture(int engine) const {
    static_cast<void>(CapturedGraph::capture(stream_, [&] { execute(engine); }));
  }

 private:
  void execute(int engine) const { graph_.execute(engine, stream_, operands_, workspace_); }

  const CudnnGraph& graph_;
  cudaStream_t stream_;
  Stopwatch watch_;
  ScratchMemory memory_;
  std::vector<void*> operands_;
  void* workspace_ = nullptr;
};

struct Timed {
  int engine = 0;
  int runs = 1;
  float best_ms = 0;
};

/// Returns the engines that run and can be captured, warm.
std::vector<Timed> usable(const Trial& trial, const std::vector<int>& engines) {
  std::vector<Timed> timed;
  for (const int engine : engines) {
    try {
      trial.time(engine, 1);
      const float ms = trial.time(engine, 1);
      trial.capture(engine);
      const float runs = kRoundMs / std::max(ms, kLeastMs);
      timed.push_back({engine, std::clamp(static_cast<int>(runs) + 1, 1, kMostRuns), ms});
    } catch (const Error&) {
      static_cast<void>(cudaGetLastError());
    }
  }
  return timed;
}

}  // namespace

std::optional<int> fastest_engine(CudnnGraph& graph, const CudnnConvolution& problem,
                                  cudaStream_t stream) {
  const std::vector<int> engines = candidates(graph, problem.math);
  if (engines.empty()) return std::nullopt;
  std::size_t workspace = 0;
  for (const int engine : engines) workspace = std::max(workspace, graph.workspace_bytes(engine));
  const Trial trial(graph, problem, workspace, stream);
  if (!trial) return std::nullopt;
  std::vector<Timed> timed = usable(trial, engines);
  for (int round = 0; round < kRounds; ++round) {
    for (Timed& t : timed) t.best_ms = std::min(t.best_ms, trial.time(t.engine, t.runs));
  }
  const Timed* best = nullptr;
  for (const Timed& t : timed) {
    if (best == nullptr || t.best_ms < kMargin * best->best_ms) best = &t;
  }
  return best != nullptr ? std::optional(best->engine) : std::nullopt;
}

bool runs(const CudnnGraph& graph, int engine, const CudnnConvolution& problem,
          cudaStream_t stream) {
  const Trial trial(graph, problem, graph.workspace_bytes(engine), stream);
  return !trial || !usable(trial, {engine}).empty();
}

}  // namespace linnet::cuda
