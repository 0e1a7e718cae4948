// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <thread>

#include "base/thread_team.h"

namespace linnet::cpu {

/// Copies of something that each call changes, so that calls may run at the same time: each borrows
/// one, as a rule the one that its thread had before.
template <class T>
class Copies {
 public:
  /// make(): one copy. As many as this process may use processors; where more threads ask, they
  /// wait.
  template <class Make>
  explicit Copies(const Make& make)
      : count_(static_cast<std::size_t>(available_processors())),
        places_(std::make_unique<Place[]>(count_)) {
    for (std::size_t i = 0; i < count_; ++i) places_[i].copy = std::make_unique<T>(make());
  }

  /// A copy that is this call's alone, until it goes.
  class Borrowed {
   public:
    T* operator->() const { return copy_; }
    T& operator*() const { return *copy_; }
    ~Borrowed() { taken_.store(false, std::memory_order_release); }
    Borrowed(const Borrowed&) = delete;
    Borrowed& operator=(const Borrowed&) = delete;

   private:
    friend class Copies;
    Borrowed(T* copy, std::atomic<bool>& taken) : copy_(copy), taken_(taken) {}
    T* copy_;
    std::atomic<bool>& taken_;
  };

  Borrowed borrow() const {
    static thread_local std::size_t mine = 0;
    for (std::size_t i = mine % count_;; i = (i + 1) % count_) {
      Place& place = places_[i];
      if (!place.taken.load(std::memory_order_relaxed) &&
          !place.taken.exchange(true, std::memory_order_acquire)) {
        mine = i;
        return {place.copy.get(), place.taken};
      }
      if ((i + 1) % count_ == mine % count_) std::this_thread::yield();
    }
  }

  const T& front() const { return *places_[0].copy; }

 private:
  struct alignas(64) Place {
    std::atomic<bool> taken{false};
    std::unique_ptr<T> copy;
  };

  std::size_t count_;
  std::unique_ptr<Place[]> places_;
};

}  // namespace linnet::cpu
