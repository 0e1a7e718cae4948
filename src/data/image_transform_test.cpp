// SPDX-License-Identifier: Apache-2.0
#include "data/image_transform.h"

#include "data/image_files.h"

namespace linnet::test {
namespace {

using Pixels = std::vector<std::uint8_t>;

TEST(ImageTransform, ChannelsComeAndGo) {
  const Image grey{1, 2, 1, {7, 200}};
  EXPECT_EQ(with_channels(grey, 3).pixels, (Pixels{7, 7, 7, 200, 200, 200}));
  EXPECT_EQ(with_channels(with_channels(grey, 3), 1).pixels, grey.pixels);
  EXPECT_EQ(with_channels({1, 3, 3, {255, 0, 0, 0, 255, 0, 0, 0, 255}}, 1).pixels,
            (Pixels{76, 150, 29}));
}

TEST(ImageTransform, ResizesByTheTriangleFilter) {
  const Image image{1, 4, 1, {0, 100, 200, 40}};
  EXPECT_EQ(resize_image(image, 1, 4).pixels, image.pixels);
  // Half the size: weights 3 3 1 around the centre 1, and 1 3 3 around 3.
  EXPECT_EQ(resize_image(image, 1, 2).pixels, (Pixels{71, 117}));
  // Twice the size: quarters, and at the ends the pixel itself.
  EXPECT_EQ(resize_image(image, 1, 8).pixels, (Pixels{0, 25, 75, 125, 175, 160, 80, 40}));
  EXPECT_EQ(resize_image({4, 1, 1, {0, 100, 200, 40}}, 2, 1).pixels, (Pixels{71, 117}));
}

TEST(ImageTransform, KeepsAFlatColourAndTheChannelsApart) {
  Image image{5, 7, 3, {}};
  for (int i = 0; i < 35; ++i) image.pixels.insert(image.pixels.end(), {10, 128, 255});
  const Image small = resize_image(image, 3, 11);
  EXPECT_EQ(small.pixels.size(), 3U * 11 * 3);
  for (std::size_t i = 0; i < small.pixels.size(); i += 3) {
    EXPECT_EQ((Pixels{small.pixels[i], small.pixels[i + 1], small.pixels[i + 2]}),
              (Pixels{10, 128, 255}));
  }
  EXPECT_EQ(error_of([&] { resize_image(image, 0, 3); }), "an image can't be resized to 0 x 3");
}

TEST(ImageTransform, BmpRoundTrip) {
  for (const std::int64_t channels : {1, 3}) {
    for (const std::int64_t width : {1, 2, 3, 4, 5}) {
      const Image image = drawn_image(3, width, channels);
      const Image read = decode_image(encode_bmp(image), "x.bmp");
      EXPECT_EQ(read.channels, channels);
      EXPECT_EQ(read.pixels, image.pixels) << width << " x " << channels;
    }
  }
  EXPECT_EQ(error_of([] { encode_bmp({1, 1, 2, {0, 0}}); }), "a BMP has 1 or 3 channels; got 2");
}

}  // namespace
}  // namespace linnet::test
