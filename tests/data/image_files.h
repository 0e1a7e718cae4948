// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdio>

#include <jpeglib.h>

#include <cstdint>
#include <cstdlib>
#include <string>

#include "data/data_files.h"
#include "data/image.h"

namespace linnet::test {

/// Pixels that differ from place to place and from channel to channel.
inline Image picture(std::int64_t height, std::int64_t width, std::int64_t channels) {
  Image image{height, width, channels, {}};
  for (std::int64_t i = 0; i < height * width * channels; ++i) {
    image.pixels.push_back(static_cast<std::uint8_t>(i * 37 + i / channels * 5));
  }
  return image;
}

/// A JPEG of one colour throughout, which the format keeps to within a unit or two.
inline std::string jpeg(std::uint8_t level, int height, int width, int channels,
                        bool cmyk = false) {
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
  info.in_color_space = cmyk ? JCS_CMYK : channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
  jpeg_set_defaults(&info);
  jpeg_set_quality(&info, 95, TRUE);
  jpeg_start_compress(&info, TRUE);
  std::vector<unsigned char> pixels(static_cast<std::size_t>(width * channels), level);
  while (info.next_scanline < info.image_height) {
    // A pattern, so that the coded data is long enough to be cut.
    for (std::size_t i = 0; i < pixels.size() && channels == 3; i += 3) pixels[i] = 200;
    JSAMPROW row = pixels.data();
    jpeg_write_scanlines(&info, &row, 1);
  }
  jpeg_finish_compress(&info);
  jpeg_destroy_compress(&info);
  std::string file(reinterpret_cast<char*>(buffer), size);
  std::free(buffer);
  return file;
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
