// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cstddef>
#include <string>

#include "base/check.h"
#include "formats/image_formats.h"

namespace linnet {
namespace {

constexpr std::uint32_t kSignature = 'B' | 'M' << 8;
constexpr std::size_t kFileHeader = 14;
constexpr std::size_t kInfoHeader = 40;
constexpr std::int64_t kMostPixels = std::int64_t{1} << 28;  // its sizes are 32 bits
constexpr std::uint32_t kUncompressed = 0;
constexpr std::uint32_t kBitFields = 3;

/// Little-endian numbers of a file, each checked against its end.
class Bytes {
 public:
  Bytes(std::string_view bytes, const std::filesystem::path& path) : bytes_(bytes), path_(path) {}

  const std::uint8_t* at(std::size_t offset, std::size_t count) const {
    require<DataError>(offset <= bytes_.size() && count <= bytes_.size() - offset,
                       "'{}' is a damaged BMP: {} bytes at {} lie beyond its end at {}",
                       path_.string(), count, offset, bytes_.size());
    return reinterpret_cast<const std::uint8_t*>(bytes_.data()) + offset;
  }
  std::uint32_t u16(std::size_t offset) const {
    const std::uint8_t* b = at(offset, 2);
    return b[0] | static_cast<std::uint32_t>(b[1]) << 8;
  }
  std::uint32_t u32(std::size_t offset) const { return u16(offset) | u16(offset + 2) << 16; }

 private:
  std::string_view bytes_;
  const std::filesystem::path& path_;
};

/// Holds what the two headers say of the pixels.
struct Layout {
  std::size_t offset;  // of the pixels in the file
  std::size_t bits;    // a pixel
  std::int64_t width, height;
  bool top_down;
  bool wide_green;  // 16 bits are 5, 6, 5 of red, green, blue; else 5 of each

