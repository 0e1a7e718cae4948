// SPDX-License-Identifier: Apache-2.0
#include "data/webp_tiff_files.h"

#include <gtest/gtest.h>

#include "data/contents.h"
#include "data/image_files.h"
#include "formats/exif.h"
#include "formats/image_header.h"

namespace linnet::test {
namespace {

using Pixels = std::vector<std::uint8_t>;

std::string text_of(const Pixels& pixels) { return {pixels.begin(), pixels.end()}; }

/// Both are what the file says, before its pixels are decoded and after.
void expect_image(const std::string& file, const Image& wanted, const std::string& what) {
  const Image image = decode_image(file, "x");
  EXPECT_EQ(image.pixels, wanted.pixels) << what;
  const ImageHeader header = image_header(file);
  EXPECT_EQ(header.height, wanted.height) << what;
  EXPECT_EQ(header.width, wanted.width) << what;
  EXPECT_EQ(header.channels, wanted.channels) << what;
}

TEST(WebP, ReadsPixels) {
  const Image image = drawn_image(9, 14, 3);
  expect_image(webp(image), image, "lossless");
}

TEST(WebP, RefusesDamage) {
  const std::string file = webp(drawn_image(40, 50, 3));
  const auto error = [](const std::string& bytes) {
    return error_of([&] { decode_image(bytes, "a.webp"); });
  };
  EXPECT_EQ(error(file.substr(0, file.size() / 2)),
            "'a.webp' is a damaged WebP: its pixels are cut short or damaged");
  EXPECT_EQ(error(file.substr(0, 20)),
            "'a.webp' is a damaged WebP: its header is cut short or no header");
  // VP8X: 16,384 x 16,384 pixels are above the limit, whatever follows.
  std::string huge = "RIFF" + number(1100, 4, false) + "WEBPVP8X" + number(10, 4, false) +
                     number(0, 4, false) + number(16382, 3, false) + number(16382, 3, false);
  huge += "VP8L" + number(1000, 4, false) + "\x2f" + number(16382U | 16382U << 14, 4, false);
  huge.resize(120);
  EXPECT_EQ(error(huge), "'a.webp' has 16383 x 16383 pixels; expected at most 67108864");
}

TEST(Tiff, OfSeveralImagesIsRefused) {
  const TemporaryFolder folder;
  const auto path = folder / "a.tif";
  EXPECT_NO_THROW(decode_image(tiff(path, 1, 2, 1, "ab", {}), "a.tif"));
  const std::string two = tiff(path, 1, 2, 1, "cd", {.mode = "a"});
  EXPECT_EQ(error_of([&] { decode_image(two, "a.tif"); }),
            "'a.tif' is a TIFF of several images; expected one, in a file of its own");
}

TEST(WebP, ExifStandsAfterThePixels) {
  const std::string plain = webp({1, 3, 3, {1, 2, 3, 4, 5, 6, 7, 8, 9}});
  const std::string block = exif_block(8, false);
  std::string file = "WEBPVP8X" + number(10, 4, false) + number(8, 4, false) + number(2, 3, false) +
                     number(0, 3, false) + plain.substr(12) + "EXIF" +
                     number(static_cast<std::uint32_t>(block.size()), 4, false) + block;
  file = "RIFF" + number(static_cast<std::uint32_t>(file.size()), 4, false) + file;
  const Image image = decode_image(file, "x", {.exif = Exif::apply});
  EXPECT_EQ(image.height, 3);
  EXPECT_EQ(image.pixels, (Pixels{7, 8, 9, 4, 5, 6, 1, 2, 3}));
  EXPECT_EQ(image_header(file, Exif::apply).height, 3);
  EXPECT_EQ(image_header(file.substr(0, file.size() - 8), Exif::apply).height, 0);
}

TEST(Tiff, ReadsPixelsOfManyForms) {
  const TemporaryFolder folder;
  for (const std::int64_t channels : {1, 3}) {
    const Image image = drawn_image(35, 21, channels);
    const std::uint16_t colours = channels == 1 ? PHOTOMETRIC_MINISBLACK : PHOTOMETRIC_RGB;
    for (const std::uint16_t compression :
         {COMPRESSION_NONE, COMPRESSION_LZW, COMPRESSION_ADOBE_DEFLATE, COMPRESSION_PACKBITS}) {
      for (const std::uint32_t tile : {0U, 16U}) {
        for (const char* mode : {"w", "wb8", "wb"}) {  // big endian, too, and BigTIFF
          const TiffForm form{.compression = compression,
                              .photometric = colours,
                              .tile = tile,
                              .mode = mode};
          expect_image(tiff(folder / "x", 35, 21, channels, text_of(image.pixels), form), image,
                       std::to_string(compression) + mode);
        }
      }
    }
  }
  const Image colour = drawn_image(5, 7, 3);
  expect_image(tiff(folder / "x", 5, 7, 3, text_of(colour.pixels),
                    {.photometric = PHOTOMETRIC_RGB, .planar = PLANARCONFIG_SEPARATE}),
               colour, "planes");
  Image grey = drawn_image(5, 7, 1);
  const std::string stored = text_of(grey.pixels);
  for (std::uint8_t& pixel : grey.pixels) pixel = static_cast<std::uint8_t>(255 - pixel);
  expect_image(tiff(folder / "x", 5, 7, 1, stored, {.photometric = PHOTOMETRIC_MINISWHITE}), grey,
               "white is 0");
  expect_image(tiff(folder / "x", 1, 8, 1, "\xA5", {.bits = 1}),
               {1, 8, 1, {255, 0, 255, 0, 0, 255, 0, 255}}, "one bit");
}

TEST(Tiff, ReadsSixteenBitsAndOrientation) {
  const TemporaryFolder folder;
  const std::uint16_t samples[]{0, 256, 4095, 2048};
  const std::string bytes(reinterpret_cast<const char*>(samples), sizeof(samples));
  for (const char* mode : {"wl", "wb"}) {
    const std::string file =
        tiff(folder / "x", 1, 4, 1, bytes, {.bits = 16, .orientation = 6, .mode = mode});
    const Image image = decode_image(file, "x", {.exif = Exif::apply, .white = 4095});
    EXPECT_EQ(image.pixels, (Pixels{0, 16, 255, 128}));
    EXPECT_EQ(image.largest, 4095);
    EXPECT_EQ(image.height, 4);
    EXPECT_EQ(decode_image(file, "x").pixels, (Pixels{0, 1, 15, 8}));
    const ImageHeader header = image_header(file, Exif::apply);
    EXPECT_EQ(header.height, 4);
    EXPECT_TRUE(header.wide);
  }
}

TEST(Tiff, RefusesDamageAndWhatItCannotRead) {
  const TemporaryFolder folder;
  const auto error = [](const std::string& bytes) {
    return error_of([&] { decode_image(bytes, "a.tif"); });
  };
  const std::string file = tiff(folder / "x", 40, 50, 1, text_of(drawn_image(40, 50, 1).pixels),
                                {.compression = COMPRESSION_LZW});
  EXPECT_EQ(error(file.substr(0, file.size() / 2)),
            "'a.tif' is a damaged TIFF: its first directory is damaged");
  std::string damaged = file;
  for (std::size_t i = 8; i < 400; ++i) damaged[i] = '\xff';
  EXPECT_EQ(error(damaged),
            "'a.tif' is a damaged TIFF, or one of a kind that libtiff does not read");
  const std::string floats = tiff(folder / "x", 1, 1, 1, "1234", {.bits = 32});
  EXPECT_EQ(error(floats),
            "'a.tif' is a TIFF of 32 bits a sample; expected whole numbers of at most 16 bits: "
            "convert it to 16 bits");
  // A header that claims 70,000 x 70,000 pixels.
  const auto entry = [](std::uint32_t tag, std::uint32_t value) {
    return number(tag, 2, false) + number(4, 2, false) + number(1, 4, false) +
           number(value, 4, false);
  };
  const std::string huge = std::string("II*\0", 4) + number(8, 4, false) + number(6, 2, false) +
                           entry(256, 70000) + entry(257, 70000) + entry(258, 8) + entry(262, 1) +
                           entry(273, 8) + entry(279, 100) + number(0, 4, false);
  EXPECT_EQ(error(huge), "'a.tif' has 70000 x 70000 pixels; expected at most 67108864");
}

TEST(Tiff, FoldersOfThemAreDataSets) {
  const TemporaryFolder folder;
  const Image image = drawn_image(4, 6, 3);
  folder.write("a/1.TIFF", tiff(folder / "x", 4, 6, 3, text_of(image.pixels),
                                {.photometric = PHOTOMETRIC_RGB}));
  std::filesystem::remove(folder / "x");
  folder.write("b/1.webp", webp(image));
  const Splits data = load_dataset(folder.path());
  EXPECT_EQ(sample_shape(data.train), (Shape{4, 6, 3}));
  EXPECT_EQ(bytes(data.train, 0, 72), image.pixels);
  EXPECT_EQ(bytes(data.train, 72, 72), image.pixels);
}

}  // namespace
}  // namespace linnet::test
