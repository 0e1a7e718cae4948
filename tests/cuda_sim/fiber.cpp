// SPDX-License-Identifier: Apache-2.0
#include "cuda_sim/fiber.h"

#include <sys/mman.h>

#include <cstdint>
#include <new>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#else
#define ASAN_UNPOISON_MEMORY_REGION(address, size) static_cast<void>(0)
#endif
#if defined(__SANITIZE_THREAD__)
#include <sanitizer/tsan_interface.h>
#endif

#if defined(__x86_64__)
// Saves the registers that a callee must keep, changes stacks, and restores the other side's.
extern "C" void linnet_sim_switch_stack(void** save, void* load);
asm(R"(
.text
.p2align 4
.globl linnet_sim_switch_stack
.hidden linnet_sim_switch_stack
.type linnet_sim_switch_stack, @function
linnet_sim_switch_stack:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
.size linnet_sim_switch_stack, .-linnet_sim_switch_stack
)");
#endif

namespace linnet::cuda::sim {
namespace {

constexpr std::size_t kGuardBytes = 4096;  // an overflow faults instead of damaging a neighbour

// Who was left and who was entered at this OS thread's last switch.
thread_local Fiber* left_fiber = nullptr;
thread_local Fiber* entered_fiber = nullptr;

}  // namespace

Fiber::Fiber(void (*entry)()) : entry_(entry) {
  mapping_ = mmap(nullptr, kStackBytes + kGuardBytes, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
  if (mapping_ == MAP_FAILED) throw std::bad_alloc();
  mprotect(mapping_, kGuardBytes, PROT_NONE);
  auto* bottom = static_cast<std::byte*>(mapping_) + kGuardBytes;
  stack_bottom_ = bottom;
  stack_size_ = kStackBytes;
#if defined(__SANITIZE_THREAD__)
  tsan_fiber_ = __tsan_create_fiber(0);
#endif
#if defined(__x86_64__)
  // Six registers, the address to "return" to, and a null return address that ends backtraces.
  auto* top = reinterpret_cast<std::uintptr_t*>(bottom + kStackBytes) - 8;
  top[6] = reinterpret_cast<std::uintptr_t>(&Fiber::enter);
  stack_pointer_ = top;
#else
  getcontext(&context_);
  context_.uc_stack.ss_sp = bottom;
  context_.uc_stack.ss_size = kStackBytes;
  makecontext(&context_, &Fiber::enter, 0);
#endif
}

Fiber::~Fiber() {
  if (mapping_ == nullptr) return;
  // The entry's frame never returned, and its marks would outlive the mapping.
  ASAN_UNPOISON_MEMORY_REGION(stack_bottom_, stack_size_);
  munmap(mapping_, kStackBytes + kGuardBytes);
#if defined(__SANITIZE_THREAD__)
  __tsan_destroy_fiber(tsan_fiber_);
#endif
}

void Fiber::enter() {
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_finish_switch_fiber(nullptr, &left_fiber->stack_bottom_, &left_fiber->stack_size_);
#endif
  entered_fiber->entry_();
}

void Fiber::switch_to(Fiber& from, Fiber& to) {
  left_fiber = &from;
  entered_fiber = &to;
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_start_switch_fiber(&from.fake_stack_, to.stack_bottom_, to.stack_size_);
#endif
#if defined(__SANITIZE_THREAD__)
  if (from.tsan_fiber_ == nullptr) from.tsan_fiber_ = __tsan_get_current_fiber();
  __tsan_switch_to_fiber(to.tsan_fiber_, 0);
#endif
#if defined(__x86_64__)
  linnet_sim_switch_stack(&from.stack_pointer_, to.stack_pointer_);
#else
  swapcontext(&from.context_, &to.context_);
#endif
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_finish_switch_fiber(from.fake_stack_, &left_fiber->stack_bottom_,
                                  &left_fiber->stack_size_);
#endif
}

}  // namespace linnet::cuda::sim
