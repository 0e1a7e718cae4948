// SPDX-License-Identifier: Apache-2.0
#include "backend/cuda/kernel_trial.h"

#include <algorithm>
#include <cmath>

#include "backend/cuda/captured_graph.h"
#include "backend/cuda/device.h"
#include "backend/cuda/noise.h"
#include "backend/cuda/workspace.h"
#include "base/check.h"

namespace linnet::cuda {
namespace {

// Judged for a start of milliseconds, as in cudnn_tuning.cpp: no GPU has measured them.
constexpr int kRuns = 10;        ///< of a kernel in one captured graph
constexpr int kRounds = 3;       ///< of both in turns; each keeps its best
constexpr float kFaster = 0.9F;  ///< of the own kernel's time: noise of timers is some percent
/// Of the largest magnitude: TF32 keeps 10 bits, 2^-10.
constexpr double kTolerance = 1e-3;
constexpr const char* kWhat = "trying a kernel";

/// Operands of a node on the device, and what they begin with.
class Operands {
 public:
  Operands(const NodeView& node, std::size_t workspace_bytes, TrialRange range, cudaStream_t stream)
      : inputs_(node.inputs.size()), range_(range), stream_(stream) {
    std::size_t end = 0;
    for (const std::span<const ValueType> types : {node.inputs, node.outputs}) {
      for (const ValueType& type : types) {
        starts_.push_back(end);
        sizes_.push_back(type.bytes() / sizeof(float));
        end += library_padded(type.bytes());
      }
    }
    memory_ = try_allocate(end + workspace_bytes);
    tickets_ = try_allocate(kTickets * sizeof(unsigned));
    require<OutOfMemory>(memory_ && tickets_, "out of memory for a trial of {}", node.op.name());
    check(cudaMemsetAsync(tickets_.get(), 0, kTickets * sizeof(unsigned), stream), kWhat);
    auto* base = static_cast<std::byte*>(memory_.get());
    for (const std::size_t start : starts_) addresses_.push_back(base + start);
    workspace_ = base + end;
  }

  /// The same numbers at every call; the first output lies upon input `upon`, or on its own (-1).
  void fill(int upon) {
    auto* base = static_cast<std::byte*>(memory_.get());
    for (std::size_t i = 0; i < starts_.size(); ++i) {
      cuda::fill(base + starts_[i], sizes_[i] * sizeof(float),
                 {.least = range_.least, .most = range_.most, .seed = i}, stream_);
    }
    addresses_[inputs_] =
        upon < 0 ? base + starts_[inputs_] : addresses_[static_cast<std::size_t>(upon)];
  }
  void enqueue(const Kernel& kernel) const {
    const std::span<void* const> all(addresses_);
    kernel.enqueue({.inputs = all.first(inputs_),
                    .outputs = all.subspan(inputs_),
                    .workspace = workspace_,
                    .stream = stream_,
                    .tickets = static_cast<unsigned*>(tickets_.get())});
  }
  std::vector<float> read(std::size_t i) const {
    std::vector<float> numbers(sizes_[i]);
    check(cudaMemcpyAsync(numbers.data(), addresses_[i], numbers.size() * sizeof(float),
                          cudaMemcpyDeviceToHost, stream_),
          kWhat);
    check(cudaStreamSynchronize(stream_), kWhat);
    return numbers;
  }

 private:
  std::size_t inputs_;
  TrialRange range_;
  cudaStream_t stream_;  ///< everything goes there: nothing else is ordered with it
  std::vector<std::size_t> starts_;
  std::vector<std::size_t> sizes_;  ///< in floats
  ScratchMemory memory_;
  ScratchMemory tickets_;
  std::vector<void*> addresses_;
  std::byte* workspace_ = nullptr;
};

bool close(const std::vector<float>& expected, const std::vector<float>& found) {
  double largest = 0;
  for (const float value : expected) largest = std::max(largest, std::abs(double{value}));
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const double difference = std::abs(double{expected[i]} - double{found[i]});
    if (!(difference <= kTolerance * largest)) return false;
  }
  return true;
}

/// Returns all that a kernel wrote: outputs, and inputs that the operator mutates.
std::vector<std::vector<float>> results(const Kernel& kernel, const NodeView& node,
                                        Operands& operands, int upon) {
  operands.fill(upon);
  operands.enqueue(kernel);
  std::vector<std::vector<float>> all;
  for (std::size_t i = 0; i < node.inputs.size() + node.outputs.size(); ++i) {
    if (i >= node.inputs.size() || node.op.mutates(i)) all.push_back(operands.read(i));
  }
  return all;
}

/// kRuns of a kernel, captured: as a step has it, without the host's part.
class Race {
 public:
  Race(const Kernel& kernel, const Operands& operands, cudaStream_t stream)
      : stream_(stream), watch_(stream), graph_(CapturedGraph::capture(stream, [&] {
          for (int i = 0; i < kRuns; ++i) operands.enqueue(kernel);
        })) {
    graph_.launch(stream);
  }
  float milliseconds() const {
    return watch_.milliseconds(kWhat, [&] { graph_.launch(stream_); });
  }

 private:
  cudaStream_t stream_;
  Stopwatch watch_;
  CapturedGraph graph_;
};

}  // namespace

bool same_results(const Kernel& candidate, const Kernel& own, const NodeView& node,
                  cudaStream_t stream, TrialRange range) {
  Operands operands(node, std::max(candidate.workspace_bytes, own.workspace_bytes), range, stream);
  const auto expected = results(own, node, operands, -1);
  const auto first = results(candidate, node, operands, -1);
  std::vector<int> places = node.op.in_place();
  places.push_back(-1);
  return std::all_of(places.begin(), places.end(), [&](int upon) {
    const auto found = results(candidate, node, operands, upon);
    return std::equal(expected.begin(), expected.end(), found.begin(), close) &&
           (upon >= 0 || found == first);
  });
}

bool is_faster(const Kernel& candidate, const Kernel& own, const NodeView& node,
               cudaStream_t stream, TrialRange range) {
  Operands operands(node, std::max(candidate.workspace_bytes, own.workspace_bytes), range, stream);
  operands.fill(-1);
  const Race of_own(own, operands, stream);
  const Race of_candidate(candidate, operands, stream);
  float own_ms = of_own.milliseconds();
  float candidate_ms = of_candidate.milliseconds();
  for (int round = 1; round < kRounds; ++round) {
    own_ms = std::min(own_ms, of_own.milliseconds());
    candidate_ms = std::min(candidate_ms, of_candidate.milliseconds());
  }
  return candidate_ms < kFaster * own_ms;
}

bool may_replace(const Kernel& candidate, const Kernel& own, const NodeView& node,
                 cudaStream_t stream, TrialRange range) {
  try {
    return same_results(candidate, own, node, stream, range) &&
           is_faster(candidate, own, node, stream, range);
  } catch (const Error&) {
    static_cast<void>(cudaGetLastError());
    return false;
  }
}

void run_once(const Kernel& kernel, const NodeView& node, cudaStream_t stream) {
  Operands operands(node, kernel.workspace_bytes, {}, stream);
  operands.fill(-1);
  operands.enqueue(kernel);
  check(cudaStreamSynchronize(stream), kWhat);
}

}  // namespace linnet::cuda