  // Rows are padded to four bytes. A negative width has no meaning and blank_image() refuses it.
  std::size_t stride() const {
    return width > 0 ? (static_cast<std::size_t>(width) * bits + 31) / 32 * 4 : 0;
  }
};

/// Bit fields name the order of bits in a pixel: many programs write the usual one so.
bool fields_are(const Bytes& file, std::uint32_t red, std::uint32_t green, std::uint32_t blue) {
  return file.u32(54) == red && file.u32(58) == green && file.u32(62) == blue;
}

Layout read_layout(const Bytes& file, const std::filesystem::path& path) {
  require<DataError>(file.u16(0) == kSignature, "'{}' is not a BMP: it does not begin with 'BM'",
                     path.string());
  const std::size_t header = file.u32(14);
  require<DataError>(header >= kInfoHeader && header <= 124,
                     "'{}' is a BMP with a header of {} bytes; expected 40 to 124", path.string(),
                     header);
  const auto width = static_cast<std::int32_t>(file.u32(18));
  const auto signed_height = static_cast<std::int32_t>(file.u32(22));
  const std::uint32_t bits = file.u16(28);
  const std::uint32_t compression = file.u32(30);
  require<DataError>(bits == 1 || bits == 4 || bits == 8 || bits == 16 || bits == 24 || bits == 32,
                     "'{}' is a BMP of {} bits a pixel; expected 1, 4, 8, 16, 24 or 32",
                     path.string(), bits);
  const bool fields = compression == kBitFields;
  const bool wide_green = fields && bits == 16 && fields_are(file, 0xF800U, 0x7E0U, 0x1FU);
  const bool usual =
      fields && ((bits == 32 && fields_are(file, 0xFF0000U, 0xFF00U, 0xFFU)) ||
                 (bits == 16 && (wide_green || fields_are(file, 0x7C00U, 0x3E0U, 0x1FU))));
  require<DataError>(compression == kUncompressed || usual,
                     "'{}' is a BMP of compression {}; expected an uncompressed one", path.string(),
                     compression);
  const std::int64_t height = signed_height;
  return {.offset = file.u32(10),
          .bits = bits,
          .width = width,
          .height = height < 0 ? -height : height,
          .top_down = height < 0,
          .wide_green = wide_green};
}

struct Palette {
  std::array<std::array<std::uint8_t, 3>, 256> colours{};  // red, green, blue
  std::size_t count = 0;
  bool grey = true;
};

Palette read_palette(const Bytes& file, std::size_t bits, const std::filesystem::path& path) {
  const std::uint32_t claimed = file.u32(46);
  Palette palette;
  palette.count = claimed == 0 ? std::size_t{1} << bits : claimed;
  require<DataError>(palette.count <= 256, "'{}' is a damaged BMP: its palette has {} colours",
                     path.string(), palette.count);
  const std::uint8_t* bytes = file.at(kFileHeader + file.u32(14), palette.count * 4);
  for (std::size_t i = 0; i < palette.count; ++i, bytes += 4) {
    palette.colours[i] = {bytes[2], bytes[1], bytes[0]};
    palette.grey = palette.grey && bytes[0] == bytes[1] && bytes[1] == bytes[2];
  }
  return palette;
}

/// A pixel of less than a byte stands in its highest free bits.
std::size_t index_at(const std::uint8_t* row, std::size_t x, std::size_t bits) {
  const std::size_t at = x * bits;
  return row[at / 8] >> (8 - bits - at % 8) & ((1U << bits) - 1);
}

/// `level` of `most` as one of 255, rounded down as Pillow does.
std::uint8_t of_255(unsigned level, unsigned most) {
  return static_cast<std::uint8_t>(level * 255 / most);
}

void read_colours(const std::uint8_t* in, const Layout& layout, std::uint8_t* out) {
  const std::size_t step = layout.bits / 8;
  for (std::int64_t x = 0; x < layout.width; ++x, in += step, out += 3) {
    if (layout.bits == 16) {
      const unsigned pixel = in[0] | static_cast<unsigned>(in[1]) << 8;
      const unsigned above = pixel >> 5;
      out[0] = of_255(layout.wide_green ? above >> 6 & 31 : above >> 5 & 31, 31);
      out[1] = layout.wide_green ? of_255(above & 63, 63) : of_255(above & 31, 31);
      out[2] = of_255(pixel & 31, 31);
    } else {
      out[0] = in[2], out[1] = in[1], out[2] = in[0];
    }
  }
}

}  // namespace

Image decode_bmp(std::string_view content, const std::filesystem::path& path) {
  const Bytes file(content, path);
  const Layout layout = read_layout(file, path);
  const bool indexed = layout.bits <= 8;
  const Palette palette = indexed ? read_palette(file, layout.bits, path) : Palette{};
  const std::size_t channels = indexed && palette.grey ? 1 : 3;
  const std::size_t stride = layout.stride();
  file.at(layout.offset, stride * static_cast<std::size_t>(layout.height));
  Image image = blank_image(layout.height, layout.width, static_cast<std::int64_t>(channels), path);
  std::uint8_t* out = image.pixels.data();
  const auto width = static_cast<std::size_t>(layout.width);
  for (std::int64_t y = 0; y < layout.height; ++y, out += width * channels) {
    const auto row = static_cast<std::size_t>(layout.top_down ? y : layout.height - 1 - y);
    const std::uint8_t* in = file.at(layout.offset + row * stride, stride);
    if (!indexed) {
      read_colours(in, layout, out);
      continue;
    }
    for (std::size_t x = 0; x < width; ++x) {
      const std::size_t index = index_at(in, x, layout.bits);
      require<DataError>(index < palette.count,
                         "'{}' is a damaged BMP: colour {} of a palette of {}", path.string(),
                         index, palette.count);
      for (std::size_t c = 0; c < channels; ++c) out[x * channels + c] = palette.colours[index][c];
    }
  }
  return image;
}

std::string encode_bmp(const Image& image) {
  require(image.channels == 1 || image.channels == 3, "a BMP has 1 or 3 channels; got {}",
          image.channels);
  require(image.height > 0 && image.width > 0 && image.height <= kMostPixels / image.width &&
              static_cast<std::int64_t>(image.pixels.size()) ==
                  image.height * image.width * image.channels,
          "expected {} x {} x {} bytes for an image; got {}", image.height, image.width,
          image.channels, image.pixels.size());
  const auto channels = static_cast<std::size_t>(image.channels);
  const std::size_t row = static_cast<std::size_t>(image.width) * channels;
  const std::size_t stride = (row + 3) / 4 * 4;
  const std::size_t colours = channels == 1 ? 256 : 0;
  const std::size_t offset = kFileHeader + kInfoHeader + colours * 4;
  const std::size_t pixel_bytes = stride * static_cast<std::size_t>(image.height);
  std::string out = "BM";
  const auto put = [&out](std::size_t value, int bytes) {
    for (int i = 0; i < bytes; ++i) out += static_cast<char>(value >> 8 * i & 0xFF);
  };
  put(offset + pixel_bytes, 4), put(0, 4), put(offset, 4);
  put(kInfoHeader, 4), put(static_cast<std::size_t>(image.width), 4);
  put(static_cast<std::size_t>(image.height), 4), put(1, 2), put(8 * channels, 2);
  put(kUncompressed, 4), put(pixel_bytes, 4), put(0, 4), put(0, 4), put(colours, 4), put(0, 4);
  for (std::size_t c = 0; c < colours; ++c) put(c | c << 8 | c << 16, 4);
  for (std::int64_t y = image.height - 1; y >= 0; --y) {  // rows go upwards
    const std::uint8_t* in = image.pixels.data() + static_cast<std::size_t>(y) * row;
    for (std::size_t x = 0; x < row; x += channels) {
      for (std::size_t c = channels; c-- > 0;) out += static_cast<char>(in[x + c]);  // blue first
    }
    out.append(stride - row, '\0');
  }
  return out;
}

}  // namespace linnet
