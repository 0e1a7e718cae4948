// SPDX-License-Identifier: Apache-2.0
// Progressive JPEGs: many scans are a few bytes each, and each goes over the whole image.
#include "data/image_files.h"

namespace linnet::test {
namespace {

/// A grey image in `scans` scans: one for the means, two for each further coefficient.
std::string progressive(int scans) {
  std::vector<jpeg_scan_info> script{{1, {0}, 0, 0, 0, 0}};
  for (int i = 1; std::ssize(script) < scans && i < 64; ++i) {
    script.push_back({1, {0}, i, i, 0, 1});
    if (std::ssize(script) < scans) script.push_back({1, {0}, i, i, 1, 0});
  }
  jpeg_compress_struct info{};
  jpeg_error_mgr errors{};
  info.err = jpeg_std_error(&errors);
  jpeg_create_compress(&info);
  unsigned char* buffer = nullptr;
  unsigned long size = 0;
  jpeg_mem_dest(&info, &buffer, &size);
  info.image_height = 24;
  info.image_width = 24;
  info.input_components = 1;
  info.in_color_space = JCS_GRAYSCALE;
  jpeg_set_defaults(&info);
  info.scan_info = script.data();
  info.num_scans = static_cast<int>(script.size());
  jpeg_start_compress(&info, TRUE);
  for (int y = 0; y < 24; ++y) {
    std::vector<unsigned char> pixels(24);
    for (int x = 0; x < 24; ++x) {
      pixels[static_cast<std::size_t>(x)] = static_cast<unsigned char>(x * y * 7);
    }
    JSAMPROW row = pixels.data();
    jpeg_write_scanlines(&info, &row, 1);
  }
  jpeg_finish_compress(&info);
  jpeg_destroy_compress(&info);
  std::string file(reinterpret_cast<char*>(buffer), size);
  std::free(buffer);
  return file;
}

TEST(Scans, AHundredAreRead) {
  for (const int scans : {1, 10, 100}) {
    EXPECT_EQ(decode_image(progressive(scans), "x.jpg").pixels.size(), 24U * 24U) << scans;
  }
}

TEST(Scans, MoreAreRefused) {
  for (const int scans : {101, 127}) {
    EXPECT_EQ(error_of([&] { decode_image(progressive(scans), "x.jpg"); }),
              "'x.jpg' is a damaged JPEG: it has more than 100 scans")
        << scans;
  }
}

}  // namespace
}  // namespace linnet::test
