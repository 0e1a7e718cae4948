// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/error.h>

#include <cstdint>
#include <filesystem>
#include <string>

#include "base/files.h"
#include "formats/safetensors.h"
#include "temporary_folder.h"

namespace linnet::testing {

/// The bytes of a file with this header, as it is, and `data` zero bytes.
inline std::string safetensors_bytes(const std::string& header, std::size_t data = 0) {
  std::string file;
  for (unsigned shift = 0; shift < 64; shift += 8) {
    file += static_cast<char>(static_cast<std::uint64_t>(header.size()) >> shift & 0xFFU);
  }
  return file + header + std::string(data, '\0');
}

/// Returns what reading such a file throws, without the leading "cannot read '<path>': "; "" if
/// nothing.
inline std::string safetensors_error(const std::filesystem::path& path,
                                     const std::string& content) {
  write_quickly(path, content);
  try {
    read_safetensors(path);
  } catch (const Error& error) {
    const std::string begin = "cannot read '" + path.string() + "': ";
    const std::string text = error.what();
    return text.starts_with(begin) ? text.substr(begin.size()) : "not named: " + text;
  }
  return "";
}

}  // namespace linnet::testing
