// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "backend/cpu/bf16.h"
#include "runtime/candidates.h"
#include "runtime/node_view.h"
#include "runtime/step_exchange.h"
#include "runtime/worth.h"

namespace linnet::cpu {

/// Addresses of a node's operands; fixed between two calls of Program::bind.
struct Args {
  std::span<void* const> inputs;
  std::span<void* const> outputs;
  std::byte* workspace =
      nullptr;                  ///< Kernel::workspace_bytes, shared by the node's tasks and stages
  std::byte* packed = nullptr;  ///< Kernel::packed_bytes, written by its packing alone
  const StepExchange* exchange = nullptr;  ///< null: no other program takes part

  template <class T = float>
  const T* in(std::size_t i) const {
    return static_cast<const T*>(inputs[i]);
  }
  /// Returns an operand that the operator mutates.
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
  template <class T = float>
  T* pack(std::size_t byte_offset = 0) const {
    return reinterpret_cast<T*>(packed + byte_offset);
  }
};

/// Describes one task of a run. `scratch` is the thread's own and holds nothing between
/// tasks.
struct Task {
  int index = 0;
  std::byte* scratch = nullptr;
  const StepInfo* step = nullptr;
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

/// Returns how many tasks `items` of `cost_each` (about one nanosecond of one core a unit) are
/// worth, at most one an item. Tasks shorter than some 20 microseconds cost more to hand out than
/// they save. Beyond 64 the number grows with the root of the work, by powers of two, which every
/// usual number of threads divides: 64 tasks for 1.3 ms, 128 for 5 ms, 512 for 80 ms.
inline int tasks_for(std::int64_t items, double cost_each) {
  constexpr double kShortest = 20000;
  constexpr double kEnough = 64;
  const double worth = static_cast<double>(items) * cost_each / kShortest;
  double tasks = std::min(worth, kEnough);
  for (double more = worth; more >= 4 * kEnough; more /= 4) tasks *= 2;
  return static_cast<int>(std::clamp<std::int64_t>(static_cast<std::int64_t>(tasks), 1,
                                                   std::max<std::int64_t>(items, 1)));
}

/// What the partial sums of a node's tasks may take together, unless it says less: 64 MiB.
inline constexpr std::int64_t kPartialFloats = std::int64_t{16} << 20;

/// Returns how many tasks may have sums of their own, `floats` each, that are added up afterwards:
/// as many as tasks_for() says and `most_floats` holds, but more than 16 only where adding costs
/// less than a sixteenth of the work, by powers of two. At least 2, if there is work for them.
inline int partial_tasks(std::int64_t items, double cost_each, std::int64_t floats,
                         std::int64_t most_floats = kPartialFloats) {
  constexpr double kCostOfFloat = 0.25;
  const std::int64_t each = std::max<std::int64_t>(floats, 1);
  const double cost = static_cast<double>(items) * cost_each;
  const int worth = tasks_for(items, cost_each);
  int most = 16;
  while (2 * most <= worth && 2 * most * 16 * kCostOfFloat * static_cast<double>(each) <= cost) {
    most *= 2;
  }
  return std::min(worth, static_cast<int>(std::clamp<std::int64_t>(most_floats / each, 2, most)));
}

/// Parts of a batch whose sums are kept apart: a function of the batch alone, so that sums are the
/// same bits whoever computes a part.
constexpr int sample_parts(std::int64_t samples) {
  return static_cast<int>(std::clamp<std::int64_t>(samples / 8, 1, 128));
}

/// Samples of one part of a batch; `begins`: they are its first ones.
struct SampleBlock {
  Range samples;
  int part = 0;
  bool begins = true;
};

/// What a stage does sample by sample, so that it may run in a chain (sample_chains.h): of the
/// operands listed here it reads and writes the samples of its block alone, which are their first
/// dimension; of others it reads what stands before the chain. Later stages of its kernel read and
/// write none of the listed ones.
struct SampleStage {
  std::int64_t samples = 0;
  std::vector<std::size_t> inputs;
  std::vector<std::size_t> outputs;
  std::function<void(const Args&, const Task&, const SampleBlock&)> run;
};

/// Tasks that may run at the same time, in any order, on any thread.
struct Stage {
  int tasks = 1;
  std::function<void(const Args&, const Task&)> run;
  std::shared_ptr<const SampleStage> by_sample = nullptr;
};

/// Returns a stage of `tasks` tasks, each f(args, task), or f(args) where it needs to know no more.
template <class F>
Stage parallel(int tasks, F f) {
  if constexpr (std::is_invocable_v<F, const Args&>) {
    return {tasks, [f = std::move(f)](const Args& args, const Task& /*task*/) { f(args); }};
  } else {
    return {tasks, std::move(f)};
  }
}

/// Returns a stage of `tasks` tasks that share `items` equally: each f(args, range), or
/// f(args, task, range).
template <class F>
Stage parallel(int tasks, std::int64_t items, F f) {
  return {tasks, [=, f = std::move(f)](const Args& args, const Task& task) {
            const Range range = split(items, tasks, task.index);
            if constexpr (std::is_invocable_v<F, const Args&, Range>) {
              f(args, range);
            } else {
              f(args, task, range);
            }
          }};
}

/// Returns a stage over the samples of a batch of `cost_each` (as tasks_for()), whose sums, if any,
/// are kept apart by SampleBlock::part.
inline Stage over_samples(double cost_each, SampleStage stage) {
  auto by_sample = std::make_shared<const SampleStage>(std::move(stage));
  const std::int64_t samples = by_sample->samples;
  const int parts = sample_parts(samples);
  const int tasks = std::min(tasks_for(samples, cost_each), parts);
  return {tasks,
          [=](const Args& args, const Task& task) {
            const Range mine = split(parts, tasks, task.index);
            for (auto part = static_cast<int>(mine.begin); part < mine.end; ++part) {
              by_sample->run(args, task, {split(samples, parts, part), part});
            }
          },
          by_sample};
}

/// Returns the same for a stage without sums: each f(args, task, range).
template <class F>
Stage over_samples(std::int64_t samples, double cost_each, std::vector<std::size_t> inputs,
                   std::vector<std::size_t> outputs, F f) {
  Stage stage = parallel(tasks_for(samples, cost_each), samples, f);
  stage.by_sample = std::make_shared<const SampleStage>(
      SampleStage{samples, std::move(inputs), std::move(outputs),
                  [f = std::move(f)](const Args& args, const Task& task, const SampleBlock& block) {
                    if constexpr (std::is_invocable_v<F, const Args&, Range>) {
                      f(args, block.samples);
                    } else {
                      f(args, task, block.samples);
                    }
                  }});
  return stage;
}

/// A node made ready to run: its stages follow each other. The number of tasks must follow from
/// shapes alone, never from the number of threads: that is what makes runs equal to the bit.
struct Kernel {
  std::vector<Stage> stages;
  std::size_t workspace_bytes = 0;  ///< shared by the node's stages, planned in the arena
  std::size_t scratch_bytes = 0;    ///< per thread
  std::string engine = {};          ///< what was chosen, for dumps; empty at fp32

