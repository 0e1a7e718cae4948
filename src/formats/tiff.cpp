// SPDX-License-Identifier: Apache-2.0
#include <tiffio.h>

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "base/check.h"
#include "formats/image_formats.h"

namespace linnet {
namespace {

/// A strip or tile has no more bytes than the largest image.
constexpr std::uint64_t kMostBlock = std::uint64_t{1} << 29;

/// A file in memory, as libtiff reads one.
struct Memory {
  std::string_view bytes;
  std::size_t at = 0;
};

Memory* memory(thandle_t handle) { return static_cast<Memory*>(handle); }

tmsize_t on_read(thandle_t handle, void* to, tmsize_t size) {
  Memory& file = *memory(handle);
  const std::size_t left = file.bytes.size() - std::min(file.at, file.bytes.size());
  const std::size_t count = std::min(left, static_cast<std::size_t>(size));
  if (count > 0) std::memcpy(to, file.bytes.data() + file.at, count);
  file.at += count;
  return static_cast<tmsize_t>(count);
}
tmsize_t on_write(thandle_t, void*, tmsize_t) { return 0; }
toff_t on_seek(thandle_t handle, toff_t offset, int from) {
  Memory& file = *memory(handle);
  const toff_t start = from == SEEK_SET ? 0 : from == SEEK_CUR ? file.at : file.bytes.size();
  file.at = static_cast<std::size_t>(start + offset);
  return file.at;
}
int on_close(thandle_t) { return 0; }
toff_t on_size(thandle_t handle) { return memory(handle)->bytes.size(); }
int on_map(thandle_t handle, void** base, toff_t* size) {
  *base = const_cast<char*>(memory(handle)->bytes.data());  // libtiff writes nowhere in mode "r"
  *size = memory(handle)->bytes.size();
  return 1;
}
void on_unmap(thandle_t, void*, toff_t) {}

using File = std::unique_ptr<TIFF, decltype(&TIFFClose)>;

/// libtiff's own messages go nowhere: what they say seldom helps.
[[maybe_unused]] int on_message(TIFF*, void*, const char*, const char*, va_list) { return 1; }

File open(Memory& file) {
#if TIFFLIB_VERSION >= 20221213
  using Options = std::unique_ptr<TIFFOpenOptions, decltype(&TIFFOpenOptionsFree)>;
  const Options options(TIFFOpenOptionsAlloc(), TIFFOpenOptionsFree);
  TIFFOpenOptionsSetMaxSingleMemAlloc(options.get(), static_cast<tmsize_t>(kMostBlock));
  TIFFOpenOptionsSetErrorHandlerExtR(options.get(), on_message, nullptr);
  TIFFOpenOptionsSetWarningHandlerExtR(options.get(), on_message, nullptr);
  return {TIFFClientOpenExt("image", "r", &file, on_read, on_write, on_seek, on_close, on_size,
                            on_map, on_unmap, options.get()),
          TIFFClose};
#else  // before 4.5 a program sets one handler for all files: it stays as it is
  return {TIFFClientOpen("image", "r", &file, on_read, on_write, on_seek, on_close, on_size, on_map,
                         on_unmap),
          TIFFClose};
#endif
}

struct Layout {
  std::uint32_t height = 0;
  std::uint32_t width = 0;
  std::uint16_t bits = 1;
  std::uint16_t samples = 1;  ///< of a pixel, those beside its colours included
  std::uint16_t photometric = PHOTOMETRIC_MINISWHITE;
  std::uint16_t planar = PLANARCONFIG_CONTIG;
  std::uint16_t format = SAMPLEFORMAT_UINT;
  int orientation = 1;

