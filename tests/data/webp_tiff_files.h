// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tiffio.h>
#include <webp/encode.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "base/files.h"
#include "formats/image.h"

namespace linnet::test {

/// A WebP file without loss of an image with 3 channels.
inline std::string webp(const Image& image) {
  std::uint8_t* made = nullptr;
  const std::size_t size = WebPEncodeLosslessRGB(image.pixels.data(), static_cast<int>(image.width),
                                                 static_cast<int>(image.height),
                                                 static_cast<int>(image.width * 3), &made);
  std::string file(reinterpret_cast<const char*>(made), size);
  WebPFree(made);
  return file;
}

struct TiffForm {
  std::uint16_t bits = 8;
  std::uint16_t compression = COMPRESSION_NONE;
  std::uint16_t photometric = PHOTOMETRIC_MINISBLACK;
  std::uint16_t planar = PLANARCONFIG_CONTIG;
  std::uint16_t orientation = 1;
  std::uint32_t tile = 0;  ///< its sides, a multiple of 16; 0: strips of two rows
  const char* mode = "w";
};

/// A TIFF file of samples (height, width, channels), each of them `form.bits` / 8 bytes.
inline std::string tiff(const std::filesystem::path& path, std::int64_t height, std::int64_t width,
                        std::int64_t channels, const std::string& samples, const TiffForm& form) {
  TIFF* file = TIFFOpen(path.c_str(), form.mode);
  TIFFSetField(file, TIFFTAG_IMAGELENGTH, static_cast<std::uint32_t>(height));
  TIFFSetField(file, TIFFTAG_IMAGEWIDTH, static_cast<std::uint32_t>(width));
  TIFFSetField(file, TIFFTAG_SAMPLESPERPIXEL, static_cast<int>(channels));
  TIFFSetField(file, TIFFTAG_BITSPERSAMPLE, static_cast<int>(form.bits));
  TIFFSetField(file, TIFFTAG_COMPRESSION, static_cast<int>(form.compression));
  TIFFSetField(file, TIFFTAG_PHOTOMETRIC, static_cast<int>(form.photometric));
  TIFFSetField(file, TIFFTAG_PLANARCONFIG, static_cast<int>(form.planar));
  TIFFSetField(file, TIFFTAG_ORIENTATION, static_cast<int>(form.orientation));
  const auto row_bytes = static_cast<std::size_t>((width * channels * form.bits + 7) / 8);
  if (form.tile > 0) {
    TIFFSetField(file, TIFFTAG_TILEWIDTH, form.tile);
    TIFFSetField(file, TIFFTAG_TILELENGTH, form.tile);
    const auto pixel = static_cast<std::size_t>(channels * form.bits / 8);
    std::vector<char> block(form.tile * form.tile * pixel);
    for (std::uint32_t y = 0; y < height; y += form.tile) {
      for (std::uint32_t x = 0; x < width; x += form.tile) {
        const std::size_t columns =
            std::min<std::size_t>(form.tile, static_cast<std::size_t>(width) - x);
        for (std::size_t r = 0; r < form.tile && y + r < static_cast<std::size_t>(height); ++r) {
          std::memcpy(block.data() + r * form.tile * pixel,
                      samples.data() + (y + r) * row_bytes + x * pixel, columns * pixel);
        }
        TIFFWriteTile(file, block.data(), x, y, 0, 0);
      }
    }
  } else {
    TIFFSetField(file, TIFFTAG_ROWSPERSTRIP, 2U);
    const bool planes = form.planar == PLANARCONFIG_SEPARATE;
    const auto line = static_cast<std::size_t>(width);
    for (std::uint16_t plane = 0; plane < (planes ? channels : 1); ++plane) {
      for (std::uint32_t y = 0; y < height; ++y) {
        std::string row = samples.substr(y * row_bytes, row_bytes);
        if (planes) {
          std::string one;
          for (std::size_t x = 0; x < line; ++x) {
            one += row[x * static_cast<std::size_t>(channels) + plane];
          }
          row = one;
        }
        TIFFWriteScanline(file, row.data(), y, plane);
      }
    }
  }
  TIFFClose(file);
  return read_file(path);
}

}  // namespace linnet::test
