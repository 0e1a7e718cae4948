// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdio>

#include <jpeglib.h>
#include <zlib.h>

#include <array>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "data/data_files.h"
#include "formats/image.h"

namespace linnet::test {

/// A PNG's chunk of a name of four letters.
inline std::string png_chunk(const std::string& name, const std::string& data) {
  const std::string body = name + data;
  const auto sum =
      crc32(0, reinterpret_cast<const Bytef*>(body.data()), static_cast<uInt>(body.size()));
  return number(static_cast<std::uint32_t>(data.size()), 4, true) + body +
         number(static_cast<std::uint32_t>(sum), 4, true);
}

/// A grey PNG of 16-bit samples, in one row.
inline std::string wide_png(const std::vector<std::uint16_t>& samples) {
  std::string row(1, '\0');
  for (const std::uint16_t sample : samples) row += number(sample, 2, true);
  uLongf size = compressBound(row.size());
  std::string packed(size, '\0');
  compress(reinterpret_cast<Bytef*>(packed.data()), &size,
           reinterpret_cast<const Bytef*>(row.data()), row.size());
  packed.resize(size);
  return "\x89PNG\r\n\x1a\n" +
         png_chunk("IHDR", number(static_cast<std::uint32_t>(samples.size()), 4, true) +
                               number(1, 4, true) + std::string("\x10\0\0\0\0", 5)) +
         png_chunk("IDAT", packed) + png_chunk("IEND", "");
}

/// EXIF data that say an orientation and nothing else.
inline std::string exif_block(std::uint32_t orientation, bool big = true) {
  return (big ? std::string("MM\0*", 4) : std::string("II*\0", 4)) + number(8, 4, big) +
         number(1, 2, big) + number(0x0112, 2, big) + number(3, 2, big) + number(1, 4, big) +
         number(orientation, 2, big) + std::string(6, '\0');
}

/// A PNG or JPEG with such data after its first bytes.
inline std::string with_exif(const std::string& file, std::uint32_t orientation, bool big = true) {
  const std::string block = exif_block(orientation, big);
  if (file.starts_with("\x89PNG")) {
    constexpr std::size_t kHeader = 33;
    return file.substr(0, kHeader) + png_chunk("eXIf", block) + file.substr(kHeader);
  }
  const std::string segment = std::string("Exif\0\0", 6) + block;
  return file.substr(0, 2) + "\xff\xe1" +
         number(static_cast<std::uint32_t>(segment.size() + 2), 2, true) + segment + file.substr(2);
}

/// Pixels that differ from place to place and from channel to channel.
inline Image drawn_image(std::int64_t height, std::int64_t width, std::int64_t channels) {
  Image image{height, width, channels, {}};
  for (std::int64_t i = 0; i < height * width * channels; ++i) {
    image.pixels.push_back(static_cast<std::uint8_t>(i * 37 + i / channels * 5));
  }
  return image;
}

/// A JPEG of rows that are all like `row`; one, two, three or four channels: grey, two of no
/// meaning, red, green, blue, or inks as they stand in the file.
inline std::string jpeg_of_rows(std::vector<unsigned char> row, int height, int width, int channels,
                                int quality) {
  jpeg_compress_struct info{};
  jpeg_error_mgr errors{};
  info.err = jpeg_std_error(&errors);
  jpeg_create_compress(&info);
  unsigned char* buffer = nullptr;
  unsigned long size = 0;
  jpeg_mem_dest(&info, &buffer, &size);
  info.image_height = static_cast<JDIMENSION>(height);
  info.image_width = static_cast<JDIMENSION>(width);
  info.input_components = channels;
  constexpr std::array kSpaces{JCS_GRAYSCALE, JCS_UNKNOWN, JCS_RGB, JCS_CMYK};
  info.in_color_space = kSpaces.at(static_cast<std::size_t>(channels) - 1);
  jpeg_set_defaults(&info);
  jpeg_set_quality(&info, quality, TRUE);
  jpeg_start_compress(&info, TRUE);
  while (info.next_scanline < info.image_height) {
    JSAMPROW pixels = row.data();
    jpeg_write_scanlines(&info, &pixels, 1);
  }
  jpeg_finish_compress(&info);
  jpeg_destroy_compress(&info);
  std::string file(reinterpret_cast<char*>(buffer), size);
  std::free(buffer);
  return file;
}

/// A JPEG of one colour throughout, which the format keeps to within a unit or two; in colour its
/// red is 200.
inline std::string jpeg(std::uint8_t level, int height, int width, int channels) {
  std::vector<unsigned char> row(static_cast<std::size_t>(width * channels), level);
  for (std::size_t i = 0; i < row.size() && channels == 3; i += 3) row[i] = 200;
  return jpeg_of_rows(std::move(row), height, width, channels, 95);
}

/// A JPEG of one colour of inks throughout.
inline std::string jpeg_of(const std::array<std::uint8_t, 4>& stored, int height, int width,
                           int quality) {
  std::vector<unsigned char> row;
  for (int x = 0; x < width; ++x) row.insert(row.end(), stored.begin(), stored.end());
  return jpeg_of_rows(std::move(row), height, width, 4, quality);
}

/// A BMP's two headers for pixels that follow at once, or after `between` more bytes.
inline std::string bmp_header(std::int32_t width, std::int32_t height, std::uint32_t bits,
                              std::uint32_t compression = 0, std::uint32_t between = 0,
                              std::uint32_t colours = 0) {
  const auto u32 = [](auto value) { return number(static_cast<std::uint32_t>(value), 4, false); };
  return "BM" + u32(0) + u32(0) + u32(54 + between) + u32(40) + u32(width) + u32(height) +
         number(1, 2, false) + number(bits, 2, false) + u32(compression) + u32(0) + u32(0) +
         u32(0) + u32(colours) + u32(0);
}

}  // namespace linnet::test
