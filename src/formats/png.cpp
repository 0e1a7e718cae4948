// SPDX-License-Identifier: Apache-2.0
#include <png.h>

#include <bit>
#include <csetjmp>
#include <cstdio>
#include <cstring>
#include <vector>

#include "base/check.h"
#include "formats/image_formats.h"

namespace linnet {
namespace {

constexpr std::size_t kMessage = 128;

/// libpng leaves by longjmp on an error. Each function below that calls it sets its own target and
/// holds nothing with a destructor, so that no such jump passes one by.
struct Reader {
  png_structp png = nullptr;
  png_infop info = nullptr;
  const char* next = nullptr;
  std::size_t left = 0;
  char message[kMessage] = "out of memory";

  Reader() = default;
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;
  ~Reader() { png_destroy_read_struct(&png, &info, nullptr); }
};

void on_error(png_structp png, png_const_charp text) {
  auto* reader = static_cast<Reader*>(png_get_error_ptr(png));
  std::snprintf(reader->message, kMessage, "%s", text);
  png_longjmp(png, 1);
}

void on_warning(png_structp, png_const_charp) {}

void on_read(png_structp png, png_bytep to, std::size_t size) {
  auto* reader = static_cast<Reader*>(png_get_io_ptr(png));
  if (size > reader->left) png_error(png, "read beyond end of data");
  std::memcpy(to, reader->next, size);
  reader->next += size;
  reader->left -= size;
}

/// Samples come as the file has them, in 8 or 16 bits: gamma, profiles and transparency change
/// nothing.
bool read_header(Reader* reader, const char* bytes, std::size_t size) {
  reader->next = bytes;
  reader->left = size;
  reader->png = png_create_read_struct(PNG_LIBPNG_VER_STRING, reader, on_error, on_warning);
  if (reader->png == nullptr) return false;
  reader->info = png_create_info_struct(reader->png);
  if (reader->info == nullptr) return false;
  if (setjmp(png_jmpbuf(reader->png)) != 0) return false;
  png_set_read_fn(reader->png, reader, on_read);
  png_set_benign_errors(reader->png, 1);
  // -1: every chunk but those that hold the samples.
  png_set_keep_unknown_chunks(reader->png, PNG_HANDLE_CHUNK_NEVER, nullptr, -1);
  png_read_info(reader->png, reader->info);
  png_set_palette_to_rgb(reader->png);
  png_set_expand_gray_1_2_4_to_8(reader->png);
  if constexpr (std::endian::native == std::endian::little) png_set_swap(reader->png);
  png_set_strip_alpha(reader->png);
  png_set_interlace_handling(reader->png);
  png_read_update_info(reader->png, reader->info);
  return true;
}

bool read_pixels(Reader* reader, unsigned char* pixels, std::size_t height, std::size_t row_bytes) {
  if (setjmp(png_jmpbuf(reader->png)) != 0) return false;
  const int passes =
      png_get_interlace_type(reader->png, reader->info) == PNG_INTERLACE_NONE ? 1 : 7;
  for (int pass = 0; pass < passes; ++pass) {
    for (std::size_t y = 0; y < height; ++y) {
      png_read_row(reader->png, pixels + y * row_bytes, nullptr);
    }
  }
  return true;
}

/// libpng's simplified interface: it reports errors by value. It knows no samples without gamma, so
/// it only writes here.
class PngImage {
 public:
  PngImage() { image_.version = PNG_IMAGE_VERSION; }
  PngImage(const PngImage&) = delete;
  PngImage& operator=(const PngImage&) = delete;
  ~PngImage() { png_image_free(&image_); }
  png_image* get() { return &image_; }
  png_image* operator->() { return &image_; }

 private:
  png_image image_{};
};

}  // namespace

Image decode_png(std::string_view bytes, const std::filesystem::path& path, std::int64_t white) {
  Reader reader;
  require<DataError>(read_header(&reader, bytes.data(), bytes.size()), "'{}' is a damaged PNG: {}",
                     path.string(), reader.message);
  const std::int64_t channels = png_get_channels(reader.png, reader.info);
  LINNET_ASSERT(channels == 1 || channels == 3);
  Image image = blank_image(png_get_image_height(reader.png, reader.info),
                            png_get_image_width(reader.png, reader.info), channels, path);
  const bool wide = png_get_bit_depth(reader.png, reader.info) == 16;
  const auto row_bytes = static_cast<std::size_t>(image.width * channels * (wide ? 2 : 1));
  LINNET_ASSERT(png_get_rowbytes(reader.png, reader.info) == row_bytes);
  std::vector<std::uint16_t> samples(wide ? image.pixels.size() : 0);
  auto* to = wide ? reinterpret_cast<unsigned char*>(samples.data()) : image.pixels.data();
  require<DataError>(read_pixels(&reader, to, static_cast<std::size_t>(image.height), row_bytes),
                     "'{}' is a damaged PNG: {}", path.string(), reader.message);
  if (wide) put_samples(samples, white, image);
  return image;
}

std::string encode_png(const Image& image) {
  require(image.channels == 1 || image.channels == 3, "a PNG has 1 or 3 channels; got {}",
          image.channels);
  require(image.height > 0 && image.width > 0 && image.height <= PNG_UINT_31_MAX / image.width &&
              static_cast<std::int64_t>(image.pixels.size()) ==
                  image.height * image.width * image.channels,
          "expected {} x {} x {} bytes for an image; got {}", image.height, image.width,
          image.channels, image.pixels.size());
  PngImage png;
  png->height = static_cast<png_uint_32>(image.height);
  png->width = static_cast<png_uint_32>(image.width);
  png->format = image.channels == 3 ? PNG_FORMAT_RGB : PNG_FORMAT_GRAY;
  std::string result(PNG_IMAGE_PNG_SIZE_MAX(*png.get()), '\0');
  png_alloc_size_t size = result.size();
  require(png_image_write_to_memory(png.get(), result.data(), &size, 0, image.pixels.data(), 0,
                                    nullptr) != 0,
          "cannot write a PNG of {} x {}: {}", image.height, image.width, png->message);
  result.resize(size);
  return result;
}

}  // namespace linnet
