// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/devices.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "backend/cuda/launch.h"
#include "graph/step.h"
#include "runtime/candidates.h"
#include "runtime/stored_types.h"
#include "runtime/worth.h"

namespace linnet {
class TuningCache;
}

namespace linnet::cuda {

/// What blocks of one kernel count by (Args::tickets).
inline constexpr std::size_t kTickets = 1024;

struct LoopState;

/// What ends a step: the loop's state moves on to the next one.
struct StepEnd {
  LoopState* loop = nullptr;  ///< null: the step does not end here
  /// Of a WHILE node, which goes round again while so many steps remain; 0 steps: of none.
  cudaGraphConditionalHandle condition = {};
  std::uint64_t steps = 0;

  /// Says that a launch with this argument may not be left out (launch()).
  bool must_run() const { return loop != nullptr; }
};

/// A node's operands on the device, and where its kernels go.
struct Args {
  std::span<void* const> inputs;
  std::span<void* const> outputs;
  std::byte* workspace = nullptr;  ///< Kernel::workspace_bytes
  std::byte* packed = nullptr;     ///< Kernel::packed_bytes
  /// In device memory: it differs from step to step, also inside one captured graph. Kernels read
  /// it, the host must not.
  const StepInfo* step = nullptr;
  Queue stream = {};
  /// kTickets zeros in device memory, by which blocks of a kernel find out which of them is the
  /// last (last_block.cuh). A kernel leaves zeros; kernels of one stream share them.
  unsigned* tickets = nullptr;
  StepEnd end = {};  ///< for a kernel that ends_steps

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
};

/// A node made ready: `enqueue` launches its kernels, in order, on args.stream. It is called while
/// a graph is captured (or once a step without graphs), so it allocates nothing, waits for nothing
/// and reads no device memory on the host.
struct Kernel {
  std::function<void(const Args&)> enqueue;
  std::size_t workspace_bytes = 0;  ///< planned in the arena
  /// Bytes that each result is given at least (PlanOptions::room); empty: what their types say.
  std::vector<std::size_t> result_bytes = {};
  std::string engine = {};  ///< what was chosen, for dumps: "cudnn engine 12, 4 MiB"
  /// Its last launch ends the step where Args::end says so (loop_state.cuh).
  bool ends_steps = false;
  /// What follows from weights that NodeView::fixed() names: enqueued before the first run and
  /// after Program::weights_changed() alone. It writes Args::packed, which stays.
  std::function<void(const Args&)> pack = {};
  std::size_t packed_bytes = 0;
};

class CublasLt;
class Cudnn;

/// NVIDIA's libraries, opened for one backend; null where there are none or nobody wants them.
struct Libraries {
  std::shared_ptr<const CublasLt> cublaslt = nullptr;
  std::shared_ptr<const Cudnn> cudnn = nullptr;
  /// Null: nothing is measured, the libraries' first proposals are taken.
  std::shared_ptr<TuningCache> tuning = nullptr;
};

/// Decides which kernels are chosen, beside the node itself.
struct Context {
  int compute_capability = 90;  ///< 75, 80, 86, 89, 90, ...
  /// Of the device; 1 where nobody says. What follows from it changes the order of no sum: bits are
  /// the same on every device that has the same engines.
  int multiprocessors = 1;
  CudaOptions options = {};
  Precision precision = Precision::automatic;
  const CublasLt* cublaslt = nullptr;
  const Cudnn* cudnn = nullptr;
  TuningCache* tuning = nullptr;

  /// Returns the 16-bit type of products' operands and of activations in memory: the precision's,
  /// on a device that has it. f32: they have 32 bits.
  DType half() const {
    if (precision == Precision::fp16) return DType::f16;
    return precision == Precision::bf16 && compute_capability >= 80 ? DType::bf16 : DType::f32;
  }
};

/// Null where this engine does not take the operator with these operands.
using Prepare = std::optional<Kernel> (*)(const NodeView& node, const Context& context);

using Candidate = linnet::Candidate<Kernel>;

/// Whether an engine of an operator may be asked with operands that are stored in 16 bits.
enum class Stores : std::uint8_t { f32, half };

/// CUDA's kernels by operator name. An operator's candidates are the libraries that were added for
/// it and then Linnet's own kernels, which take whatever is left: first_candidate() asks them in
/// this order, whatever the order in which they were added.
class Registry : public Worth {
 public:
  /// Linnet's own kernels for the operator.
  void add(std::string_view op, Prepare prepare, Stores stores = Stores::f32) {
    entries_[std::string(op)].own = {"own", prepare, stores};
  }
  /// A library's engine for it; one word, as "cudnn". It takes a node where it is no worse than the
  /// own kernels, by its own rules or by a trial (kernel_trial.h).
  void add_library(std::string_view op, std::string_view library, Prepare prepare,
                   Stores stores = Stores::f32) {
    entries_[std::string(op)].libraries.push_back({library, prepare, stores});
  }
  /// They refer to `node` and `context`.
  std::vector<Candidate> candidates(const NodeView& node, const Context& context) const {
    std::vector<Candidate> all;
    const auto found = entries_.find(std::string(node.op.kernels()));
    if (found == entries_.end()) return all;
    const bool stored = stores_half(node);
    const auto add = [&](const Engine& engine) {
      if (engine.prepare == nullptr || (stored && engine.stores == Stores::f32)) return;
      all.push_back({engine.name, [&node, &context, prepare = engine.prepare] {
                       return prepare(node, context);
                     }});
    };
    for (const Engine& library : found->second.libraries) add(library);
    add(found->second.own);
    return all;
  }
  std::optional<Kernel> prepare(const NodeView& node, const Context& context) const {
    return first_candidate(node, candidates(node, context));
  }

 private:
  struct Engine {
    std::string_view name;
    Prepare prepare = nullptr;
    Stores stores = Stores::f32;
  };
  struct Entry {
    std::vector<Engine> libraries = {};
    Engine own = {};
  };
  std::map<std::string, Entry> entries_;
};

}  // namespace linnet::cuda
