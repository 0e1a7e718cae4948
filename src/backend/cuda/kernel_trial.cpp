// SPDX-License-Identifier: Apache-2.0
#include "backend/cuda/kernel_trial.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "backend/cuda/device.h"
#include "backend/cuda/noise.h"
#include "backend/cuda/race.h"
#include "backend/cuda/workspace.h"
#include "base/check.h"
#include "core/half.h"

namespace linnet::cuda {
namespace {

/// A candidate must take less than this part of the own kernel's time: noise of timers is some
/// percent. Judged, not measured.
constexpr float kFaster = 0.95F;
constexpr std::size_t kCompared = std::size_t{1} << 18;  ///< numbers at either end of an operand
constexpr const char* kWhat = "trying a kernel";

/// Operands of a node on the device, and what they begin with.
class Operands {
 public:
  Operands(const NodeView& node, std::size_t workspace_bytes, const TrialOptions& options,
           cudaStream_t stream)
      : inputs_(node.inputs.size()), options_(options), stream_(stream) {
    std::size_t end = 0;
    for (const std::span<const ValueType> types : {node.inputs, node.outputs}) {
      for (const ValueType& type : types) {
        starts_.push_back(end);
        const DType stored = is_half(type.dtype) ? type.dtype : DType::f32;
        types_.push_back(stored);
        sizes_.push_back(type.bytes() / size_of(stored));
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

  /// The same numbers at every call.
  void fill() {
    auto* base = static_cast<std::byte*>(memory_.get());
    for (std::size_t i = 0; i < starts_.size(); ++i) {
      cuda::fill(base + starts_[i], sizes_[i] * size_of(types_[i]),
                 {.least = options_.least, .most = options_.most, .type = types_[i], .seed = i},
                 stream_);
    }
  }
  void enqueue(const Kernel& kernel) const {
    const std::span<void* const> all(addresses_);
    kernel.enqueue({.inputs = all.first(inputs_),
                    .outputs = all.subspan(inputs_),
                    .workspace = workspace_,
                    .stream = stream_,
                    .tickets = static_cast<unsigned*>(tickets_.get())});
  }
  /// Returns what is compared of an operand.
  std::vector<float> read(std::size_t i) const {
    const std::size_t size = size_of(types_[i]);
    const std::size_t first = std::min(sizes_[i], kCompared);
    const std::size_t last = std::min(sizes_[i] - first, kCompared);
    std::vector<std::byte> bytes((first + last) * size);
    const auto* from = static_cast<const std::byte*>(addresses_[i]);
    const auto copy = [&](std::size_t to, std::size_t at, std::size_t count) {
      check(cudaMemcpyAsync(bytes.data() + to * size, from + at * size, count * size,
                            cudaMemcpyDeviceToHost, stream_),
            kWhat);
    };
    copy(0, 0, first);
    if (last > 0) copy(first, sizes_[i] - last, last);
    check(cudaStreamSynchronize(stream_), kWhat);
    std::vector<float> numbers(first + last);
    for (std::size_t k = 0; k < numbers.size(); ++k) {
      numbers[k] = number(types_[i], bytes.data() + k * size);
    }
    return numbers;
  }

 private:
  static float number(DType type, const std::byte* from) {
    if (type == DType::f32) return load<float>(from);
    const auto bits = load<std::uint16_t>(from);
    return type == DType::bf16 ? float_of_bf16(bits) : float_of_f16(bits);
  }
  template <class T>
  static T load(const std::byte* from) {
    T value;
    std::memcpy(&value, from, sizeof value);
    return value;
  }

  std::size_t inputs_;
  TrialOptions options_;
  cudaStream_t stream_;  ///< everything goes there: nothing else is ordered with it
  std::vector<std::size_t> starts_;
  std::vector<DType> types_;        ///< as they are stored
  std::vector<std::size_t> sizes_;  ///< in numbers
  ScratchMemory memory_;
  ScratchMemory tickets_;
  std::vector<void*> addresses_;
  std::byte* workspace_ = nullptr;
};

using Numbers = std::vector<float>;

bool close(const Numbers& expected, const Numbers& found, double tolerance) {
  double largest = 0;
  for (const float value : expected) largest = std::max(largest, std::abs(double{value}));
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const double difference = std::abs(double{expected[i]} - double{found[i]});
    if (!(difference <= tolerance * largest)) return false;
  }
  return true;
}

/// Returns all that a kernel wrote.
std::vector<Numbers> results(const Kernel& kernel, const NodeView& node, Operands& operands) {
  operands.fill();
  operands.enqueue(kernel);
  std::vector<Numbers> all;
  for (std::size_t i = 0; i < node.outputs.size(); ++i) {
    all.push_back(operands.read(node.inputs.size() + i));
  }
  return all;
}

}  // namespace

bool same_results(const Kernel& candidate, const Kernel& own, const NodeView& node,
                  cudaStream_t stream, const TrialOptions& options) {
  Operands operands(node, std::max(candidate.workspace_bytes, own.workspace_bytes), options,
                    stream);
  const auto expected = results(own, node, operands);
  const auto found = results(candidate, node, operands);
  const auto alike = [&](const Numbers& one, const Numbers& other) {
    return close(one, other, options.tolerance);
  };
  return std::equal(expected.begin(), expected.end(), found.begin(), alike) &&
         (!options.repeats || results(candidate, node, operands) == found);
}

bool is_faster(const Kernel& candidate, const Kernel& own, const NodeView& node,
               cudaStream_t stream, const TrialOptions& options) {
  Operands operands(node, std::max(candidate.workspace_bytes, own.workspace_bytes), options,
                    stream);
  operands.fill();
  Race race(stream, kWhat);
  for (const Kernel* kernel : {&own, &candidate}) {
    race.enter([&] { operands.enqueue(*kernel); });
  }
  const std::vector<float> ms = race.run();
  return ms[1] < kFaster * ms[0];
}

std::optional<bool> may_replace(const Kernel& candidate, const Kernel& own, const NodeView& node,
                                cudaStream_t stream, const TrialOptions& options) {
  try {
    return is_faster(candidate, own, node, stream, options) &&
           same_results(candidate, own, node, stream, options);
  } catch (const Error&) {
    static_cast<void>(cudaGetLastError());
    return std::nullopt;
  }
}

void run_once(const Kernel& kernel, const NodeView& node, cudaStream_t stream) {
  Operands operands(node, kernel.workspace_bytes, {}, stream);
  operands.fill();
  operands.enqueue(kernel);
  check(cudaStreamSynchronize(stream), kWhat);
}

}  // namespace linnet::cuda
