// SPDX-License-Identifier: Apache-2.0
#include <csetjmp>
#include <cstddef>
#include <cstdio>

#include <jpeglib.h>

#include <jerror.h>

#include "base/check.h"
#include "formats/image_formats.h"

namespace linnet {
namespace {

/// Photographs have about ten. Each scan goes over the whole image, and a few bytes are one.
constexpr int kMostScans = 100;

/// libjpeg leaves by longjmp on an error. Each function below that calls it sets its own target and
/// holds nothing with a destructor, so that no such jump passes one by.
struct Reader {
  jpeg_decompress_struct info{};
  jpeg_error_mgr errors{};
  jpeg_progress_mgr progress{};
  std::jmp_buf target{};
  char message[JMSG_LENGTH_MAX] = {};
  bool damaged = false;

  Reader() = default;
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;
  ~Reader() { jpeg_destroy_decompress(&info); }
};

void on_error(j_common_ptr info) {
  auto* reader = static_cast<Reader*>(info->client_data);
  info->err->format_message(info, reader->message);
  std::longjmp(reader->target, 1);
}

/// libjpeg fills what is missing with grey and only warns; for training that is a damaged file.
void on_message(j_common_ptr info, int level) {
  auto* reader = static_cast<Reader*>(info->client_data);
  if (level >= 0 || reader->damaged) return;
  switch (info->err->msg_code) {
    case JWRN_HIT_MARKER:
    case JWRN_HUFF_BAD_CODE:
    case JWRN_JPEG_EOF:
    case JWRN_MUST_RESYNC:
      reader->damaged = true;
      info->err->format_message(info, reader->message);
      break;
    default: break;  // odd but complete, e.g. bytes of a camera's between two markers
  }
}

void on_output(j_common_ptr) {}

/// Called for each row of blocks of each scan: what libjpeg-turbo's manual advises against files
/// that take for ever.
void on_progress(j_common_ptr info) {
  auto* reader = static_cast<Reader*>(info->client_data);
  if (reader->info.input_scan_number <= kMostScans) return;
  std::snprintf(reader->message, sizeof(reader->message), "it has more than %d scans", kMostScans);
  std::longjmp(reader->target, 1);
}

bool read_header(Reader* reader, const unsigned char* bytes, std::size_t size) {
  reader->info.err = jpeg_std_error(&reader->errors);
  reader->errors.error_exit = on_error;
  reader->errors.emit_message = on_message;
  reader->errors.output_message = on_output;
  reader->info.client_data = reader;
  if (setjmp(reader->target) != 0) return false;
  jpeg_create_decompress(&reader->info);
  reader->progress.progress_monitor = on_progress;
  reader->info.progress = &reader->progress;
  jpeg_mem_src(&reader->info, bytes, size);
  jpeg_read_header(&reader->info, TRUE);
  return true;
}

/// Cyan, magenta, yellow and black of `width` pixels as red, green and blue, by Pillow's formula.
/// As there, the file is taken to say how much of an ink is not there: Adobe's programs write it
/// so.
void to_colours(const unsigned char* ink, std::size_t width, unsigned char* out) {
  for (std::size_t x = 0; x < width; ++x, ink += 4, out += 3) {
    const unsigned light = ink[3];
    for (int c = 0; c < 3; ++c) {
      const unsigned product = (255U - ink[c]) * light + 128;
      out[c] = static_cast<unsigned char>(light - ((product >> 8) + product) / 256);
    }
  }
}

/// Rows of `row_bytes` one after the other; rows of ink come by way of `ink`, which holds one.
bool read_pixels(Reader* reader, unsigned char* pixels, std::size_t row_bytes, unsigned char* ink) {
  if (setjmp(reader->target) != 0) return false;
  jpeg_start_decompress(&reader->info);
  while (reader->info.output_scanline < reader->info.output_height) {
    unsigned char* out = pixels + reader->info.output_scanline * row_bytes;
    JSAMPROW row = ink != nullptr ? ink : out;
    jpeg_read_scanlines(&reader->info, &row, 1);
    if (ink != nullptr) to_colours(ink, row_bytes / 3, out);
  }
  jpeg_finish_decompress(&reader->info);
  return !reader->damaged;
}

}  // namespace

DecodingMemory jpeg_memory(std::string_view file) {
  Reader reader;
  const auto* bytes = reinterpret_cast<const unsigned char*>(file.data());
  if (!read_header(&reader, bytes, file.size())) return {};
  jpeg_decompress_struct& info = reader.info;
  const auto pixels = std::size_t{info.image_height} * info.image_width;
  DecodingMemory memory{.image = (info.num_components == 1 ? 1 : 3) * pixels,
                        .sides = std::size_t{info.image_height} + info.image_width};
  if (jpeg_has_multiple_scans(&info) == FALSE) return memory;
  for (int i = 0; i < info.num_components; ++i) {  // all coefficients, in blocks of 64
    const jpeg_component_info& of = info.comp_info[i];
    memory.scratch += std::size_t{of.width_in_blocks + static_cast<unsigned>(of.h_samp_factor)} *
                      (of.height_in_blocks + static_cast<unsigned>(of.v_samp_factor)) *
                      sizeof(JBLOCK);
  }
  return memory;
}

Image decode_jpeg(std::string_view bytes, const std::filesystem::path& path) {
  Reader reader;
  require<DataError>(read_header(&reader, reinterpret_cast<const unsigned char*>(bytes.data()),
                                 bytes.size()),
                     "'{}' is a damaged JPEG: {}", path.string(), reader.message);
  jpeg_decompress_struct& info = reader.info;
  const int components = info.num_components;
  require<DataError>(
      components == 1 || components == 3 || components == 4,
      "'{}' is a JPEG of {} colour components; expected 1 (grey), 3 (colour) or 4 (CMYK)",
      path.string(), components);
  info.out_color_space = components == 1 ? JCS_GRAYSCALE : components == 3 ? JCS_RGB : JCS_CMYK;
  info.dct_method = JDCT_ISLOW;
  Image image = blank_image(info.image_height, info.image_width, components == 1 ? 1 : 3, path);
  const auto row_bytes = static_cast<std::size_t>(image.width * image.channels);
  std::vector<unsigned char> ink(components == 4 ? row_bytes / 3 * 4 : 0);
  require<DataError>(read_pixels(&reader, image.pixels.data(), row_bytes,
                                 ink.empty() ? nullptr : ink.data()),
                     "'{}' is a damaged JPEG: {}", path.string(), reader.message);
  return image;
}

}  // namespace linnet
