// SPDX-License-Identifier: Apache-2.0
#include <png.h>

#include "base/check.h"
#include "data/image_formats.h"

namespace linnet {
namespace {

/// libpng's simplified interface: it reports errors by value, so that no longjmp crosses C++ code.
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

Image decode_png(std::string_view bytes, const std::filesystem::path& path) {
  PngImage png;
  require(png_image_begin_read_from_memory(png.get(), bytes.data(), bytes.size()) != 0,
          "'{}' is a damaged PNG: {}", path.string(), png->message);
  // Without this flag libpng takes 16-bit samples for linear light and brightens them.
  png->flags |= PNG_IMAGE_FLAG_16BIT_sRGB;
  const std::size_t channels = (png->format & PNG_FORMAT_FLAG_COLOR) != 0 ? 3 : 1;
  const bool alpha = (png->format & PNG_FORMAT_FLAG_ALPHA) != 0;
  Image image = blank_image(png->height, png->width, static_cast<std::int64_t>(channels), path);
  png->format = channels == 3 ? (alpha ? PNG_FORMAT_RGBA : PNG_FORMAT_RGB)
                              : (alpha ? PNG_FORMAT_GA : PNG_FORMAT_GRAY);
  // Alpha is read and dropped here; left to libpng it would blend with a background.
  std::vector<std::uint8_t> with_alpha;
  std::uint8_t* target = image.pixels.data();
  if (alpha) {
    with_alpha.resize(PNG_IMAGE_SIZE(*png.get()));
    target = with_alpha.data();
  }
  require(png_image_finish_read(png.get(), nullptr, target, 0, nullptr) != 0,
          "'{}' is a damaged PNG: {}", path.string(), png->message);
  for (std::size_t i = 0, from = 0; alpha && i < image.pixels.size(); ++from) {
    for (std::size_t c = 0; c < channels; ++c) image.pixels[i++] = with_alpha[from++];
  }
  return image;
}

std::string encode_png(const Image& image) {
  require(image.channels == 1 || image.channels == 3, "a PNG has 1 or 3 channels; got {}",
          image.channels);
  require(image.height > 0 && image.width > 0 && image.height <= PNG_UINT_31_MAX / image.width &&
              static_cast<std::int64_t>(image.pixels.size()) ==
                  image.height * image.width * image.channels,
          "an image of {} x {} x {} needs as many bytes; got {}", image.height, image.width,
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
