// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>

#include "base/files.h"

namespace linnet::test {

inline std::string from_hex(const std::string& text) {
  std::string bytes;
  for (std::size_t i = 0; i + 1 < text.size(); i += 2) {
    bytes += static_cast<char>(std::stoi(text.substr(i, 2), nullptr, 16));
  }
  return bytes;
}

/// Returns what tests/fixtures/make_images.py wrote.
inline nlohmann::json image_fixtures() {
  return nlohmann::json::parse(read_file(LINNET_IMAGE_FIXTURES));
}

/// The bytes of one of its files.
inline std::string image_fixture(const std::string& name) {
  for (const auto& entry : image_fixtures()) {
    if (entry["name"].get<std::string>() == name) return from_hex(entry["file"]);
  }
  throw std::runtime_error("there is no fixture " + name);
}

}  // namespace linnet::test
