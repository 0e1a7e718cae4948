// SPDX-License-Identifier: Apache-2.0
#include "hostile/heap.h"

#include <malloc.h>

#include <atomic>
#include <cstdlib>
#include <limits>
#include <new>

namespace {

std::atomic<std::size_t> live{0};
std::atomic<std::size_t> most{std::numeric_limits<std::size_t>::max()};
std::atomic<std::size_t> highest{0};
std::size_t before = 0;

[[maybe_unused]] void* counted(std::size_t bytes, std::align_val_t alignment = std::align_val_t{}) {
  if (live + bytes > most) throw std::bad_alloc();
  const auto unit = static_cast<std::size_t>(alignment);
  void* memory =
      unit == 0 ? std::malloc(bytes) : std::aligned_alloc(unit, (bytes + unit - 1) / unit * unit);
  if (memory == nullptr) throw std::bad_alloc();
  const std::size_t now = live += malloc_usable_size(memory);
  std::size_t top = highest;
  while (now > top && !highest.compare_exchange_weak(top, now)) {
  }
  return memory;
}

[[maybe_unused]] void give_back(void* memory) {
  if (memory != nullptr) live -= malloc_usable_size(memory);
  std::free(memory);
}

}  // namespace

#ifndef __SANITIZE_ADDRESS__
void* operator new(std::size_t bytes) { return counted(bytes); }
void* operator new[](std::size_t bytes) { return counted(bytes); }
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return counted(bytes, alignment);
}
void* operator new[](std::size_t bytes, std::align_val_t alignment) {
  return counted(bytes, alignment);
}
void operator delete(void* memory) noexcept { give_back(memory); }
void operator delete[](void* memory) noexcept { give_back(memory); }
void operator delete(void* memory, std::size_t) noexcept { give_back(memory); }
void operator delete[](void* memory, std::size_t) noexcept { give_back(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { give_back(memory); }
void operator delete[](void* memory, std::align_val_t) noexcept { give_back(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { give_back(memory); }
void operator delete[](void* memory, std::size_t, std::align_val_t) noexcept { give_back(memory); }
#endif

namespace linnet::testing {

bool heap_is_counted() {
#ifdef __SANITIZE_ADDRESS__
  return false;
#else
  return true;
#endif
}

HeapLimit::HeapLimit(std::size_t bytes) {
  before = live;
  highest = before;
  most = before + bytes;
}

HeapLimit::~HeapLimit() { most = std::numeric_limits<std::size_t>::max(); }

std::size_t HeapLimit::peak() const { return highest - before; }

}  // namespace linnet::testing
