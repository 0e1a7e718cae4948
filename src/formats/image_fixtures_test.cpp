// SPDX-License-Identifier: Apache-2.0
// Decoded pixels are Pillow's, byte by byte: tests/fixtures/make_images.py wrote both.
#include "data/image_fixtures.h"

#include <gtest/gtest.h>

#include "formats/image.h"
#include "formats/image_header.h"

namespace linnet::test {
namespace {

TEST(ImageFixtures, PixelsAreThoseOfPillow) {
  const nlohmann::json all = image_fixtures();
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

TEST(ImageFixtures, TheHeaderTellsTheShape) {
  for (const auto& entry : image_fixtures()) {
    const auto name = entry["name"].get<std::string>();
    const ImageHeader header = image_header(from_hex(entry["file"]));
    const auto shape = entry["shape"].get<std::vector<std::int64_t>>();
    EXPECT_EQ((std::vector<std::int64_t>{header.height, header.width, header.channels}), shape)
        << name;
  }
}

}  // namespace
}  // namespace linnet::test
