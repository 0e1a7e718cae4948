// SPDX-License-Identifier: Apache-2.0
#include "backend/cuda/cudnn_plans.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "backend/cuda/kernel_trial.h"
#include "base/check.h"

namespace linnet::cuda {
namespace {

constexpr std::size_t kOperandAlignment = 16;  ///< as the tensors of the graph are declared
/// Answers to which kernels are taken.
constexpr const char* kOwn = "own";
constexpr const char* kCudnn = "cudnn";
constexpr const char* kRival = "rival";

/// Returns by how much two libraries' results may differ: TF32 keeps 10 bits, and one rounds both
/// operands to it where another cuts them off; bf16 keeps 7 of a result.
double tolerance(CudnnMath math) {
  switch (math) {
    case CudnnMath::fp32: break;
    case CudnnMath::tf32:
    case CudnnMath::fp16: return 0x1p-8;
    case CudnnMath::bf16: return 0x1p-6;
  }
  return 1e-3;
}

std::optional<int> find_engine(CudnnGraph& graph, const std::string& name) {
  for (int i = 0; i < graph.engines(); ++i) {
    if (graph.name(i) == name && graph.prepare(i)) return i;
  }
  return std::nullopt;
}

std::optional<int> first_engine(CudnnGraph& graph, const CudnnConvolution& problem,
                                cudaStream_t stream) {
  for (const bool compiled : {false, true}) {
    for (int i = 0; i < graph.engines(); ++i) {
      if (graph.is_compiled(i) == compiled && graph.prepare(i) && runs(graph, i, problem, stream)) {
        return i;
      }
    }
  }
  return std::nullopt;
}

}  // namespace

CudnnEngine::CudnnEngine(const CudnnConvolution& problem, std::unique_ptr<CudnnGraph> graph,
                         int engine)
    : listed_(listed(problem)),
      graph_(std::move(graph)),
      engine_(engine),
      workspace_bytes_(library_workspace(graph_->workspace_bytes(engine))),
      engine_name_(fmt::format("cudnn {}{}, {:.1f} MiB", graph_->name(engine),
                               graph_->tensor_cores(engine) ? ", tensor cores" : "",
                               static_cast<double>(graph_->workspace_bytes(engine)) / (1 << 20))) {}

void CudnnEngine::execute(const Queue& queue, std::span<void* const> operands,
                          std::byte* workspace) const {
  if (queue.lists(listed_)) return;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    require<DeviceError>(reinterpret_cast<std::uintptr_t>(operands[i]) % kOperandAlignment == 0,
                         "{}: operand {} stands at {}, which is not a multiple of {} bytes",
                         engine_name_, i, operands[i], kOperandAlignment);
  }
  graph_->execute(engine_, queue.stream(), operands,
                  workspace_bytes_ == 0 ? nullptr : library_aligned(workspace));
}

std::string CudnnLibrary::key(const std::string& description) const {
  return fmt::format("cudnn {}, {}, {}{}", cudnn_version(), device_, description,
                     deterministic_ ? "" : ", sums in any order");
}

std::shared_ptr<const CudnnPlan> CudnnLibrary::plan(const CudnnConvolution& problem,
                                                    TuningCache* cache) const {
  const std::string name = problem.describe();
  const auto known = plans_.find(name);
  if (known != plans_.end()) return known->second;
  return plans_.emplace(name, make(problem, cache)).first->second;
}

std::optional<Kernel> CudnnLibrary::kernel_if_faster(const CudnnConvolution& problem,
                                                     const NodeView& node, const Kernel& own,
                                                     const Wrap& wrap, TuningCache* cache) const {
  if (cache == nullptr) return std::nullopt;
  const Make make = [&] {
    const std::shared_ptr<const CudnnPlan> found = plan(problem, cache);
    return found ? std::optional(wrap(found)) : std::nullopt;
  };
  if (preferred_) return make();
  const Make given = [&] { return std::optional(own); };
  const std::string question = key(problem.describe()) + ", or own kernels";
  return faster({kOwn, given, kCudnn, make, problem.math}, question, node, *cache);
}

std::optional<Kernel> CudnnLibrary::rival_if_faster(const CudnnConvolution& problem,
                                                    std::string_view rival, const NodeView& node,
                                                    const Make& own, const Make& make,
                                                    TuningCache* cache) const {
  if (cache == nullptr || preferred_) return std::nullopt;
  const std::string question = fmt::format("{}, or {}", key(problem.describe()), rival);
  return faster({kCudnn, own, kRival, make, problem.math}, question, node, *cache);
}

