// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <new>
#include <stdexcept>
#include <string_view>

#include "base/check.h"

namespace linnet {

/// Returns 2^bits as a limit of bytes; 2^30 where addresses have 32 bits, so that the sum of two
/// sizes within the limit does not overflow there either.
constexpr std::size_t most_bytes(int bits) {
  return std::size_t{1} << (sizeof(std::size_t) > 4 ? bits : 30);
}

/// Returns what `f` returns. Where memory is short, or a size is more than a container can have,
/// throws OutOfMemory "<what> does not fit into memory" instead of what the standard library
/// throws.
template <class F>
auto in_memory(std::string_view what, const F& f) -> decltype(f()) {
  try {
    return f();
  } catch (const std::bad_alloc&) {
  } catch (const std::length_error&) {
  }
  fail<OutOfMemory>("{} does not fit into memory", what);
}

}  // namespace linnet
