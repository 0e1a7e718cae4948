// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "runtime/node_view.h"

namespace linnet::cpu {

/// Addresses of a node's operands; fixed between two calls of Program::bind.
struct Args {
  std::span<void* const> inputs;
  std::span<void* const> outputs;
  std::byte* workspace =
      nullptr;  ///< Kernel::workspace_bytes, shared by the node's tasks and stages

  template <class T = float>
  const T* in(std::size_t i) const {
    return static_cast<const T*>(inputs[i]);
  }
  /// An operand that the operator mutates.
  template <class T = float>
  T* in_out(std::size_t i) const {
    return static_cast<T*>(inputs[i]);
  }
  template <class T = float>
  T* out(std::size_t i) const {
    return static_cast<T*>(outputs[i]);
  }
  template <class T = float>
  T* work(std::size_t byte_offset = 0) const {
    return reinterpret_cast<T*>(workspace + byte_offset);
  }
};

/// What one task knows of its run. `scratch` is the thread's own and holds nothing between tasks.
struct Task {
  int index = 0;
  std::byte* scratch = nullptr;
  const StepInfo* step = nullptr;
};

/// Tasks that may run at the same time, in any order, on any thread.
struct Stage {
  int tasks = 1;
  std::function<void(const Args&, const Task&)> run;
};

/// A node made ready to run: its stages follow each other. The number of tasks must follow from
/// shapes alone, never from the number of threads: that is what makes runs equal to the bit.
struct Kernel {
  std::vector<Stage> stages;
  std::size_t workspace_bytes = 0;  ///< shared by the node's stages, planned in the arena
  std::size_t scratch_bytes = 0;    ///< per thread
};

/// Null where the operator is not supported with these operands.
using Prepare = std::optional<Kernel> (*)(const NodeView&);

/// The CPU's kernels by operator name; filled by the generated register_cpu_kernels().
class Registry {
 public:
  void add(std::string_view op, Prepare prepare) { kernels_[std::string(op)] = prepare; }
  std::optional<Kernel> prepare(const NodeView& node) const {
    const auto found = kernels_.find(std::string(node.op.name()));
    return found == kernels_.end() ? std::nullopt : found->second(node);
  }

 private:
  std::map<std::string, Prepare> kernels_;
};

/// The part [begin, end) of `total` items that falls to one of several equal tasks.
struct Range {
  std::int64_t begin = 0;
  std::int64_t end = 0;
  std::int64_t size() const { return end - begin; }
};

constexpr Range split(std::int64_t total, int tasks, int index) {
  return {total * index / tasks, total * (index + 1) / tasks};
}

inline constexpr int kMaxTasks = 64;

/// How many tasks `items` of `cost_each` (about one nanosecond of one core a unit) are worth: tasks
/// shorter than some 20 microseconds cost more to hand out than they save.
inline int tasks_for(std::int64_t items, double cost_each) {
  const double tasks = static_cast<double>(items) * cost_each / 20000.0;
  return static_cast<int>(
      std::clamp<std::int64_t>(static_cast<std::int64_t>(tasks), 1,
                               std::min<std::int64_t>(kMaxTasks,
                                                      std::max<std::int64_t>(items, 1))));
}

}  // namespace linnet::cpu
