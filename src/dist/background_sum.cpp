// SPDX-License-Identifier: Apache-2.0
#include "dist/background_sum.h"

#include <utility>

namespace linnet {

BackgroundSum::BackgroundSum(RankGroup& ranks) : ranks_(ranks), thread_([this] { work(); }) {}

BackgroundSum::~BackgroundSum() {
  {
    const std::scoped_lock lock(mutex_);
    end_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void BackgroundSum::begin(std::span<float> values, const std::string& name) {
  {
    const std::scoped_lock lock(mutex_);
    if (error_ != nullptr) return;
    waiting_.push_back({values, name});
  }
  changed_.notify_all();
}

void BackgroundSum::finish() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return waiting_.empty(); });
  if (error_ != nullptr) std::rethrow_exception(std::exchange(error_, nullptr));
}

void BackgroundSum::work() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [&] { return end_ || !waiting_.empty(); });
    if (waiting_.empty()) return;
    const Array array = waiting_.front();
    lock.unlock();
    std::exception_ptr error;
    try {
      ranks_.sum(array.values, array.name);
    } catch (...) {
      error = std::current_exception();
    }
    lock.lock();
    waiting_.pop_front();
    if (error != nullptr) {
      error_ = error;
      waiting_.clear();
    }
    changed_.notify_all();
  }
}

}  // namespace linnet
