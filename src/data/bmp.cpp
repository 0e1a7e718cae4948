// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cstddef>
#include <string>

#include "base/check.h"
#include "data/image_formats.h"

namespace linnet {
namespace {

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
    require(offset <= bytes_.size() && count <= bytes_.size() - offset,
            "'{}' is a damaged BMP: {} bytes at {} lie behind its end at {}", path_.string(), count,
            offset, bytes_.size());
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

struct Palette {
  std::array<std::array<std::uint8_t, 3>, 256> colours{};  // red, green, blue
  std::size_t count = 0;
  bool grey = true;
};

Palette read_palette(const Bytes& file, std::size_t offset, std::uint32_t claimed,
                     const std::filesystem::path& path) {
  Palette palette;
  palette.count = claimed == 0 ? 256 : claimed;
  require(palette.count <= 256, "'{}' is a damaged BMP: its palette claims {} colours",
          path.string(), palette.count);
  const std::uint8_t* bytes = file.at(offset, palette.count * 4);
  for (std::size_t i = 0; i < palette.count; ++i, bytes += 4) {
    palette.colours[i] = {bytes[2], bytes[1], bytes[0]};
    palette.grey = palette.grey && bytes[0] == bytes[1] && bytes[1] == bytes[2];
  }
  return palette;
}

}  // namespace

Image decode_bmp(std::string_view content, const std::filesystem::path& path) {
  const Bytes file(content, path);
  const std::size_t pixel_offset = file.u32(10);
  const std::size_t header = file.u32(14);
  require(header >= kInfoHeader && header <= 124,
          "'{}' is a BMP with a header of {} bytes; expected 40 to 124", path.string(), header);
  const auto width = static_cast<std::int32_t>(file.u32(18));
  const auto signed_height = static_cast<std::int32_t>(file.u32(22));
  const std::uint32_t bits = file.u16(28);
  const std::uint32_t compression = file.u32(30);
  require(bits == 8 || bits == 24 || bits == 32,
          "'{}' is a BMP of {} bits a pixel; 8, 24 and 32 are read", path.string(), bits);
  // Many programs write 32 bits as bit fields that name the usual order of bytes.
  const bool usual_fields = compression == kBitFields && bits == 32 && file.u32(54) == 0xFF0000U &&
                            file.u32(58) == 0xFF00U && file.u32(62) == 0xFFU;
  require(compression == kUncompressed || usual_fields,
          "'{}' is a BMP of compression {}; only uncompressed ones are read", path.string(),
          compression);

  Palette palette;
  if (bits == 8) palette = read_palette(file, kFileHeader + header, file.u32(46), path);
  const std::size_t channels = bits == 8 && palette.grey ? 1 : 3;
  const bool top_down = signed_height < 0;
  const std::int64_t height = top_down ? -static_cast<std::int64_t>(signed_height) : signed_height;
  const std::size_t bytes_a_pixel = bits / 8;
  // Rows are padded to four bytes. A negative width has no meaning and blank_image() refuses it.
  const std::size_t stride =
      width > 0 ? (static_cast<std::size_t>(width) * bytes_a_pixel + 3) / 4 * 4 : 0;
  file.at(pixel_offset, stride * static_cast<std::size_t>(height));
  Image image = blank_image(height, width, static_cast<std::int64_t>(channels), path);
  std::uint8_t* out = image.pixels.data();
  for (std::int64_t y = 0; y < height; ++y) {
    const auto row = static_cast<std::size_t>(top_down ? y : height - 1 - y);
    const std::uint8_t* in = file.at(pixel_offset + row * stride, stride);
    for (std::int64_t x = 0; x < width; ++x, in += bytes_a_pixel, out += channels) {
      if (bits != 8) {
        out[0] = in[2], out[1] = in[1], out[2] = in[0];
        continue;
      }
      require(in[0] < palette.count, "'{}' is a damaged BMP: colour {} of a palette of {}",
              path.string(), in[0], palette.count);
      for (std::size_t c = 0; c < channels; ++c) out[c] = palette.colours[in[0]][c];
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
          "an image of {} x {} x {} needs as many bytes; got {}", image.height, image.width,
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
