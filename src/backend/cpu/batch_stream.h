// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include "runtime/backend.h"

namespace linnet::cpu {

/// A ring of batches in host memory: a thread fills slots ahead of the steps that read them, as far
/// as the ring reaches.
class HostBatchStream final : public BatchStream {
 public:
  /// Throws OutOfMemory.
  explicit HostBatchStream(BatchLayout layout);
  ~HostBatchStream() override;
  HostBatchStream(const HostBatchStream&) = delete;
  HostBatchStream& operator=(const HostBatchStream&) = delete;

  const BatchLayout& layout() const override { return layout_; }
  const std::byte* data(std::size_t part) const override { return slots_[part]->data(); }
  std::size_t bytes() const override;
  void start(std::uint64_t samples, Fill fill) override;
  std::size_t acquire() override;
  void release() override;

 private:
  void stop();
  void produce(std::uint64_t samples, const Fill& fill);
  void update(std::uint64_t& count);

  BatchLayout layout_;
  std::vector<std::unique_ptr<Buffer>> slots_;  ///< by part

  std::thread thread_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::uint64_t filled_ = 0;    ///< batches of this pass
  std::uint64_t acquired_ = 0;  ///< the caller's alone
  std::uint64_t released_ = 0;
  bool stopping_ = false;
  std::exception_ptr error_;
};

}  // namespace linnet::cpu