  bool grey() const {
    return photometric == PHOTOMETRIC_MINISWHITE || photometric == PHOTOMETRIC_MINISBLACK;
  }
  /// Whether its samples stand in the file as an image has them.
  bool plain() const {
    const bool colours = photometric == PHOTOMETRIC_RGB && samples >= 3;
    return (bits == 8 || bits == 16) && planar == PLANARCONFIG_CONTIG && (grey() || colours);
  }
};

Layout layout_of(TIFF* tiff) {
  Layout layout;
  std::uint16_t orientation = 1;
  TIFFGetField(tiff, TIFFTAG_IMAGELENGTH, &layout.height);
  TIFFGetField(tiff, TIFFTAG_IMAGEWIDTH, &layout.width);
  TIFFGetFieldDefaulted(tiff, TIFFTAG_BITSPERSAMPLE, &layout.bits);
  TIFFGetFieldDefaulted(tiff, TIFFTAG_SAMPLESPERPIXEL, &layout.samples);
  TIFFGetField(tiff, TIFFTAG_PHOTOMETRIC, &layout.photometric);
  TIFFGetFieldDefaulted(tiff, TIFFTAG_PLANARCONFIG, &layout.planar);
  TIFFGetFieldDefaulted(tiff, TIFFTAG_SAMPLEFORMAT, &layout.format);
  TIFFGetFieldDefaulted(tiff, TIFFTAG_ORIENTATION, &orientation);
  layout.orientation = orientation;
  return layout;
}

ImageHeader header_of(const Layout& layout) {
  return {.channels = layout.grey() ? 1 : 3,
          .height = layout.height,
          .width = layout.width,
          .wide = layout.bits == 16 && layout.plain()};
}

/// Copies the first samples of each pixel of a row of a strip or tile.
template <class Sample>
void put_row(const std::byte* from, std::size_t pixels, const Layout& layout, std::size_t channels,
             Sample* to) {
  const bool inverted = layout.photometric == PHOTOMETRIC_MINISWHITE;
  for (std::size_t x = 0; x < pixels; ++x, to += channels) {
    std::memcpy(to, from + x * layout.samples * sizeof(Sample), channels * sizeof(Sample));
    if (inverted) *to = static_cast<Sample>(~*to);
  }
}

std::uint64_t block_bytes(TIFF* tiff) {
  return TIFFIsTiled(tiff) != 0 ? TIFFTileSize64(tiff) : TIFFStripSize64(tiff);
}

/// Reads plain samples, block by block; false for damage.
template <class Sample>
bool read_samples(TIFF* tiff, const Layout& layout, std::size_t channels, Sample* to) {
  const bool tiled = TIFFIsTiled(tiff) != 0;
  const std::uint64_t size = block_bytes(tiff);
  if (size == 0 || size > kMostBlock) return false;
  std::uint32_t wide = layout.width;
  std::uint32_t high = layout.height;
  if (tiled) {
    TIFFGetField(tiff, TIFFTAG_TILEWIDTH, &wide);
    TIFFGetField(tiff, TIFFTAG_TILELENGTH, &high);
  } else {
    TIFFGetFieldDefaulted(tiff, TIFFTAG_ROWSPERSTRIP, &high);
  }
  if (wide == 0 || high == 0) return false;
  const std::size_t pitch = std::size_t{wide} * layout.samples * sizeof(Sample);
  std::vector<std::byte> block(static_cast<std::size_t>(size));
  for (std::uint64_t y = 0; y < layout.height; y += high) {
    for (std::uint64_t x = 0; x < layout.width; x += wide) {
      const auto row = static_cast<std::uint32_t>(y);
      const auto column = static_cast<std::uint32_t>(x);
      const std::size_t rows = std::min<std::uint64_t>(high, layout.height - y);
      const std::size_t pixels = std::min<std::uint64_t>(wide, layout.width - x);
      if (pitch * rows > block.size()) return false;
      const tmsize_t got =
          tiled ? TIFFReadEncodedTile(tiff, TIFFComputeTile(tiff, column, row, 0, 0), block.data(),
                                      static_cast<tmsize_t>(block.size()))
                : TIFFReadEncodedStrip(tiff, TIFFComputeStrip(tiff, row, 0), block.data(),
                                       static_cast<tmsize_t>(pitch * rows));
      if (got < 0 || static_cast<std::size_t>(got) < pitch * rows) return false;
      for (std::size_t r = 0; r < rows; ++r) {
        put_row(block.data() + r * pitch, pixels, layout, channels,
                to + ((y + r) * layout.width + x) * channels);
      }
    }
  }
  return true;
}

/// Reads what libtiff converts to bytes of red, green and blue: palettes, few bits, planes, CMYK,
/// YCbCr.
bool read_converted(TIFF* tiff, Image& image) {
  const std::uint64_t size = block_bytes(tiff);
  if (size == 0 || size > kMostBlock) return false;
  TIFFSetField(tiff, TIFFTAG_ORIENTATION, ORIENTATION_TOPLEFT);  // as stored
  std::vector<std::uint32_t> pixels(static_cast<std::size_t>(image.height * image.width));
  if (TIFFReadRGBAImageOriented(tiff, static_cast<std::uint32_t>(image.width),
                                static_cast<std::uint32_t>(image.height), pixels.data(),
                                ORIENTATION_TOPLEFT, 1) == 0) {
    return false;
  }
  std::uint8_t* to = image.pixels.data();
  for (const std::uint32_t pixel : pixels) {
    for (std::int64_t c = 0; c < image.channels; ++c) {
      *to++ = static_cast<std::uint8_t>(pixel >> (8 * c));
    }
  }
  return true;
}

bool read_plain(TIFF* tiff, const Layout& layout, std::int64_t white, Image& image) {
  const auto channels = static_cast<std::size_t>(image.channels);
  if (layout.bits == 8) return read_samples(tiff, layout, channels, image.pixels.data());
  std::vector<std::uint16_t> samples(image.pixels.size());
  if (!read_samples(tiff, layout, channels, samples.data())) return false;
  put_samples(samples, white, image);
  return true;
}

/// Returns whether another image follows, which is neither a smaller copy nor a mask of this one.
bool has_more_images(TIFF* tiff) {
  constexpr int kMostLooked = 64;
  for (int i = 0; i < kMostLooked && TIFFReadDirectory(tiff) != 0; ++i) {
    std::uint32_t kind = 0;
    TIFFGetFieldDefaulted(tiff, TIFFTAG_SUBFILETYPE, &kind);
    if ((kind & (FILETYPE_REDUCEDIMAGE | FILETYPE_MASK)) == 0) return true;
  }
  return false;
}

}  // namespace

ImageHeader tiff_header(std::string_view file) {
  Memory bytes{.bytes = file};
  const File tiff = open(bytes);
  return tiff == nullptr ? ImageHeader() : header_of(layout_of(tiff.get()));
}

DecodingMemory tiff_memory(std::string_view file) {
  Memory bytes{.bytes = file};
  const File tiff = open(bytes);
  if (tiff == nullptr) return {};
  const Layout layout = layout_of(tiff.get());
  const auto pixels = std::size_t{layout.height} * layout.width;
  const std::size_t channels = layout.grey() ? 1 : 3;
  // A strip or tile as it is read, and as the library unpacks it; of planes each has one.
  const std::size_t blocks = layout.planar == PLANARCONFIG_CONTIG ? 2 : 1 + layout.samples;
  const std::size_t block = std::min(block_bytes(tiff.get()), kMostBlock);
  const std::size_t of_pixel = !layout.plain() ? 4 : layout.bits == 16 ? 2 * channels : 0;
  return {.image = channels * pixels,
          .sides = std::size_t{layout.height} + layout.width,
          .scratch = blocks * block + of_pixel * pixels};
}

int tiff_orientation(std::string_view file) {
  Memory bytes{.bytes = file};
  const File tiff = open(bytes);
  return tiff == nullptr ? 1 : layout_of(tiff.get()).orientation;
}

Image decode_tiff(std::string_view bytes, const std::filesystem::path& path, std::int64_t white) {
  Memory file{.bytes = bytes};
  const File tiff = open(file);
  require<DataError>(tiff != nullptr, "'{}' is a damaged TIFF: its first directory is damaged",
                     path.string());
  const Layout layout = layout_of(tiff.get());
  const bool whole_numbers =
      layout.format == SAMPLEFORMAT_UINT || layout.format == SAMPLEFORMAT_VOID;
  require<DataError>(layout.bits <= 16 && whole_numbers,
                     "'{}' is a TIFF of {} bits a sample{}; expected whole numbers of at most 16 "
                     "bits: convert it to 16 bits",
                     path.string(), layout.bits,
                     layout.format == SAMPLEFORMAT_IEEEFP ? ", floating-point" : "");
  const ImageHeader header = header_of(layout);
  Image image = blank_image(header.height, header.width, header.channels, path);
  const bool read = layout.plain() ? read_plain(tiff.get(), layout, white, image)
                                   : read_converted(tiff.get(), image);
  require<DataError>(read, "'{}' is a damaged TIFF, or one of a kind that libtiff does not read",
                     path.string());
  require<DataError>(!has_more_images(tiff.get()),
                     "'{}' is a TIFF of several images; expected one, in a file of its own",
                     path.string());
  return image;
}

}  // namespace linnet
