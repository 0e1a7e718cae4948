// SPDX-License-Identifier: Apache-2.0
#include "formats/image.h"

#include <algorithm>
#include <array>

#include "data/image_files.h"
#include "formats/image_formats.h"

namespace linnet::test {
namespace {

std::string decode_error(std::string_view bytes) {
  return error_of([&] { decode_image(bytes, "a/b.img"); });
}

using Pixels = std::vector<std::uint8_t>;

TEST(Png, ComesBackAsItWent) {
  for (const std::int64_t channels : {1, 3}) {
    const Image image = drawn_image(5, 7, channels);
    const Image back = decode_image(encode_png(image), "x");
    EXPECT_EQ(back.height, 5);
    EXPECT_EQ(back.width, 7);
    EXPECT_EQ(back.channels, channels);
    EXPECT_EQ(back.pixels, image.pixels);
  }
}

TEST(Png, DropsAlphaAndReadsSixteenBits) {
  // Written by hand with zlib: 2 x 1 pixels, grey with alpha in 16 bits (colour type 4).
  const auto chunk = [](const std::string& name_and_data) {
    const auto sum = crc32(0, reinterpret_cast<const Bytef*>(name_and_data.data()),
                           static_cast<uInt>(name_and_data.size()));
    return number(static_cast<std::uint32_t>(name_and_data.size() - 4), 4, true) + name_and_data +
           number(static_cast<std::uint32_t>(sum), 4, true);
  };
  const std::string rows("\0\x80\x80\0\0\x40\x40\xff\xff", 9);
  std::string packed(64, '\0');
  uLongf size = packed.size();
  ASSERT_EQ(compress(reinterpret_cast<Bytef*>(packed.data()), &size,
                     reinterpret_cast<const Bytef*>(rows.data()), rows.size()),
            Z_OK);
  packed.resize(size);
  const std::string file =
      "\x89PNG\r\n\x1a\n" +
      chunk("IHDR" + number(2, 4, true) + number(1, 4, true) + std::string("\x10\x04\0\0\0", 5)) +
      chunk("IDAT" + packed) + chunk("IEND");
  const Image image = decode_image(file, "x");
  EXPECT_EQ(image.channels, 1);
  // The first pixel is wholly transparent and still keeps its grey.
  EXPECT_EQ(image.pixels, (Pixels{0x80, 0x40}));
}

TEST(Png, RefusesDamage) {
  std::string file = encode_png(drawn_image(20, 20, 3));
  EXPECT_EQ(decode_error(file.substr(0, file.size() / 2)),
            "'a/b.img' is a damaged PNG: read beyond end of data");
  file[60] ^= 1;
  EXPECT_NE(decode_error(file).find("'a/b.img' is a damaged PNG: "), std::string::npos);
  EXPECT_NE(decode_error(file.substr(0, 12)).find("'a/b.img' is a damaged PNG: "),
            std::string::npos);
}

TEST(Png, RefusesToEncodeOtherSizes) {
  Image image = drawn_image(2, 2, 3);
  image.pixels.pop_back();
  EXPECT_EQ(error_of([&] { encode_png(image); }), "expected 2 x 2 x 3 bytes for an image; got 11");
  image.channels = 2;
  EXPECT_EQ(error_of([&] { encode_png(image); }), "a PNG has 1 or 3 channels; got 2");
}

TEST(Jpeg, ReadsGreyAndColour) {
  const Image grey = decode_image(jpeg(77, 9, 6, 1), "x");
  EXPECT_EQ(grey.height, 9);
  EXPECT_EQ(grey.width, 6);
  EXPECT_EQ(grey.channels, 1);
  for (const int pixel : grey.pixels) EXPECT_NEAR(pixel, 77, 2);
  const Image colour = decode_image(jpeg(77, 9, 6, 3), "x");
  EXPECT_EQ(colour.channels, 3);
  EXPECT_EQ(colour.pixels.size(), 9U * 6 * 3);
  for (std::size_t i = 0; i < colour.pixels.size(); ++i) {
    EXPECT_NEAR(colour.pixels[i], i % 3 == 0 ? 200 : 77, 3);
  }
}

TEST(Jpeg, RefusesDamage) {
  const std::string file = jpeg(77, 64, 64, 3);
  EXPECT_EQ(decode_error(file.substr(0, file.size() - 20)),
            "'a/b.img' is a damaged JPEG: Premature end of JPEG file");
  EXPECT_EQ(decode_error(file.substr(0, 100)),
            "'a/b.img' is a damaged JPEG: JPEG datastream contains no image");
  std::string wrong = file;
  const std::size_t tables = file.find("\xff\xc4");
  wrong[tables + 2] = 0;
  wrong[tables + 3] = 1;  // a Huffman table shorter than its own length
  EXPECT_EQ(decode_error(wrong), "'a/b.img' is a damaged JPEG: Bogus marker length");
  EXPECT_EQ(
      decode_error(jpeg(77, 8, 8, 2)),
      "'a/b.img' is a JPEG of 2 colour components; expected 1 (grey), 3 (colour) or 4 (CMYK)");
  const std::string ink = jpeg(77, 64, 64, 4);
  EXPECT_EQ(decode_error(ink.substr(0, ink.size() - 20)),
            "'a/b.img' is a damaged JPEG: Premature end of JPEG file");
}

/// Pillow 13.0's Image.convert("RGB") of the same colours: Image.new("CMYK", (8, 8), ink) saved
/// with quality 100, where one level of each ink goes over into the file as 255 - ink.
TEST(Jpeg, ReadsCmykAsPillowDoes) {
  struct Case {
    std::array<std::uint8_t, 4> ink;
    Pixels expected;
  };
  for (const Case& c :
       {Case{{0, 0, 0, 0}, {255, 255, 255}}, Case{{255, 0, 0, 0}, {0, 255, 255}},
        Case{{10, 200, 30, 40}, {207, 46, 190}}, Case{{178, 178, 178, 178}, {23, 23, 23}},
        Case{{0, 0, 0, 255}, {0, 0, 0}}, Case{{120, 7, 250, 90}, {87, 160, 3}}}) {
    std::array<std::uint8_t, 4> stored;
    std::transform(c.ink.begin(), c.ink.end(), stored.begin(),
                   [](std::uint8_t level) { return static_cast<std::uint8_t>(255 - level); });
    const Image image = decode_image(jpeg_of(stored, 8, 8, 100), "x");
    EXPECT_EQ(image.channels, 3);
    ASSERT_EQ(image.pixels.size(), 8U * 8 * 3);
    for (std::size_t i = 0; i < image.pixels.size(); ++i) {
      ASSERT_EQ(image.pixels[i], c.expected[i % 3]) << i;
    }
  }
}

TEST(Bmp, ReadsRowsFromTheBottomWithPadding) {
  // 1 x 2 pixels of 24 bits: a row takes 3 bytes and one of padding; blue comes first.
  const Image image = decode_image(bmp_header(1, 2, 24) + "\x01\x02\x03_\x04\x05\x06_", "x");
  EXPECT_EQ(image.height, 2);
  EXPECT_EQ(image.width, 1);
  EXPECT_EQ(image.channels, 3);
  EXPECT_EQ(image.pixels, (Pixels{6, 5, 4, 3, 2, 1}));
  const Image down = decode_image(bmp_header(1, -2, 24) + "\x01\x02\x03_\x04\x05\x06_", "x");
  EXPECT_EQ(down.pixels, (Pixels{3, 2, 1, 6, 5, 4}));
}

TEST(Bmp, ReadsPalettes) {
  const std::string colours("\x09\x08\x07\0\x05\x05\x05\0", 8);
  const Image colour =
      decode_image(bmp_header(2, 1, 8, 0, 8, 2) + colours + std::string("\1\0\0\0", 4), "x");
  EXPECT_EQ(colour.channels, 3);
  EXPECT_EQ(colour.pixels, (Pixels{5, 5, 5, 7, 8, 9}));
  const std::string greys("\x09\x09\x09\0\x05\x05\x05\0", 8);
  const Image grey =
      decode_image(bmp_header(2, 1, 8, 0, 8, 2) + greys + std::string("\1\0\0\0", 4), "x");
  EXPECT_EQ(grey.channels, 1);
  EXPECT_EQ(grey.pixels, (Pixels{5, 9}));
  EXPECT_EQ(decode_error(bmp_header(2, 1, 8, 0, 8, 2) + greys + std::string("\1\2\0\0", 4)),
            "'a/b.img' is a damaged BMP: colour 2 of a palette of 2");
  EXPECT_EQ(decode_error(bmp_header(2, 1, 8, 0, 8, 300) + greys),
            "'a/b.img' is a damaged BMP: its palette has 300 colours");
}

/// The expected pixels of these are Pillow 13.0's, Image.open().convert("RGB"), of the same bytes.
TEST(Bmp, ReadsOneBitAsPillowDoes) {
  const std::string rows("\xb2\x40\0\0\x01\x80\0\0", 8);  // 10 pixels of each of two rows
  const Image bw =
      decode_image(bmp_header(10, 2, 1, 0, 8) + std::string("\0\0\0\0\xff\xff\xff\0", 8) + rows,
                   "x");
  EXPECT_EQ(bw.channels, 1);
  EXPECT_EQ(bw.pixels, (Pixels{0,   0, 0,   0,   0, 0, 0,   255, 255, 0,  //
                               255, 0, 255, 255, 0, 0, 255, 0,   0,   255}));
  const Image colour = decode_image(bmp_header(10, -2, 1, 0, 8, 2) +
                                        std::string("\x10\x20\x30\0\xf0\xe0\xd0\0", 8) + rows,
                                    "x");
  EXPECT_EQ(colour.channels, 3);
  EXPECT_EQ(Pixels(colour.pixels.begin(), colour.pixels.begin() + 9),
            (Pixels{208, 224, 240, 48, 32, 16, 208, 224, 240}));
  EXPECT_EQ(Pixels(colour.pixels.end() - 9, colour.pixels.end()),
            (Pixels{208, 224, 240, 208, 224, 240, 48, 32, 16}));
}

TEST(Bmp, ReadsFourBitsAsPillowDoes) {
  std::string palette;
  std::string greys;
  for (int i = 0; i < 16; ++i) {
    for (const int factor : {3, 5, 7, 0}) palette += static_cast<char>(i * factor);
    for (const int factor : {17, 17, 17, 0}) greys += static_cast<char>(i * factor);
  }
  const std::string rows("\x0f\x73\xa0\0\x12\x34\x50\0", 8);  // 5 pixels of each of two rows
  EXPECT_EQ(decode_image(bmp_header(5, 2, 4, 0, 64) + palette + rows, "x").pixels,
            (Pixels{7, 5, 3, 14,  10, 6,  21, 15, 9,  28, 20, 12, 35, 25, 15,  //
                    0, 0, 0, 105, 75, 45, 49, 35, 21, 21, 15, 9,  70, 50, 30}));
  const Image grey = decode_image(bmp_header(5, 2, 4, 0, 64, 16) + greys + rows, "x");
  EXPECT_EQ(grey.channels, 1);
  EXPECT_EQ(grey.pixels, (Pixels{17, 34, 51, 68, 85, 0, 255, 119, 51, 170}));
}

TEST(Bmp, ReadsSixteenBitsAsPillowDoes) {
  const auto words = [](const std::vector<std::uint32_t>& values, int bytes) {
    std::string text;
    for (const std::uint32_t value : values) text += number(value, bytes, false);
    return text;
  };
  const Pixels fives{255, 82, 172, 0, 255, 24, 255, 255, 255};
  const std::string pixels = words({0x7D55, 0x03E3, 0x7FFF}, 2) + "__";
  EXPECT_EQ(decode_image(bmp_header(3, 1, 16) + pixels, "x").pixels, fives);
  EXPECT_EQ(decode_image(bmp_header(3, 1, 16, 3, 12) + words({0x7C00, 0x3E0, 0x1F}, 4) + pixels,
                         "x")
                .pixels,
            fives);
  EXPECT_EQ(decode_image(bmp_header(3, 1, 16, 3, 12) + words({0xF800, 0x7E0, 0x1F}, 4) +
                             words({0xF81F, 0x17F4, 0xABCD}, 2) + "__",
                         "x")
                .pixels,
            (Pixels{255, 0, 255, 16, 255, 164, 172, 121, 106}));
}

TEST(Bmp, ReadsThirtyTwoBits) {
  EXPECT_EQ(decode_image(bmp_header(1, 1, 32) + "\x01\x02\x03\x04", "x").pixels, (Pixels{3, 2, 1}));
  const std::string masks =
      number(0xFF0000, 4, false) + number(0xFF00, 4, false) + number(0xFF, 4, false);
  EXPECT_EQ(decode_image(bmp_header(1, 1, 32, 3, 12) + masks + "\x01\x02\x03\x04", "x").pixels,
            (Pixels{3, 2, 1}));
  EXPECT_EQ(decode_error(bmp_header(1, 1, 32, 3, 12) + std::string(16, '\1')),
            "'a/b.img' is a BMP of compression 3; expected an uncompressed one");
}

TEST(Bmp, RefusesDamageAndOtherKinds) {
  EXPECT_EQ(decode_error(bmp_header(1, 2, 24) + "\x01\x02\x03_\x04\x05\x06"),
            "'a/b.img' is a damaged BMP: 8 bytes at 54 lie beyond its end at 61");
  EXPECT_EQ(
      decode_error(bmp_header(0x7FFFFFFF, 0x7FFFFFFF, 32)),
      "'a/b.img' is a damaged BMP: 18446744056529682436 bytes at 54 lie beyond its end at 54");
  EXPECT_EQ(decode_error(bmp_header(1, 1, 24).substr(0, 19)),
            "'a/b.img' is a damaged BMP: 2 bytes at 18 lie beyond its end at 19");
  EXPECT_EQ(decode_error(bmp_header(-1, 1, 24) + "abcd"),
            "'a/b.img' is an image of 1 x -1 pixels; expected at least one");
  EXPECT_EQ(decode_error(bmp_header(1, 1, 2) + "abcd"),
            "'a/b.img' is a BMP of 2 bits a pixel; expected 1, 4, 8, 16, 24 or 32");
  EXPECT_EQ(decode_error(bmp_header(9, 1, 1, 0, 8) + std::string(11, '\0')),
            "'a/b.img' is a damaged BMP: 4 bytes at 62 lie beyond its end at 65");
  EXPECT_EQ(decode_error(bmp_header(1, 1, 4, 0, 4, 1) + std::string(4, '\0') + "\x10___"),
            "'a/b.img' is a damaged BMP: colour 1 of a palette of 1");
  EXPECT_EQ(decode_error(bmp_header(1, 1, 16, 3, 12) + std::string(16, '\1')),
            "'a/b.img' is a BMP of compression 3; expected an uncompressed one");
  EXPECT_EQ(decode_error(bmp_header(1, 1, 8, 1) + "abcd"),
            "'a/b.img' is a BMP of compression 1; expected an uncompressed one");
  std::string old = bmp_header(1, 1, 24) + "abcd";
  old[14] = 12;
  EXPECT_EQ(decode_error(old), "'a/b.img' is a BMP with a header of 12 bytes; expected 40 to 124");
  const std::string jpeg = "\xFF\xD8" + bmp_header(1, 1, 24).substr(2) + "abcd";
  EXPECT_EQ(error_of([&] { decode_bmp(jpeg, "a/b.img"); }),
            "'a/b.img' is not a BMP: it does not begin with 'BM'");
}

TEST(Image, RefusesOtherContent) {
  EXPECT_EQ(decode_error("GIF89a"),
            "'a/b.img' is not a PNG, JPEG, BMP, WebP or TIFF image: it has 6 bytes and none of "
            "their signatures");
  EXPECT_EQ(decode_error(""),
            "'a/b.img' is not a PNG, JPEG, BMP, WebP or TIFF image: it has 0 bytes and none of "
            "their signatures");
}

TEST(Image, RefusesMorePixelsThanMemoryIsFor) {
  std::string file = encode_png(drawn_image(1, 1, 1));
  file.replace(16, 8, number(30000, 4, true) + number(30001, 4, true));
  const std::string sum =
      number(static_cast<std::uint32_t>(
                 crc32(0, reinterpret_cast<const Bytef*>(file.data()) + 12, 17)),
             4, true);
  file.replace(29, 4, sum);
  EXPECT_EQ(decode_error(file), "'a/b.img' has 30001 x 30000 pixels; expected at most 67108864");
}

// Every cut and many flipped bytes: an image or an Error, and nothing else (run under ASan).
TEST(Image, SurvivesDamageAnywhere) {
  const std::vector<std::string> files{encode_png(drawn_image(6, 6, 3)), jpeg(77, 16, 16, 3),
                                       bmp_header(3, 3, 8, 0, 8, 2) + std::string(8 + 12, '\1'),
                                       bmp_header(9, 3, 1, 0, 8) + std::string(8 + 12, '\1'),
                                       bmp_header(9, 3, 16) + std::string(60, '\1')};
  for (const std::string& file : files) {
    ASSERT_NO_THROW(decode_image(file, "whole"));
    int refused = 0;
    for (std::size_t i = 0; i < file.size(); ++i) {
      for (const char flip : {'\0', '\1', '\x80', '\xff'}) {
        std::string damaged = flip == 0 ? file.substr(0, i) : file;
        damaged[i < damaged.size() ? i : 0] ^= flip;
        try {
          decode_image(damaged, "x");
        } catch (const Error&) {
          ++refused;
        }
      }
    }
    EXPECT_GT(refused, static_cast<int>(file.size()) / 2);
  }
}

}  // namespace
}  // namespace linnet::test
