// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <span>
#include <string_view>

#include "plan/plan.h"

namespace linnet {

/// Memory of a backend's device, freed with the handle.
class Buffer {
 public:
  virtual ~Buffer() = default;
  virtual std::byte* data() = 0;
  virtual std::size_t bytes() const = 0;
};

/// The memory that programs of one model share: one buffer a storage. Must outlive them.
struct Memory {
  std::array<std::shared_ptr<Buffer>, kStorages> buffers;
  Buffer* operator[](Storage storage) const {
    return buffers[static_cast<std::size_t>(storage)].get();
  }
};

/// A plan prepared on a backend: nothing left to decide. Not thread-safe: one run at a time.
class Program {
 public:
  virtual ~Program() = default;
  virtual const Plan& plan() const = 0;
  /// Memory besides the storages that it shares: constants, and scratch by thread.
  virtual std::size_t private_bytes() const = 0;
  /// Gives the program its memory; every buffer must hold at least plan().bytes of its storage.
  /// Fills the constants, which are the program's own.
  virtual void attach(const Memory& memory) = 0;
  /// Gives external slot `slot` an address, until bound again. Read and written during run().
  virtual void bind(std::size_t slot, const void* address) = 0;
  /// Runs `steps` steps; the i-th with first.step + i and first.position + i * stride. Allocates
  /// nothing. Returns when done. Throws Error for unbound slots.
  virtual void run(const StepInfo& first, std::uint64_t steps = 1, std::uint64_t stride = 0) = 0;
  /// Runs one step operator by operator and throws InternalError if one leaves a part of its
  /// outputs unwritten (they are poisoned with NaN first). For tests; slow.
  virtual void run_checked(const StepInfo& step) = 0;
};

/// A kind of device. Kernels are chosen when a plan is prepared; none is chosen later.
class Backend {
 public:
  virtual ~Backend() = default;
  virtual std::string_view name() const = 0;
  /// Host threads that compute; 0 where the device does.
  virtual int threads() const = 0;
  /// Whether a kernel takes this operator with these operands. Asked by passes before they fuse.
  virtual bool supports(const Op& op, std::span<const ValueType> inputs,
                        std::span<const ValueType> outputs) const = 0;
  /// Zero-filled memory of the device.
  virtual std::unique_ptr<Buffer> allocate(std::size_t bytes) const = 0;
  virtual void upload(Buffer& to, std::size_t offset, std::span<const std::byte> from) const = 0;
  virtual void download(const Buffer& from, std::size_t offset, std::span<std::byte> to) const = 0;
  /// Throws Error naming the operator and layer that has no kernel here.
  virtual std::unique_ptr<Program> prepare(Graph graph, const PlanOptions& options) = 0;
};

}  // namespace linnet
