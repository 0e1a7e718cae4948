// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <mutex>

namespace linnet::command {

/// Lets so many threads at a time do something.
class Turns {
 public:
  explicit Turns(int count) : free_(count) {}

  /// Holds turns while it lives; waits until they are free.
  class Held {
   public:
    Held(Turns& of, int count) : of_(of), count_(count) {
      std::unique_lock lock(of_.mutex_);
      of_.freed_.wait(lock, [this] { return of_.free_ >= count_; });
      of_.free_ -= count_;
    }
    Held(const Held&) = delete;
    Held& operator=(const Held&) = delete;
    ~Held() {
      {
        const std::lock_guard lock(of_.mutex_);
        of_.free_ += count_;
      }
      of_.freed_.notify_all();
    }

   private:
    Turns& of_;
    int count_;
  };

 private:
  std::mutex mutex_;
  std::condition_variable freed_;
  int free_;
};

}  // namespace linnet::command
