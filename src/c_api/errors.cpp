// SPDX-License-Identifier: Apache-2.0
#include "c_api/errors.h"

#include <linnet/version.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <exception>
#include <new>
#include <utility>

#include "base/utf8.h"

namespace linnet::c_api {
namespace {

// An array without a destructor: it needs no memory when there is none, and a thread that ends
// after the library was unloaded calls nothing.
thread_local std::array<char, 2048> last_error{};

void keep(std::string_view function, std::string_view sentence) noexcept {
  char* to = last_error.data();
  char* const end = to + last_error.size() - 1;
  for (const std::string_view part : {function, std::string_view(": "), sentence}) {
    to = std::copy_n(part.data(), std::min<std::size_t>(part.size(), end - to), to);
  }
  if (to == end) {  // cut: not within a character
    while (to > last_error.data() && !begins_character(to[-1])) --to;
    if (to > last_error.data() && static_cast<unsigned char>(to[-1]) >= 0xC0) --to;
  }
  *to = '\0';
}

}  // namespace

void forget_error() noexcept { last_error.front() = '\0'; }

std::int32_t code_of_exception(const char* function) noexcept {
  const auto as = [&](const char* sentence, linnet_code code) {
    keep(function, sentence);
    return static_cast<std::int32_t>(code);
  };
  try {
    throw;
  } catch (const OutOfMemory& error) {
    return as(error.what(), LINNET_OUT_OF_MEMORY);
  } catch (const DeviceError& error) {
    return as(error.what(), LINNET_DEVICE_ERROR);
  } catch (const DataError& error) {
    return as(error.what(), LINNET_DATA_ERROR);
  } catch (const Error& error) {
    return as(error.what(), LINNET_ERROR);
  } catch (const std::bad_alloc&) {
    return as("the host has too little memory", LINNET_OUT_OF_MEMORY);
  } catch (const std::exception& error) {
    return as(error.what(), LINNET_INTERNAL_ERROR);
  } catch (...) {
    return as("something was thrown that is not a std::exception", LINNET_INTERNAL_ERROR);
  }
}

}  // namespace linnet::c_api

extern "C" {

std::int32_t linnet_c_api_version() noexcept { return LINNET_C_API_VERSION; }
const char* linnet_version() noexcept { return linnet::version().data(); }
const char* linnet_last_error() noexcept { return linnet::c_api::last_error.data(); }

}  // extern "C"
