// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#if !defined(__x86_64__)
#include <ucontext.h>
#endif

namespace linnet::cuda::sim {

/// A stack of its own that runs when switched to. Fibers belong to the OS thread that made them.
class Fiber {
 public:
  static constexpr std::size_t kStackBytes = 256 * 1024;  ///< committed as it is touched

  /// The OS thread's own stack.
  Fiber() = default;
  /// `entry` must never return.
  explicit Fiber(void (*entry)());
  ~Fiber();
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  /// Leaves `from`, which is running, and goes on in `to`; returns when someone switches back.
  static void switch_to(Fiber& from, Fiber& to);

 private:
  static void enter();

#if defined(__x86_64__)
  void* stack_pointer_ = nullptr;
#else
  ucontext_t context_{};
#endif
  void (*entry_)() = nullptr;
  void* mapping_ = nullptr;
  // For AddressSanitizer:
  const void* stack_bottom_ = nullptr;
  std::size_t stack_size_ = 0;
  [[maybe_unused]] void* fake_stack_ = nullptr;
  // For ThreadSanitizer; of an OS thread's own stack, its thread:
  [[maybe_unused]] void* tsan_fiber_ = nullptr;
};

}  // namespace linnet::cuda::sim