  /// Stages before all others that write weights to Args::packed as the others read them; of the
  /// operands they read `packed_operands` alone. Where NodeView::fixed() holds for all of these,
  /// the program keeps what they wrote until weights change.
  std::vector<Stage> packing = {};
  std::size_t packed_bytes = 0;
  std::vector<std::size_t> packed_operands = {};

  /// How many of the first stages read no more than `early_operands` and write nothing but the
  /// workspace: they may run before other operands stand.
  std::size_t early_stages = 0;
  std::vector<std::size_t> early_operands = {};
  /// It hands something to whoever is outside of the program, or waits for them: no stage of
  /// another node runs at the same time.
  bool alone = false;
};

/// Returns a kernel of one parallel() stage, of as many tasks as `items` of `cost_each` are worth.
template <class F>
Kernel one_stage(std::int64_t items, double cost_each, F f) {
  Kernel kernel;
  kernel.stages.push_back(parallel(tasks_for(items, cost_each), items, std::move(f)));
  return kernel;
}

/// Returns a kernel of one over_samples() stage.
template <class F>
Kernel sample_stage(std::int64_t samples, double cost_each, std::vector<std::size_t> inputs,
                    std::vector<std::size_t> outputs, F f) {
  Kernel kernel;
  kernel.stages.push_back(
      over_samples(samples, cost_each, std::move(inputs), std::move(outputs), std::move(f)));
  return kernel;
}

/// Returns the kernel with its packing among its stages, and what that writes in its workspace: for
/// operands that change from run to run, and where keeping it is not worth the memory.
Kernel packed_in_each_run(Kernel kernel);

/// Null where the operator is not supported with these operands.
using Prepare = std::optional<Kernel> (*)(const NodeView&);

using Candidate = linnet::Candidate<Kernel>;
/// The ways to compute a node, libraries' among them, first the one to take where nothing is
/// measured (first_candidate()).
using Candidates = std::vector<Candidate> (*)(const NodeView&);
/// Takes one of them; null if none takes the node.
using Choose = std::function<std::optional<Kernel>(const NodeView&, const std::vector<Candidate>&)>;

/// What an operator's kernels may find activations stored as. `bf16`: where values were rounded as
/// they were written, too; Prepare then looks at the types and refuses those that it does not take.
enum class Stores : std::uint8_t { f32, bf16 };

/// The CPU's kernels by operator name; filled by the generated register_cpu_kernels().
class Registry : public Worth {
 public:
  /// An operator that multiplies no matrices: it computes the same at every precision.
  void add(std::string_view op, Prepare prepare, Stores stores = Stores::f32);
  /// A product or convolution of operands 0 and 1. At bf16 they are rounded before the kernel that
  /// `prepare` gives. On a processor with bfloat16 arithmetic `native` is asked first, if there is
  /// one: its kernel rounds the operands itself, and it alone is asked for stored bfloat16s.
  void add_product(std::string_view op, Prepare prepare, Prepare native = nullptr,
                   Stores stores = Stores::f32);
  void add_product(std::string_view op, Candidates candidates, Prepare native = nullptr,
                   Stores stores = Stores::f32);
  std::optional<Kernel> prepare(const NodeView& node, Products products = Products::fp32,
                                const Choose& choose = first_candidate<Kernel>) const;

 private:
  struct Entry {
    std::variant<Prepare, Candidates> kernels;
    bool product = false;
    Prepare native = nullptr;
    Stores stores = Stores::f32;

    std::optional<Kernel> prepare(const NodeView& node, const Choose& choose) const;
  };
  std::map<std::string, Entry> kernels_;
};

}  // namespace linnet::cpu
