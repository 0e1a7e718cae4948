// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/c_api.h>

#include <cstdint>
#include <string_view>

#include "base/check.h"

namespace linnet::c_api {

/// Keeps the sentence on the exception that is being handled for linnet_last_error(), and returns
/// its code.
std::int32_t code_of_exception(const char* function) noexcept;
void forget_error() noexcept;

/// Calls what a function of the interface does. No exception leaves it.
template <class F>
std::int32_t guarded(const char* function, const F& f) noexcept {
  forget_error();
  try {
    f();
    return LINNET_OK;
  } catch (...) {
    return code_of_exception(function);
  }
}

/// Throws Error unless the caller gave the pointer.
inline void need(const void* pointer, std::string_view name, std::string_view expected) {
  require(pointer != nullptr, "'{}' is NULL; expected {}", name, expected);
}

}  // namespace linnet::c_api
