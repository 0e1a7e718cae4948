// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace linnet {

/// Numbers in the bytes of a file; the caller knows that they are there.
inline std::size_t byte_at(std::string_view bytes, std::size_t at) {
  return static_cast<std::uint8_t>(bytes[at]);
}
inline std::size_t little_endian(std::string_view bytes, std::size_t at, std::size_t count) {
  std::size_t value = 0;
  for (std::size_t i = count; i-- > 0;) value = value << 8 | byte_at(bytes, at + i);
  return value;
}
inline std::size_t big_endian(std::string_view bytes, std::size_t at, std::size_t count) {
  std::size_t value = 0;
  for (std::size_t i = 0; i < count; ++i) value = value << 8 | byte_at(bytes, at + i);
  return value;
}

}  // namespace linnet
