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

/// Pixels that follow from their place.
Image formula_image(std::int64_t height, std::int64_t width, std::int64_t channels) {
  Image image{height, width, channels, {}};
  for (std::int64_t y = 0; y < height; ++y) {
    for (std::int64_t x = 0; x < width; ++x) {
      for (std::int64_t c = 0; c < channels; ++c) {
        image.pixels.push_back(static_cast<std::uint8_t>(x * 37 + y * 91 + c * 53 + x * y * 7));
      }
    }
  }
  return image;
}

// What Pillow 13.0.0's resize((width, height), BILINEAR) gives for the same images.
TEST(ImageTransform, ResizesByteForByteAsPillowDoes) {
  EXPECT_EQ(resize_image(formula_image(9, 13, 3), 3, 4).pixels,
            (Pixels{116, 132, 141, 125, 133, 138, 121, 128, 134, 122, 138, 128,
                    124, 141, 123, 143, 135, 123, 130, 133, 119, 138, 127, 132,
                    125, 117, 142, 130, 121, 129, 126, 126, 125, 131, 104, 144}));
  EXPECT_EQ(resize_image(formula_image(2, 3, 1), 5, 7).pixels,
            (Pixels{0,   5,   21,  37,  53, 69, 74,  9,   14,  30,  47, 63,
                    79,  84,  46,  51,  69, 86, 104, 121, 127, 82,  88, 107,
                    125, 144, 163, 169, 91, 97, 116, 135, 154, 173, 179}));
}

// What torchvision 0.29.2's Resize(6) and CenterCrop((4, 5)) give.
TEST(ImageTransform, TakesTheCentreAsTorchvisionDoes) {
  EXPECT_EQ(centre_of_resized(formula_image(9, 13, 1), 6, 4, 5).pixels,
            (Pixels{120, 136, 117, 135, 135, 158, 139, 139, 132, 131,
                    140, 137, 133, 98,  160, 112, 146, 147, 139, 131}));
  EXPECT_EQ(centre_of_resized(formula_image(14, 9, 1), 6, 4, 5).pixels,
            (Pixels{89,  150, 148, 143, 145, 118, 114, 133, 134, 153,
                    112, 125, 107, 131, 162, 140, 139, 162, 114, 98}));
  EXPECT_EQ(error_of([] { centre_of_resized(formula_image(9, 9, 1), 6, 7, 5); }),
            "a centre crop of 7 x 5 cannot be taken from images whose shorter side is 6");
}

// The whole image would take 3.3 GB at that size; only the centre is made.
TEST(ImageTransform, TakesTheCentreOfALongImage) {
  Image image{1, 65535, 1, {}};
  for (int x = 0; x < 65535; ++x) image.pixels.push_back(static_cast<std::uint8_t>(x / 256));
  const Image centre = centre_of_resized(image, 224, 224, 224);
  EXPECT_EQ(centre.pixels, Pixels(std::size_t{224} * 224, 127));
  const Image high = centre_of_resized({65535, 1, 1, image.pixels}, 224, 224, 224);
  EXPECT_EQ(high.pixels, centre.pixels);
  EXPECT_EQ(centre_of_resized({1, 1, 1, {7}}, 3, 2, 2).pixels, Pixels(4, 7));
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
  EXPECT_EQ(error_of([&] { resize_image(image, 0, 3); }), "an image cannot be resized to 0 x 3");
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
