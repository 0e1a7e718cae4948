// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>
#include <linnet/error.h>

#include <utility>

namespace linnet {

/// Throws Error with a formatted sentence: a user's mistake.
template <class... Args>
[[noreturn]] void fail(fmt::format_string<Args...> format, Args&&... args) {
  throw Error(fmt::format(format, std::forward<Args>(args)...));
}

/// Throws Error with a formatted sentence unless `condition` holds.
template <class... Args>
void require(bool condition, fmt::format_string<Args...> format, Args&&... args) {
  if (!condition) fail(format, std::forward<Args>(args)...);
}

[[noreturn]] void internal_failure(const char* condition, const char* file, int line);

}  // namespace linnet

/// A bug in Linnet if it does not hold; never for a user's input.
#define LINNET_ASSERT(condition) \
  ((condition) ? void(0) : ::linnet::internal_failure(#condition, __FILE__, __LINE__))
