// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/devices.h>

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "backend/cuda/launch.h"
#include "graph/step.h"
#include "runtime/node_view.h"

namespace linnet {
class TuningCache;
}

namespace linnet::cuda {

/// A node's operands on the device, and the stream that its kernels go to.
struct Args {
  std::span<void* const> inputs;
  std::span<void* const> outputs;
  std::byte* workspace = nullptr;  ///< Kernel::workspace_bytes
  /// In device memory: it differs from step to step, also inside one captured graph. Kernels read
  /// it, the host must not.
  const StepInfo* step = nullptr;
  cudaStream_t stream = nullptr;

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

/// A node made ready: `enqueue` launches its kernels, in order, on args.stream. It is called while
/// a graph is captured (or once a step without graphs), so it allocates nothing, waits for nothing
/// and reads no device memory on the host.
struct Kernel {
  std::function<void(const Args&)> enqueue;
  std::size_t workspace_bytes = 0;  ///< planned in the arena
  std::string engine = {};          ///< what was chosen, for dumps: "cudnn engine 12, 4 MiB"
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

/// What kernels are chosen by, beside the node itself.
struct Context {
  int compute_capability = 90;  ///< 75, 80, 86, 89, 90, ...
  int multiprocessors = 132;
  CudaOptions options = {};
  Precision precision = Precision::automatic;
  const CublasLt* cublaslt = nullptr;
  const Cudnn* cudnn = nullptr;
  TuningCache* tuning = nullptr;
};

/// Null where this engine does not take the operator with these operands.
using Prepare = std::optional<Kernel> (*)(const NodeView& node, const Context& context);

/// The kernels by operator name. An operator may have several engines; the one added last is asked
/// first, so what is added first (own kernels, which take everything) is the fallback.
class Registry {
 public:
  void add(std::string_view op, Prepare prepare) { engines_[std::string(op)].push_back(prepare); }
  std::optional<Kernel> prepare(const NodeView& node, const Context& context) const {
    const auto found = engines_.find(std::string(node.op.kernels()));
    if (found == engines_.end()) return std::nullopt;
    for (auto engine = found->second.rbegin(); engine != found->second.rend(); ++engine) {
      if (std::optional<Kernel> kernel = (*engine)(node, context)) return kernel;
    }
    return std::nullopt;
  }

 private:
  std::map<std::string, std::vector<Prepare>> engines_;
};

}  // namespace linnet::cuda
