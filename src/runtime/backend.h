// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <linnet/error.h>

#include "plan/plan.h"
#include "runtime/batch_stream.h"

namespace linnet {

class LinkedDevice;
class RunsBlocks;
class RunsSideBySide;
struct StepLaunches;
struct StepExchange;
class ThreadTeam;
class TimesTasks;

/// Memory of a backend's device, freed with the handle.
class Buffer {
 public:
  virtual ~Buffer() = default;
  virtual std::byte* data() = 0;
  virtual std::size_t bytes() const = 0;
  /// Copies memory from `offset` on to the host, after all that was enqueued on the device.
  virtual void read(std::size_t offset, std::span<std::byte> to) const = 0;
};

/// The memory that programs of one model share: one buffer a storage. Must outlive them.
struct Memory {
  std::array<std::shared_ptr<Buffer>, kStorages> buffers;
  /// Of programs in host memory whose steps are summed while they run; null: of no others.
  std::shared_ptr<const StepExchange> exchange = nullptr;
  Buffer* operator[](Storage storage) const {
    return buffers[static_cast<std::size_t>(storage)].get();
  }
};

/// When a node runs, in seconds from its step's start; medians over the steps that were watched.
struct NodeTime {
  std::size_t node = 0;  ///< its index in the graph
  double start = 0;
  double seconds = 0;
};

/// The most that a device reaches, measured; 0: not known.
struct Ceilings {
  double flops_per_second = 0;
  double bytes_per_second = 0;
};

/// A plan prepared on a backend: nothing left to decide. Not thread-safe: one run at a time.
class Program {
 public:
  virtual ~Program() = default;
  virtual const Plan& plan() const = 0;
  /// Returns memory besides the storages that it shares: constants, and scratch by thread.
  virtual std::size_t private_bytes() const = 0;
  /// Gives the program its memory, perhaps other than before; every buffer must hold at least
  /// plan().bytes of its storage. What is bound stays bound.
  virtual void attach(const Memory& memory) = 0;
  /// Gives external slot `slot` an address, until bound again. Read and written during run(). The
  /// address that it has already costs nothing.
  virtual void bind(std::size_t slot, const void* address) = 0;
  /// Weights of PlanOptions::fixed_weights are others than at the last run: what was derived from
  /// them is derived again.
  virtual void weights_changed() {}
  /// Runs `steps` steps; the i-th with first.step + i and first.position + i * stride. Allocates
  /// nothing. Returns when done, or on a device when enqueued: Backend::download waits for what was
  /// enqueued before it. Throws Error for unbound slots.
  virtual void run(const StepInfo& first, std::uint64_t steps = 1, std::uint64_t stride = 0) = 0;
  /// Runs one step operator by operator and throws InternalError if one leaves a part of its
  /// outputs unwritten (they are poisoned with NaN first). For tests; slow.
  virtual void run_checked(const StepInfo& step) = 0;
  /// Runs one step operator by operator and returns the first node with an f32 output that is not
  /// finite, if there is one. For the message of an error; slow.
  virtual std::optional<std::size_t> first_not_finite(const StepInfo& /*step*/) { return {}; }
  /// Runs `steps` (at least 1) steps on the batch at first.position and times every node that runs,
  /// in order. On a device kernels go one by one or in a graph, as run() would launch them. For
  /// diagnosis: being watched costs time. Throws Error where the device can't tell the time.
  virtual std::vector<NodeTime> profile(const StepInfo& /*first*/, std::uint64_t /*steps*/) {
    throw DeviceError("this device cannot be profiled");
  }
  /// Returns the program as one that runs together with others of its kind; null: it doesn't.
  virtual RunsSideBySide* side_by_side() { return nullptr; }
  /// Returns the program as one that runs for many blocks of samples; null: it doesn't.
  virtual RunsBlocks* blocks() { return nullptr; }
  /// Returns the program as one whose tasks can be timed; null: it has no tasks.
  virtual TimesTasks* task_times() { return nullptr; }
  /// Returns what a step puts on a GPU's stream; null on other devices.
  virtual const StepLaunches* launches() const { return nullptr; }
  /// Sentences about what could not be had, e.g. why steps are not captured in a graph.
  const std::vector<std::string>& notes() const { return notes_; }
  void note(std::string text) { notes_.push_back(std::move(text)); }

 private:
  std::vector<std::string> notes_;
};

/// What a kind of device can do. Who needs to know asks for it, never for the kind.
struct Capabilities {
  /// Computes on host memory: view() is that memory itself, and Buffer::data() an address to read.
  bool host_memory = false;
  /// Several programs run at the same time: Program::side_by_side() is never null.
  bool side_by_side = false;
  /// Predictions gain where a batch is cut into blocks: Program::blocks() is never null.
  bool blocks = false;
  /// The device loops by itself: a pass of many steps should be one run.
  bool whole_epochs = false;
  /// Gradients are stored in f16, whose range is so small that steps multiply their losses by a
  /// scale (LossScaleOp).
  bool scales_loss = false;
  /// Values that graphs have as f32 lie in memory as f64: weights, gradients, moments, operands in
  /// external slots but records of data sets, results.
  bool f64 = false;
};

/// A kind of device. Kernels are chosen when a plan is prepared; none is chosen later.
class Backend {
 public:
  virtual ~Backend() = default;
  virtual std::string_view name() const = 0;
  virtual Capabilities capabilities() const = 0;
  /// Returns the host threads that compute; 0 where the device does.
  virtual int threads() const { return 0; }
  /// Returns these threads, which other backends may share; null where there are none.
  virtual std::shared_ptr<ThreadTeam> team() const { return nullptr; }
  /// Returns whether a kernel takes this operator with these operands.
  virtual bool supports(const Op& op, std::span<const ValueType> inputs,
                        std::span<const ValueType> outputs) const = 0;
  /// Returns whether passes should write this operator: a kernel takes it, and the device gains by
  /// it. Only kernels of fusions say that it may not (Registry::wants_if).
  virtual bool wants(const Op& op, std::span<const ValueType> inputs,
                     std::span<const ValueType> outputs) const {
    return supports(op, inputs, outputs);
  }
  /// Returns the device as one that ranks can link; null: it has no links.
  virtual const LinkedDevice* links() const { return nullptr; }
  /// Returns the device's view of host memory, which must outlive it and not change: that memory
  /// itself where the device reads it, else a copy. Throws OutOfMemory.
  virtual std::shared_ptr<Buffer> view(std::span<const std::byte> host) const = 0;
  /// Returns zero-filled memory of the device. Throws OutOfMemory.
  virtual std::unique_ptr<Buffer> allocate(std::size_t bytes) const = 0;
  virtual void upload(Buffer& to, std::size_t offset, std::span<const std::byte> from) const = 0;
  virtual void download(const Buffer& from, std::size_t offset, std::span<std::byte> to) const = 0;
  /// Returns a way for data that are not on the device: in host memory, or made as they are needed.
  /// Null where there is none. Throws OutOfMemory.
  virtual std::unique_ptr<BatchStream> stream_batches(const BatchLayout& /*layout*/) const {
    return nullptr;
  }
  /// Returns the device's number among those of its kind.
  virtual int index() const { return 0; }
  /// Returns what was chosen by measurement for the programs so far: CpuOptions::choices.
  virtual std::map<std::string, std::string> engine_choices() const { return {}; }
  /// Measures what the device can do at most; takes a moment.
  virtual Ceilings ceilings() { return {}; }
  /// Throws Error naming the operator and layer that has no kernel here.
  virtual std::unique_ptr<Program> prepare(Graph graph, const PlanOptions& options) = 0;
};

}  // namespace linnet
