// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "runtime/backend.h"
#include "runtime/batch_ring.h"

namespace linnet::cpu {

/// A ring of batches in host memory: a thread fills slots ahead of the steps that read them, as far
/// as the ring reaches.
class HostBatchStream final : public BatchStream {
 public:
  /// Throws OutOfMemory.
  explicit HostBatchStream(BatchLayout layout);
  const BatchLayout& layout() const override { return layout_; }
  const std::byte* data(std::size_t part) const override { return slots_[part]->data(); }
  std::size_t bytes() const override;
  void start(std::uint64_t samples, Fill fill) override;
  std::size_t acquire() override { return ring_.acquire(); }
  void release() override { ring_.release(); }

 private:
  void produce(std::uint64_t samples, const Fill& fill);

  BatchLayout layout_;
  std::vector<std::unique_ptr<Buffer>> slots_;  ///< by part
  BatchRing ring_;                              // last: its thread ends before the slots do
};

}  // namespace linnet::cpu
