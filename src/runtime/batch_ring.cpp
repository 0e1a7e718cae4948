// SPDX-License-Identifier: Apache-2.0
#include "runtime/batch_ring.h"

#include <utility>

namespace linnet {

void BatchRing::start(std::function<void()> produce) {
  stop();
  made_ = 0;
  acquired_ = 0;
  released_ = 0;
  stopping_ = false;
  error_ = nullptr;
  thread_ = std::thread([this, produce = std::move(produce)] {
    try {
      produce();
    } catch (...) {
      {
        const std::lock_guard lock(mutex_);
        error_ = std::current_exception();
      }
      changed_.notify_all();
    }
  });
}

void BatchRing::stop() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

bool BatchRing::wait_until_released(std::uint64_t batch) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return stopping_ || batch < released_ + slots_; });
  return !stopping_;
}

std::uint64_t BatchRing::acquire() {
  const std::uint64_t batch = acquired_++;
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return error_ != nullptr || batch < made_; });
  if (batch >= made_) std::rethrow_exception(error_);
  return slot_of(batch);
}

void BatchRing::count(std::uint64_t& batches) {
  {
    const std::lock_guard lock(mutex_);
    ++batches;
  }
  changed_.notify_all();
}

}  // namespace linnet
