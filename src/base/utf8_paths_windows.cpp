// SPDX-License-Identifier: Apache-2.0
// Texts of Linnet are UTF-8, also names of files, and path::string() of GCC's library gives UTF-8.
// The way back, from a std::string to a path, calls mbrtowc() for each character, and Windows' C
// library reads the code page of the machine there. The linker leads these calls here (--wrap).
#include <cstddef>
#include <cstdint>
#include <cwchar>

namespace {

/// Returns the bytes of a character that begins so; 0 where none does.
std::size_t bytes_of(unsigned char first) {
  if (first < 0x80) return 1;
  if (first < 0xC2) return 0;
  return first < 0xE0 ? 2 : first < 0xF0 ? 3 : first < 0xF5 ? 4 : 0;
}

constexpr std::size_t kInvalid = static_cast<std::size_t>(-1);
constexpr std::size_t kIncomplete = static_cast<std::size_t>(-2);

}  // namespace

/// Takes a character of UTF-8, as ISO C's mbrtowc(). Of one that is a pair in UTF-16 it takes three
/// bytes, and keeps the second half in `state`, which the fourth byte brings.
extern "C" std::size_t __wrap_mbrtowc(wchar_t* to, const char* from, std::size_t count,
                                      std::mbstate_t* state) {
  static std::mbstate_t own{};
  if (state == nullptr) state = &own;
  if (from == nullptr) return 0;
  if (count == 0) return kIncomplete;
  if (*state != 0) {
    if (to != nullptr) *to = static_cast<wchar_t>(*state);
    *state = 0;
    return 1;
  }
  const auto* bytes = reinterpret_cast<const unsigned char*>(from);
  const std::size_t size = bytes_of(bytes[0]);
  if (size == 0) return kInvalid;
  std::uint32_t code = size == 1 ? bytes[0] : bytes[0] & (0x7FU >> size);
  for (std::size_t i = 1; i < size; ++i) {
    if (i == count) return kIncomplete;
    if ((bytes[i] & 0xC0U) != 0x80) return kInvalid;
    code = code << 6U | (bytes[i] & 0x3FU);
  }
  const bool is_too_long = (size == 3 && code < 0x800) || (size == 4 && code < 0x10000);
  if (is_too_long || code > 0x10FFFF || (code >= 0xD800 && code < 0xE000)) return kInvalid;
  if (code < 0x10000) {
    if (to != nullptr) *to = static_cast<wchar_t>(code);
    return code == 0 ? 0 : size;
  }
  code -= 0x10000;
  if (to != nullptr) *to = static_cast<wchar_t>(0xD800U + (code >> 10U));
  *state = static_cast<std::mbstate_t>(0xDC00U + (code & 0x3FFU));
  return 3;
}
