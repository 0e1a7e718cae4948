// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>

namespace linnet {

/// A thread that makes the batches of a pass ahead of a caller who takes them, as far as a ring of
/// slots reaches: the order and the waiting of every BatchStream, whose memory this is not.
class BatchRing {
 public:
  explicit BatchRing(std::uint64_t slots) : slots_(slots) {}
  ~BatchRing() { stop(); }
  BatchRing(const BatchRing&) = delete;
  BatchRing& operator=(const BatchRing&) = delete;

  std::uint64_t slot_of(std::uint64_t batch) const { return batch % slots_; }

  /// Begins a pass at batch 0: `produce` runs on a thread of its own; acquire() throws what it
  /// does.
  void start(std::function<void()> produce);
  /// Gives a pass up that is not finished; returns when its thread has ended.
  void stop();

  // For `produce`.
  /// Until the batch that had this one's slot is released; false where the pass was given up.
  bool wait_until_released(std::uint64_t batch);
  /// The next batch is there.
  void publish() { count(made_); }

  // For the caller.
  /// Waits for the pass's next batch; its slot.
  std::uint64_t acquire();
  /// Returns the slot of the oldest batch that was not released.
  std::uint64_t oldest() const { return slot_of(released_); }
  void release() { count(released_); }

 private:
  void count(std::uint64_t& batches);

  std::uint64_t slots_;
  std::thread thread_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::uint64_t made_ = 0;      ///< batches of this pass
  std::uint64_t acquired_ = 0;  ///< the caller's alone
  std::uint64_t released_ = 0;  ///< written by the caller alone
  bool stopping_ = false;
  std::exception_ptr error_;
};

}  // namespace linnet
