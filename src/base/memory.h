// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <new>
#include <stdexcept>
#include <string_view>

#include "base/check.h"

namespace linnet {

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
