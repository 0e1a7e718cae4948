// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>

namespace linnet::cuda {

/// Owns one of a vendor library's handles: move-only, released without throwing.
template <class T, auto release>
class UniqueHandle {
 public:
  UniqueHandle() = default;
  explicit UniqueHandle(T handle) : handle_(handle) {}
  UniqueHandle(UniqueHandle&& other) noexcept : handle_(std::exchange(other.handle_, T{})) {}
  UniqueHandle& operator=(UniqueHandle&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~UniqueHandle() {
    if (handle_ != T{}) static_cast<void>(release(handle_));
  }

  T get() const { return handle_; }
  explicit operator bool() const { return handle_ != T{}; }

 private:
  T handle_{};
};

}  // namespace linnet::cuda
