// SPDX-License-Identifier: Apache-2.0
#include "serve/memory_budget.h"

#include <algorithm>

#include "base/check.h"
#include "serve/batcher.h"

namespace linnet::command {

MemoryBudget::MemoryBudget(std::size_t bytes, std::size_t waiting)
    : bytes_(bytes), most_waiting_(waiting), free_(bytes) {}

void MemoryBudget::end() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  freed_.notify_all();
}

MemoryBudget::Held::Held(MemoryBudget& of, std::size_t bytes, Clock::time_point latest)
    : of_(of), bytes_(bytes) {
  LINNET_ASSERT(bytes <= of_.bytes_);
  if (bytes == 0) return;
  std::unique_lock lock(of_.mutex_);
  if (of_.waiting_.empty() && bytes_ <= of_.free_) {
    of_.free_ -= bytes_;
    return;
  }
  require<Overloaded>(of_.waiting_.size() < of_.most_waiting_,
                      "{} requests wait for memory already", of_.most_waiting_);
  of_.waiting_.push_back(this);
  const bool free = of_.freed_.wait_until(lock, latest, [this] {
    return of_.ending_ || (of_.waiting_.front() == this && bytes_ <= of_.free_);
  });
  std::erase(of_.waiting_, this);
  of_.freed_.notify_all();  // another one is the first now
  require<Overloaded>(!of_.ending_, "the server is shutting down");
  require<Overloaded>(free,
                      "the request needs up to {} bytes, which other requests did not free in time",
                      bytes_);
  of_.free_ -= bytes_;
}

void MemoryBudget::Held::keep(std::size_t bytes) {
  if (bytes >= bytes_) return;
  {
    const std::lock_guard lock(of_.mutex_);
    of_.free_ += bytes_ - bytes;
  }
  bytes_ = bytes;
  of_.freed_.notify_all();
}

}  // namespace linnet::command
