// SPDX-License-Identifier: Apache-2.0
// Decoded pixels are Pillow's, byte by byte: tests/fixtures/make_images.py wrote both.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/files.h"
#include "data/image.h"
#include "data/image_header.h"

namespace linnet::test {
namespace {

std::string from_hex(const std::string& text) {
  std::string bytes;
  for (std::size_t i = 0; i + 1 < text.size(); i += 2) {
    bytes += static_cast<char>(std::stoi(text.substr(i, 2), nullptr, 16));
  }
  return bytes;
}

nlohmann::json fixtures() { return nlohmann::json::parse(read_file(LINNET_IMAGE_FIXTURES)); }

TEST(ImageFixtures, PixelsAreThoseOfPillow) {
  const nlohmann::json all = fixtures();
  EXPECT_GE(all.size(), 60U);
  for (const auto& entry : all) {
    const auto name = entry["name"].get<std::string>();
    const Image image = decode_image(from_hex(entry["file"]), name);
    const auto shape = entry["shape"].get<std::vector<std::int64_t>>();
    EXPECT_EQ((std::vector<std::int64_t>{image.height, image.width, image.channels}), shape)
        << name;
    EXPECT_EQ(std::string(image.pixels.begin(), image.pixels.end()), from_hex(entry["pixels"]))
        << name;
  }
}

TEST(ImageFixtures, TheHeaderTellsTheChannels) {
  for (const auto& entry : fixtures()) {
    const auto name = entry["name"].get<std::string>();
    EXPECT_EQ(channels_in_header(from_hex(entry["file"])), entry["shape"][2].get<int>()) << name;
  }
}

}  // namespace
}  // namespace linnet::test
