// SPDX-License-Identifier: Apache-2.0
// What builds for browsers and for Windows (cmake/LinnetCross.cmake) have instead of the libraries
// of images, of .xz files and of checksums: sentences. A page gives the pixels of its images as
// arrays.
#include "base/build_name.h"
#include "base/check.h"
#include "formats/checksum.h"
#include "formats/image_formats.h"
#include "formats/xz.h"

namespace linnet {
namespace {

[[noreturn]] void fail_without(std::string_view what, const std::filesystem::path& path) {
  fail("cannot read '{}': {} builds of Linnet read no {}", path.string(), kBuildName, what);
}

}  // namespace

Image decode_png(std::string_view, const std::filesystem::path& path, std::int64_t) {
  fail_without("PNG images", path);
}

std::string encode_png(const Image&) {
  fail("{} builds of Linnet write no PNG images", kBuildName);
}

Image decode_jpeg(std::string_view, const std::filesystem::path& path) {
  fail_without("JPEG images", path);
}

Image decode_webp(std::string_view, const std::filesystem::path& path) {
  fail_without("WebP images", path);
}

Image decode_tiff(std::string_view, const std::filesystem::path& path, std::int64_t) {
  fail_without("TIFF images", path);
}

ImageHeader webp_header(std::string_view) { return {}; }
ImageHeader tiff_header(std::string_view) { return {}; }
DecodingMemory jpeg_memory(std::string_view) { return {}; }
DecodingMemory webp_memory(std::string_view) { return {}; }
DecodingMemory tiff_memory(std::string_view) { return {}; }
int tiff_orientation(std::string_view) { return 1; }

bool is_xz(std::string_view bytes) {
  return bytes.starts_with(
      "\xFD"
      "7zXZ");
}

void unxz(std::string_view, const std::filesystem::path& path, std::size_t, const TakePiece&) {
  fail_without(".xz files", path);
}

std::string unxz(std::string_view, const std::filesystem::path& path, std::size_t) {
  fail_without(".xz files", path);
}

std::string sha256(std::string_view) { fail("{} builds of Linnet have no checksums", kBuildName); }

}  // namespace linnet
