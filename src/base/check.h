// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>
#include <linnet/error.h>

#include <string>
#include <utility>

namespace linnet {

/// Throws E, an Error or one of its kinds, with a formatted sentence: a user's mistake.
template <class E = Error, class... Args>
[[noreturn]] void fail(fmt::format_string<Args...> format, Args&&... args) {
  throw E(fmt::format(format, std::forward<Args>(args)...));
}

/// Throws E with a formatted sentence unless `condition` holds.
template <class E = Error, class... Args>
void require(bool condition, fmt::format_string<Args...> format, Args&&... args) {
  if (!condition) fail<E>(format, std::forward<Args>(args)...);
}

/// Throws `error` again with another sentence, which usually holds its own: OutOfMemory and
/// DeviceError as what they are, anything else as E.
template <class E = Error, class... Args>
[[noreturn]] void fail_again(const Error& error, fmt::format_string<Args...> format,
                             Args&&... args) {
  const std::string sentence = fmt::format(format, std::forward<Args>(args)...);
  if (const auto* memory = dynamic_cast<const OutOfMemory*>(&error)) {
    throw OutOfMemory(sentence, memory->wanted, memory->free);
  }
  if (dynamic_cast<const DeviceError*>(&error) != nullptr) throw DeviceError(sentence);
  throw E(sentence);
}

[[noreturn]] void internal_failure(const char* condition, const char* file, int line);

}  // namespace linnet

/// A bug in Linnet if it does not hold; never for a user's input.
#define LINNET_ASSERT(condition) \
  ((condition) ? void(0) : ::linnet::internal_failure(#condition, __FILE__, __LINE__))
