// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdio>
#include <string>
#include <string_view>

namespace linnet::test {

/// Returns what ends a tar archive: two blocks of zeros.
inline const std::string kTarEnd(1024, '\0');

/// A header of a tar archive (ustar) for `size` bytes.
inline std::string tar_header(std::string_view name, std::size_t size, char type = '0') {
  std::string header(512, '\0');
  const auto put = [&](std::size_t at, std::string_view text) {
    std::copy(text.begin(), text.end(), header.begin() + static_cast<std::ptrdiff_t>(at));
  };
  char octal[12];
  std::snprintf(octal, sizeof octal, "%011zo", size);
  put(0, name);
  put(100, "0000644");
  put(124, octal);
  put(148, "        ");
  header[156] = type;
  put(257, std::string_view("ustar\00000", 8));
  unsigned sum = 0;
  for (const char byte : header) sum += static_cast<unsigned char>(byte);
  std::snprintf(octal, sizeof octal, "%06o", sum);
  put(148, std::string_view(octal, 7));
  return header;
}

/// A file of an archive, or an entry of another type, with its padding.
inline std::string tar_entry(std::string_view name, std::string_view content, char type = '0') {
  const std::size_t padding = (512 - content.size() % 512) % 512;
  return tar_header(name, content.size(), type) + std::string(content) + std::string(padding, '\0');
}

}  // namespace linnet::test