/// Returns the rival's kernel where the cache says so or, where it says nothing, a trial.
std::optional<Kernel> CudnnLibrary::faster(const Rivals& rivals, const std::string& question,
                                           const NodeView& node, TuningCache& cache) const {
  const std::optional<std::string> choice = cache.get(question);
  if (choice == rivals.own_name) return std::nullopt;
  std::optional<Kernel> kernel;
  try {
    kernel = rivals.make();
  } catch (const Error&) {
    return std::nullopt;  // there is the other one
  }
  if (!kernel || choice == rivals.name) return kernel;
  const std::optional<Kernel> own = rivals.own();
  if (!own) return std::nullopt;
  start();
  const std::optional<bool> better =
      may_replace(*kernel, *own, node, trials_.get(),
                  {.tolerance = tolerance(rivals.math), .repeats = deterministic_});
  if (better) cache.put(question, std::string(*better ? rivals.name : rivals.own_name));
  return better == true ? kernel : std::nullopt;
}

std::shared_ptr<const CudnnRnn> CudnnLibrary::rnn_if_faster(const CudnnRecurrent& layer,
                                                            bool training, const NodeView& node,
                                                            const Make& own, const WrapRnn& wrap,
                                                            TuningCache* cache) const {
  if (cache == nullptr) return nullptr;
  const std::string question = fmt::format("{}, {}, or own kernels", key(layer.describe()),
                                           training ? "training" : "inference");
  const auto known = rnns_.find(question);
  if (known != rnns_.end()) return known->second;
  std::shared_ptr<const CudnnRnn> found;
  try {
    found = fastest_rnn(layer, training, question, node, own, wrap, *cache);
  } catch (const Error&) {
    // Without cuDNN there are own kernels.
  }
  return rnns_.emplace(question, found).first->second;
}

std::shared_ptr<const CudnnRnn> CudnnLibrary::fastest_rnn(
    const CudnnRecurrent& layer, bool training, const std::string& question, const NodeView& node,
    const Make& own, const WrapRnn& wrap, TuningCache& cache) const {
  const std::optional<std::string> choice = cache.get(question);
  if (choice == kOwn) return nullptr;
  start();
  constexpr auto& kNames = CudnnRnn::kAlgorithms;
  if (choice) {
    const auto name = std::find(kNames.begin(), kNames.end(), *choice);
    if (name == kNames.end()) return nullptr;
    const auto index = static_cast<std::size_t>(name - kNames.begin());
    std::shared_ptr<const CudnnRnn> rnn = CudnnRnn::build(target_, layer, index);
    if (rnn) run_once(wrap(rnn), node, trials_.get());
    return rnn;
  }
  const std::optional<Kernel> made = own();
  if (!made) return nullptr;
  std::shared_ptr<const CudnnRnn> best;
  std::string_view answer = kOwn;
  Kernel fastest = *made;
  // Initial weights as PyTorch's: larger ones make a layer grow what rounding differs by.
  const float bound = 1 / std::sqrt(static_cast<float>(layer.units));
  for (std::size_t i = 0; i < kNames.size(); ++i) {
    const std::shared_ptr<const CudnnRnn> rnn = CudnnRnn::build(target_, layer, i);
    if (!rnn) continue;
    const Kernel candidate = wrap(rnn);
    if (rnn->most_workspace(training) > kCudnnWorkspaceLimit ||
        may_replace(candidate, fastest, node, trials_.get(), {.least = -bound, .most = bound}) !=
            true) {
      continue;
    }
    best = rnn;
    answer = kNames.at(i);
    fastest = candidate;
  }
  cache.put(question, std::string(answer));
  return best;
}

void CudnnLibrary::start() const {
  if (!target_) target_ = CudnnTarget::current_device();
  if (!trials_) trials_ = make_stream();
}

std::shared_ptr<const CudnnPlan> CudnnLibrary::make(const CudnnConvolution& problem,
                                                    TuningCache* cache) const {
  start();
  const std::string question = key(problem.describe());
  const std::optional<std::string> choice = cache != nullptr ? cache->get(question) : std::nullopt;
  // All engines are named where there is a trial to win, or where the first ones are not enough.
  for (const bool all : {false, true}) {
    if (!all && cache != nullptr && !choice) continue;
    std::unique_ptr<CudnnGraph> graph = CudnnGraph::build(target_, problem, deterministic_, all);
    if (!graph) continue;
    std::optional<int> engine;
    if (choice) engine = find_engine(*graph, *choice);
    if (!all && choice && !engine) continue;
    if (cache != nullptr && !engine) {
      engine = fastest_engine(*graph, problem, trials_.get());
      if (engine && choice != graph->name(*engine)) {
        cache->put(question, graph->name(*engine));
        // Anew, so that the slower engines' kernels don't stay on the device.
        graph.reset();
        return make(problem, cache);
      }
    }
    if (engine && !runs(*graph, *engine, problem, trials_.get())) engine.reset();
    if (!engine) engine = first_engine(*graph, problem, trials_.get());
    if (engine) return std::make_shared<const CudnnEngine>(problem, std::move(graph), *engine);
  }
  return nullptr;
}

}  // namespace linnet::cuda
