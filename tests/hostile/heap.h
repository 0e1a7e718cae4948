// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace linnet::testing {

/// Returns whether this build counts: a sanitizer has operators `new` of its own.
bool heap_is_counted();

/// While it lives, operator new throws std::bad_alloc rather than let the heap grow by more than
/// `bytes` over what it was; tells how much it grew at most. One at a time.
class HeapLimit {
 public:
  explicit HeapLimit(std::size_t bytes);
  HeapLimit(const HeapLimit&) = delete;
  HeapLimit& operator=(const HeapLimit&) = delete;
  ~HeapLimit();
  std::size_t peak() const;
};

}  // namespace linnet::testing
