// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lzma.h>

#include <cstdint>
#include <stdexcept>
#include <string>

namespace linnet::test {

/// An .xz file of `content`.
inline std::string xz(const std::string& content) {
  std::string packed(lzma_stream_buffer_bound(content.size()), '\0');
  std::size_t size = 0;
  const lzma_ret status =
      lzma_easy_buffer_encode(6, LZMA_CHECK_CRC64, nullptr,
                              reinterpret_cast<const std::uint8_t*>(content.data()), content.size(),
                              reinterpret_cast<std::uint8_t*>(packed.data()), &size, packed.size());
  if (status != LZMA_OK) throw std::runtime_error("liblzma");
  packed.resize(size);
  return packed;
}

}  // namespace linnet::test
