// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "backend/cuda/device.h"
#include "runtime/batch_ring.h"
#include "runtime/batch_stream.h"

namespace linnet::cuda {

/// A ring of pinned batches beside one of device batches. The thread fills a pinned slot as soon as
/// its last copy is done; the copy waits, on a stream of its own, for the step that read the device
/// slot, and a step for the copy. Neither waits for anything else.
class CudaBatchStream final : public BatchStream {
 public:
  /// Throws OutOfMemory.
  CudaBatchStream(std::shared_ptr<const Device> device, BatchLayout layout);
  ~CudaBatchStream() override;
  CudaBatchStream(const CudaBatchStream&) = delete;
  CudaBatchStream& operator=(const CudaBatchStream&) = delete;

  const BatchLayout& layout() const override { return layout_; }
  const std::byte* data(std::size_t part) const override { return device_slots_[part]->data(); }
  std::size_t bytes() const override;
  void start(std::uint64_t samples, Fill fill) override;
  std::size_t acquire() override;
  void release() override;

 private:
  using Pinned = UniqueHandle<void*, cudaFreeHost>;
  std::size_t slot_bytes(std::size_t part) const;
  std::byte* pinned(std::size_t part, std::size_t slot) const;
  void produce(std::uint64_t samples, const Fill& fill);
  void copy(std::size_t slot, std::uint64_t count) const;

  std::shared_ptr<const Device> device_;
  BatchLayout layout_;
  Stream copies_;
  std::vector<std::unique_ptr<Buffer>> device_slots_;  ///< by part
  std::vector<Pinned> pinned_slots_;                   ///< by part
  std::vector<Event> copied_;                          ///< by slot: the device has the batch
  std::vector<Event> read_;                            ///< by slot: the step is done with it
  BatchRing ring_;
};

}  // namespace linnet::cuda
